import copy
import dataclasses
import io
import json
import math
import shutil
import signal
import time
from itertools import islice

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from tests.processes import end, start, wait
from wikisum.models.data.batches import SplitReader
from wikisum.models.settings.run import changed
from wikisum.models.table import to_json
from wikisum.models.training.checkpoints import averaged, best_of, choose
from wikisum.models.training.train import Stopping, Trainer
from wikisum.pipeline.cli import main
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.training import monitor as monitor_module
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.failures import TrainingFailed
from wikisum.ranker.training.plan import Cursor
from wikisum.ranker.training.updates import updates

CPU = ProcessGroup(0, 1, torch.device("cpu"))


@pytest.fixture
def trainer(topics, run_settings, tmp_path):
    def make(run="run", settings=run_settings, **changes):
        settings = changed(settings, changes)
        readers = [
            SplitReader(split_shards(str(topics), split), settings.model, settings.source)
            for split in ("train", "validation")
        ]
        (tmp_path / run).mkdir(exist_ok=True)
        return Trainer(tmp_path / run, settings, *readers, CPU)

    return make


def curve(run):
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


def weights(trainer):
    return trainer.model.state_dict()


def assert_same_weights(one, other):
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ht", "ft", "pht", "vht"])
def test_one_batch_is_learned_by_heart(name, trainer, run_settings, small):
    shape = dataclasses.replace(small[name], vocab_size=600)
    settings = dataclasses.replace(run_settings, model=shape)
    made = trainer(settings=settings, dropout=0.0, label_smoothing=0.0, width=32)
    batch = made.train.batch(np.arange(2))
    model, optimizer = made.model.train(), torch.optim.Adam(made.model.parameters(), lr=1e-2)
    for _ in range(200):
        loss = model(batch, 0.0).total / batch.label_slot_Y.numel()
        if loss.item() < 0.02:
            return
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    pytest.fail(f"the loss is {loss.item():.3f} after 200 updates")


@pytest.mark.slow
def test_a_run_that_goes_on_ends_like_one_undisturbed(trainer, tmp_path):
    whole = trainer("whole")
    whole.fit(io.StringIO(), Stopping())
    first = trainer("parts")

    first.fit(io.StringIO(), StopAt(first, 3))
    assert first.step == 3
    second = trainer("parts")
    assert second.step == 3
    second.fit(io.StringIO(), Stopping())
    assert_same_weights(weights(second), weights(whole))
    assert curve(tmp_path / "parts") == curve(tmp_path / "whole")
    assert [line["step"] for line in curve(tmp_path / "whole") if "loss" in line] == [*range(1, 9)]


class StopAt(Stopping):
    """Asks for a stop at a step, or not at all before a step that a run goes on to."""

    def __init__(self, trainer, step):
        super().__init__()
        self.trainer, self.step = trainer, step

    def now(self, processes):
        return self.trainer.step == self.step


@pytest.mark.slow
@pytest.mark.parametrize("step", [2, 4, 5])
def test_a_stop_between_rows_of_the_log_changes_none(step, trainer, tmp_path):
    """Nor one at a step whose validation is then still to come."""
    changes = {"log_every": 3, "steps": 7}
    trainer("whole", **changes).fit(io.StringIO(), Stopping())
    first = trainer("parts", **changes)
    first.fit(io.StringIO(), StopAt(first, step))
    trainer("parts", **changes).fit(io.StringIO(), Stopping())
    assert curve(tmp_path / "parts") == curve(tmp_path / "whole")
    assert best_of(tmp_path / "parts") == best_of(tmp_path / "whole")


@pytest.mark.slow
def test_a_kill_in_a_validation_loses_nothing(trainer, tmp_path, monkeypatch):
    trainer("whole").fit(io.StringIO(), Stopping())
    first = trainer("parts")

    def die(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(first, "validate", die)
    with pytest.raises(KeyboardInterrupt):
        first.fit(io.StringIO(), Stopping())
    second = trainer("parts")
    assert second.step == 4
    second.fit(io.StringIO(), Stopping())
    assert curve(tmp_path / "parts") == curve(tmp_path / "whole")


@pytest.mark.slow
def test_a_row_of_the_log_is_the_mean_over_its_subwords(trainer, tmp_path):
    made = trainer("each")
    made.fit(io.StringIO(), Stopping())
    trainer("fours", log_every=4).fit(io.StringIO(), Stopping())
    each, fours = ([row["loss"] for row in curve(tmp_path / run) if "loss" in row]
                   for run in ("each", "fours"))  # fmt: skip
    plan = updates(made.lengths(io.StringIO()), made.settings.train, Cursor(), 0, CPU)
    targets = made.lengths(io.StringIO()).target
    tokens = [sum(targets[e].sum() for _, e in update.batches) for update in islice(plan, 8)]
    means = [np.average(each[i : i + 4], weights=tokens[i : i + 4]) for i in (0, 4)]
    assert fours == pytest.approx(means, rel=1e-6)


@pytest.mark.slow
def test_more_steps_go_on_from_the_last(trainer, tmp_path):
    trainer("parts", steps=3).fit(io.StringIO(), Stopping())
    longer = trainer("parts")
    longer.fit(io.StringIO(), Stopping())
    whole = trainer("whole")
    whole.fit(io.StringIO(), Stopping())
    assert_same_weights(weights(longer), weights(whole))
    trainer("parts", steps=2).fit(io.StringIO(), Stopping())  # is past that already


def test_progress_is_reported_in_time_not_in_steps(trainer, monkeypatch):
    monkeypatch.setattr(monitor_module, "_PLAIN_LINE_EVERY_SECONDS", 0.0)
    result = io.StringIO()
    trainer(log_every=100, steps=3, validate_every=100).fit(result, Stopping())
    lines = result.getvalue().splitlines()
    assert [line.split()[1] for line in lines] == ["1/3", "2/3", "3/3", "3"]
    assert all("tokens/s" in line and "left" in line for line in lines[:3])


def test_a_validation_that_is_no_number_ends_the_run(trainer, tmp_path, monkeypatch):
    made = trainer()
    monkeypatch.setattr(made, "validate", lambda *_: math.nan)
    with pytest.raises(TrainingFailed, match="step 4: the loss is NaN or infinite"):
        made.fit(io.StringIO(), Stopping())
    assert not best_of(tmp_path / "run")


def test_an_update_is_the_same_in_one_batch_or_two(trainer):
    """Loss and gradients are those of all target tokens, however they are dealt."""
    made = trainer(dropout=0.0)
    model = made.model.train()
    one, two = made.train.batch(np.arange(6)), made.train.batch(np.arange(6, 8))
    both = made.train.batch(np.arange(8))
    model(both, 0.1).total.backward()
    whole = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    for batch in (one, two):
        model(batch, 0.1).total.backward()
    for parameter, gradient in zip(model.parameters(), whole, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-3, atol=1e-4)


def test_updates_are_those_of_the_formulas(trainer):
    """Adam on the mean over all target tokens of both batches, clipped, at the schedule's rate."""
    own = {"clip": 0.7, "beta1": 0.5, "beta2": 0.7, "epsilon": 1e-3, "dropout": 0.0, "steps": 2}
    made = trainer(validate_every=100, **own)
    model, rates = copy.deepcopy(made.model).train(), [1e-2 / 4, 2e-2 / 4]
    parameters, moments = list(model.parameters()), []
    plan = updates(made.lengths(io.StringIO()), made.settings.train, Cursor(), 0, CPU)
    for step, (update, rate) in enumerate(zip(islice(plan, 2), rates, strict=True), 1):
        batches = [made.train.batch(examples) for _, examples in update.batches]
        labels = sum(int((batch.label_BS != 0).sum()) for batch in batches)
        assert len(batches) == 2
        loss = sum(model(batch, 0.1).total for batch in batches) / labels
        gradients = torch.autograd.grad(loss, parameters)
        length = torch.stack([g.square().sum() for g in gradients]).sum().sqrt()
        assert length > 0.7
        moments = moments or [(torch.zeros_like(g), torch.zeros_like(g)) for g in gradients]
        for i, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
            clipped = gradient * 0.7 / length
            first = 0.5 * moments[i][0] + 0.5 * clipped
            second = 0.7 * moments[i][1] + 0.3 * clipped**2
            moments[i] = first, second
            root = (second / (1 - 0.7**step)).sqrt() + 1e-3
            with torch.no_grad():
                parameter -= rate * first / (1 - 0.5**step) / root
    made.fit(io.StringIO(), Stopping())
    for found, expected in zip(made.model.parameters(), parameters, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


def test_a_validation_is_the_mean_over_all_leads_without_smoothing(trainer):
    made = trainer(dropout=0.5, label_smoothing=0.3)
    found = made.validate(made.validation, io.StringIO())
    batch = made.validation.batch(np.arange(len(made.validation)))
    model = made.model.eval()
    decoded = model.decode(batch.target_BS, model.encode(batch.source))
    logits = model.logits(decoded).flatten(0, 1)
    expected = torch.nn.functional.cross_entropy(logits, batch.label_BS.flatten(), ignore_index=0)
    assert found == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.slow
def test_half_precision_trains_alike_but_not_the_same(trainer):
    exact, near = trainer("exact", steps=2), trainer("near", steps=2, precision="bf16")
    for made in (exact, near):
        made.fit(io.StringIO(), Stopping())
    one, other = (weights(made)["embedding.weight"] for made in (exact, near))
    assert not torch.equal(one, other)
    torch.testing.assert_close(one, other, rtol=0.1, atol=0.03)


def test_processes_share_the_batches_of_an_update(trainer):
    made = trainer(update_batches=4)
    lengths = made.lengths(io.StringIO())

    def third(processes):
        plan = updates(lengths, made.settings.train, Cursor(), 0, processes)
        return next(islice(plan, 2, None))

    alone = third(CPU)
    parts = [third(CPU._replace(rank=rank, size=2)) for rank in range(2)]
    assert [number for number, _ in alone.batches] == [8, 9, 10, 11]
    assert [[number for number, _ in part.batches] for part in parts] == [[8, 10], [9, 11]]
    dealt = {number: rows.tolist() for part in parts for number, rows in part.batches}
    assert dealt == {number: rows.tolist() for number, rows in alone.batches}
    assert {part.cursor for part in parts} == {alone.cursor}
    made = trainer(update_batches=3)
    with pytest.raises(ValueError, match="--update-batches 3 does not divide among 2"):
        Trainer(made.run, made.settings, made.train, None, CPU._replace(size=2))


@pytest.mark.slow
def test_weights_are_chosen_by_name(trainer, tmp_path):
    trainer().fit(io.StringIO(), Stopping())
    run = tmp_path / "run"
    both = [choose(run, step).weights for step in ("4", "8")]
    assert_same_weights(choose(run, "average").weights, averaged(both))
    assert choose(run, "last").fingerprint == choose(run, "8").fingerprint
    losses = {row["validation_loss"]: row["step"] for row in curve(run) if "validation_loss" in row}
    assert len(losses) == 2
    assert choose(run, "best").name == f"step {losses[min(losses)]}"
    with pytest.raises(ValueError, match="--checkpoint"):
        choose(run, "bets")
    with pytest.raises(FileNotFoundError, match="no run of a summarizer"):
        choose(tmp_path, "best")


def test_a_dataset_without_validation_trains_too(topics, run_settings, tmp_path, capsys):
    data, run = tmp_path / "data", tmp_path / "run"
    shutil.copytree(topics, data)
    (data / "examples" / "validation-00000-of-00001.parquet").unlink()
    assert main(command(data, run, changed(run_settings, {"steps": 2}))) == 0
    output = capsys.readouterr()
    assert "no validation examples" in output.err
    assert "--checkpoint last" in output.out
    assert choose(run, "last").name == "step 2"
    with pytest.raises(FileNotFoundError, match="--checkpoint last"):
        choose(run, "best")


def test_other_settings_than_the_run_has_are_reported(trainer):
    trainer(steps=1).fit(io.StringIO(), Stopping())
    trainer(steps=2)  # more steps are no other run
    with pytest.raises(ValueError, match=r"--dropout 0.1, not 0.2"):
        trainer(dropout=0.2)


@pytest.mark.slow
def test_a_run_does_not_go_on_with_other_examples(topics, run_settings, tmp_path, capsys):
    data, run = tmp_path / "data", tmp_path / "run"
    shutil.copytree(topics, data)
    assert main(command(topics, run, changed(run_settings, {"steps": 1}))) == 0
    assert main(command(data, run, changed(run_settings, {"steps": 2}))) == 0  # the same, elsewhere
    path = next((data / "examples").glob("train-*.parquet"))
    pq.write_table(pq.read_table(path).slice(1), path)
    assert main(command(data, run, changed(run_settings, {"steps": 3}))) == 2
    assert "trained on other examples" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_does_not_go_on_with_another_vocabulary(topics, run_settings, tmp_path, capsys):
    data, run = tmp_path / "data", tmp_path / "run"
    shutil.copytree(topics, data)
    assert main(command(topics, run, changed(run_settings, {"steps": 1}))) == 0
    with (data / "vocab" / "wikisum.model").open("ab") as file:
        file.write(b"\xfa\x01\x00")  # an empty field that no reader knows
    assert main(command(data, run, changed(run_settings, {"steps": 2}))) == 2
    assert "another vocabulary" in capsys.readouterr().err


def test_a_loss_that_is_no_number_ends_the_run(trainer):
    made = trainer()
    with torch.no_grad():
        made.model.embedding.weight[:] = torch.nan
    with pytest.raises(TrainingFailed, match="the loss is NaN or infinite"):
        made.fit(io.StringIO(), Stopping())


def test_memory_that_runs_out_says_what_to_lower(trainer, monkeypatch):
    made = trainer()

    def fail(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(made.model, "forward", fail)
    with pytest.raises(TrainingFailed, match=r"lower --batch-tokens \(now 800\)"):
        made.fit(io.StringIO(), Stopping())


@pytest.mark.longest
@pytest.mark.slow
def test_loader_processes_give_the_same_run(trainer):
    alone, helped = trainer("alone", steps=2), trainer("helped", steps=2, loader_workers=1)
    for made in (alone, helped):
        made.fit(io.StringIO(), Stopping())
    assert_same_weights(weights(alone), weights(helped))


def flags_of(settings):
    flags = []
    groups = to_json(settings)
    for values in (groups["model"], groups["source"], groups["train"]):
        for name, value in values.items():
            if name == "vocab_size" or value is None:
                continue
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                flags.append(f"--{'' if value else 'no-'}{flag}")
            else:
                flags += [f"--{flag}", str(value)]
    return flags


def command(topics, run, settings, *extra):
    words = ["train", "summarizer", "--data", str(topics), "--out", str(run), "--device", "cpu"]
    return [*words, *flags_of(settings), *extra]


def wait_for(path, seconds=60):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"no {path}"
        time.sleep(0.01)


@pytest.mark.longest
@pytest.mark.slow
def test_a_process_that_is_ended_goes_on_to_the_same_curve(topics, run_settings, tmp_path):
    """By SIGKILL and by SIGTERM."""
    settings = changed(run_settings, {"steps": 24, "validate_every": 4})
    assert main(command(topics, tmp_path / "whole", settings)) == 0
    whole = choose(tmp_path / "whole", "last")
    for number, codes in [(signal.SIGKILL, (-9, 0)), (signal.SIGTERM, (130, 0))]:
        run = tmp_path / str(number)
        process = start(command(topics, run, settings))
        wait_for(run / "last.safetensors")
        assert end(process, number) in codes
        assert main(command(topics, run, settings)) == 0
        assert curve(run) == curve(tmp_path / "whole")
        assert choose(run, "last").fingerprint == whole.fingerprint


def run_in_two(words):
    """Run a command in two processes that train together; return their exit codes."""
    together = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2"}
    processes = [start(words, None, {"RANK": str(rank), **together}) for rank in range(2)]
    return [wait(process) for process in processes]


def assert_alike(run, other):
    for one, two in zip(curve(run), curve(other), strict=True):
        assert one == pytest.approx(two, rel=1e-4)
    weights, others = (choose(folder, "last").weights for folder in (run, other))
    for name in weights:
        # the gradient of a key's bias is zero but for rounding, which Adam scales to a whole step
        if not name.endswith("key.bias"):
            torch.testing.assert_close(weights[name], others[name], rtol=1e-2, atol=2e-3)


@pytest.mark.longest
@pytest.mark.slow
def test_two_processes_train_like_one(topics, run_settings, tmp_path):
    """With divided parameters, and then with whole ones, in one process and in two."""
    one, two, mixed = (tmp_path / name for name in ("one", "two", "mixed"))
    settings = changed(run_settings, {"steps": 4, "validate_every": 2, "clip": 0.5})
    assert main(command(topics, one, settings)) == 0
    assert run_in_two(command(topics, two, settings, "--parallel", "fsdp", "--steps", "2")) == [
        0,
        0,
    ]
    shutil.copytree(two, mixed)
    assert run_in_two(command(topics, two, settings)) == [0, 0]
    assert_alike(one, two)
    assert main(command(topics, mixed, settings)) == 0
    assert_alike(one, mixed)


def free_port():
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--preset", "huge"], 2, "--preset"),
        (["--dropout", "2"], 2, "--dropout"),
        (["--data", "nowhere"], 2, "there is no directory nowhere"),
        (["--config", "nowhere.toml"], 2, "nowhere.toml"),
        (["--device", "tpu"], 2, "tpu"),
        (["--dropuot", "0.1"], 2, "--dropuot"),
        (["--pooling-heads", "0"], 2, "--pooling-heads must be at least 1, not 0"),
        (["--pooling-heads", "-1"], 2, "--pooling-heads must be at least 1, not -1"),
        (["--pooling-heads", "5"], 2, "--width 96 does not divide into 5 pooling heads"),
    ],
)
def test_a_wrong_call_is_one_line(words, code, message, topics, tmp_path, capsys):
    call = ["train", "summarizer", "--data", str(topics), "--out", str(tmp_path / "run")]
    assert main([*call, "--preset", "tiny", *words]) == code
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_file_of_settings_stands_between_preset_and_flags(topics, run_settings, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('[model]\nwidth = 16\nheads = 4\nlayers = "LG"\n[train]\nsteps = 1\n')
    words = ["--preset", "tiny", "--config", str(file), "--steps", "2", "--batch-tokens", "500"]
    run = tmp_path / "run"
    base = ["train", "summarizer", "--data", str(topics), "--out", str(run)]
    assert main([*base, *words]) == 0
    saved = json.loads((run / "settings.json").read_text())
    assert (saved["model"]["width"], saved["train"]["steps"]) == (16, 2)
    again = ["--config", str(run / "settings.json"), "--out", str(tmp_path / "again")]
    assert main([*base[:4], *again, "--steps", "1"]) == 0
    copy = json.loads((tmp_path / "again" / "settings.json").read_text())
    assert copy == {**saved, "train": {**saved["train"], "steps": 1}}
