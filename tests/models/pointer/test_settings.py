import pytest

from wikisum.models.pointer.settings import PointerSettings


@pytest.mark.parametrize(
    "changes",
    [
        {"window_tokens": 9, "window_stride": 9},
        {"words": 1, "word_vectors": "x.vec"},
        {"window_k": 0.0, "coverage_weight": 0.0},
        {"dropout": 0.0},
    ],
)
def test_settings_at_the_limit_are_accepted(changes):
    PointerSettings(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window_tokens": 9, "window_stride": 10}, "--window-stride 10 would leave tokens out"),
        ({"word_vectors": "x.vec"}, "--word-vectors needs --words"),
        ({"window_k": -0.1}, "--window-k"),
        ({"width": 0}, "--width"),
        ({"dropout": 1.0}, "--dropout"),
        ({"attention": "dot"}, "--attention must be one of bahdanau, luong"),
        ({"windows": "moving"}, "--windows must be one of none, static, dynamic"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        PointerSettings(**changes)


@pytest.mark.parametrize("windows", ["none", "static", "dynamic"])
def test_only_windows_are_windowed(windows):
    assert PointerSettings(windows=windows).is_windowed == (windows != "none")
