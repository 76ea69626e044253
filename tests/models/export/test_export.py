import pytest

from wikisum.models.export.export import FORMATS, export
from wikisum.pipeline.cli import SECTIONS, main
from wikisum.pipeline.commands.exchange import imports
from wikisum.pipeline.corpora.corpus import CORPORA


@pytest.mark.slow
@pytest.mark.parametrize("to", FORMATS)
def test_an_export_is_whole_or_absent(data, tmp_path, monkeypatch, to):
    out = tmp_path / "deep" / "out"

    def fail(*_):
        raise RuntimeError("full disk")

    original = FORMATS[to]
    monkeypatch.setitem(FORMATS, to, lambda source, folder: (original(source, folder), fail()))
    with pytest.raises(RuntimeError):
        export(str(data), to, out)
    assert list(out.parent.iterdir()) == []
    (out.parent / ".out.tmp").mkdir()
    (out.parent / ".out.tmp" / "left by a killed run").touch()
    monkeypatch.setitem(FORMATS, to, original)
    export(str(data), to, out)
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert not list(out.rglob("left*"))
    with pytest.raises(FileExistsError, match="out exists: name a new folder"):
        export(str(data), to, out)


def test_a_dataset_without_ids_graphs_or_shards_is_refused(data, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pytest.raises(FileNotFoundError, match="no train shard"):
        export(str(tmp_path), "jsonl", tmp_path / "out")
    bare = tmp_path / "bare"
    (bare / "examples").mkdir(parents=True)
    (bare / "vocab").symlink_to(data / "vocab")
    shard = next((data / "examples").glob("train-*"))
    table = pq.read_table(shard)
    for name in ("similarity_graph", "discourse_graph"):
        index = table.column_names.index(name)
        table = table.set_column(index, name, pa.nulls(len(table), table.schema.field(name).type))
    pq.write_table(table, bare / "examples" / shard.name)
    with pytest.raises(ValueError, match="no graphs"):
        export(str(bare), "graphsum", tmp_path / "out")
    index = table.column_names.index("paragraph_ids")
    ids = pa.nulls(len(table), table.schema.field("paragraph_ids").type)
    pq.write_table(table.set_column(index, "paragraph_ids", ids), bare / "examples" / shard.name)
    with pytest.raises(ValueError, match="no subword ids"):
        export(str(bare), "hiersumm", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_commands_offer_every_corpus(data, tmp_path, capsys):
    assert [f"import {name}" for name in (*CORPORA, "table")] == list(imports.COMMANDS)
    assert imports.COMMANDS.keys() <= SECTIONS["other corpora and formats"].keys()
    words = ["export", str(data), "--to", "text", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("next: wikisum import multinews ")
    assert main(words) == 2
    assert capsys.readouterr().err == f"wikisum export: {tmp_path}/out exists: name a new folder\n"
