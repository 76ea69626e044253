import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.split import SummaryJob, job_key, split_rows
from wikisum.models.decoding.summarize import load_run, summaries
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.shards import split_shards

CPU = torch.device("cpu")


@pytest.mark.slow
def test_rows_from_a_row_group_on_are_those_of_the_whole(runs, topics, tmp_path):
    loaded = load_run(runs / "ht", "best", CPU)
    settings = loaded.chosen.settings
    path = tmp_path / "test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(topics / "examples" / path.name), path, row_group_size=23)
    reader = SplitReader(split_shards(str(tmp_path), "test"), settings.model, settings.source)
    job = SummaryJob(reader, DecodingSettings(beam=1, max_tokens=8), 1_000)
    whole = list(split_rows(loaded, job))
    assert [g.rows for g in reader.groups] == [23, 23, 14]
    assert list(split_rows(loaded, job, 1)) == whole[23:]
    assert list(split_rows(loaded, job, 3)) == []


@pytest.mark.slow
def test_batches_do_not_change_summaries(runs, make_job):
    loaded = load_run(runs / "ht", "best", CPU)
    job = make_job(loaded, beam=3)
    alone = list(split_rows(loaded, job._replace(batch_tokens=1)))
    together = list(split_rows(loaded, job._replace(batch_tokens=5_000)))
    assert [row.summary for row in alone] == [row.summary for row in together]


@pytest.mark.slow
def test_examples_are_drawn_by_their_number(runs, make_job):
    loaded = load_run(runs / "ht", "best", CPU)
    job = make_job(loaded, sample=True)._replace(batch_tokens=1)
    rows = list(split_rows(loaded, job))
    assert list(split_rows(loaded, job)) == rows
    (result,) = summaries(loaded, job.reader.batch(np.array([3])), job.decoding)
    assert rows[3].log_prob == result.hypothesis.log_probability


def test_the_key_changes_with_what_decides_the_rows(runs, make_job, topics, tmp_path):
    loaded = load_run(runs / "ht", "best", CPU)
    jobs = [make_job(loaded, beam=beam) for beam in (1, 2)]
    keys = {job_key(loaded, job) for job in jobs}
    keys.add(job_key(load_run(runs / "ht", "2", CPU), jobs[0]))
    keys.add(job_key(load_run(runs / "ht", "best", CPU, "bf16"), jobs[0]))
    longer = dataclasses.replace(jobs[0].reader.source, source_tokens=3_000)
    reader = SplitReader(split_shards(str(topics), "test"), jobs[0].reader.model, longer)
    keys.add(job_key(loaded, jobs[0]._replace(reader=reader)))
    assert len(keys) == 5


def test_the_key_changes_with_the_shards(runs, topics, tmp_path):
    loaded = load_run(runs / "ht", "best", CPU)
    settings = loaded.chosen.settings
    path = tmp_path / "test-00000-of-00001.parquet"
    keys = set()
    for compression in ("zstd", "none"):  # as if another build had as many rows
        table = pq.read_table(topics / "examples" / path.name)
        pq.write_table(table, path, compression=compression)
        reader = SplitReader(split_shards(str(tmp_path), "test"), settings.model, settings.source)
        keys.add(job_key(loaded, SummaryJob(reader, DecodingSettings(), 1_000)))
    assert len(keys) == 2
