import pytest

from wikisum.pipeline.engine.runner import cause, check_beam_flags


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("disk full", "disk full"),
        ("Traceback\n  File x\nOSError: disk full\n\n", "OSError: disk full"),
        ("OSError: disk full [while running 'Map-ptransform-3']", "OSError: disk full"),
        ("RuntimeError: RuntimeError: bad [while running 'A/B']", "bad"),
        ("", "ValueError"),
        (" \n ", "ValueError"),
    ],
)
def test_the_cause_is_the_last_line_without_wrapping(message, line):
    assert cause(ValueError(message)) == line


def test_flags_of_beam_pass():
    check_beam_flags([])
    check_beam_flags(["--runner=FlinkRunner", "--direct_num_workers", "2"])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--runer=FlinkRunner"], "Beam has no flag --runer=FlinkRunner"),
        (["--direct_num_workers=2", "--direct_num_worker", "2"], "no flag --direct_num_worker"),
        (["--direct_num_workers=two"], "invalid Beam flags after --: --direct_num_workers=two"),
    ],
)
def test_other_flags_are_a_wrong_call(flags, message, capsys):
    with pytest.raises(ValueError, match=message):
        check_beam_flags(flags)
