import resource

import pytest

from wikisum import __version__
from wikisum.pipeline.cli import main
from wikisum.pipeline.commands import doctor

SAMPLE = "tests/golden/sample.xml.bz2"


def test_one_screen_tells_what_is_there(capsys):
    assert main(["doctor", "--articles", SAMPLE]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert lines[0].split() == ["wikisum", f"{__version__},", "Python", *lines[0].split()[3:]]
    names = [line.split("  ")[0] for line in lines]
    assert {"build", "train", "spaCy model", "cores", "memory", "disk", "GPU", "open files"} <= {
        *names
    }
    assert lines[-1].startswith("a build has all that it needs")


def test_what_a_build_would_lack_is_named_with_its_fix(tmp_path, monkeypatch, capsys):
    find = doctor.find_spec
    absent = ("apache_beam", *doctor.MODELS)
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name in absent else find(name))
    missing = tmp_path / "missing.xml"
    out = tmp_path / "file"
    out.write_text("")
    words = ["--articles", str(missing), SAMPLE, "--out", str(out)]
    assert main(["doctor", *words]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if "a build lacks" in line]
    assert len(lines) == 4
    assert lines[0].endswith("apache_beam: not installed  -> pip install 'wikisum[build]'")
    assert "spaCy model" in lines[1]
    assert f"no such file: {missing}  -> correct --articles" in lines[2]
    assert "is not a directory  -> correct --out" in lines[3]


@pytest.mark.parametrize(("soft", "advised"), [(256, True), (4096, False), (-1, False)])
def test_a_low_limit_of_open_files_is_to_be_raised(soft, advised, monkeypatch, capsys):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, 4096))
    main(["doctor"])
    assert ("ulimit -n 4096" in capsys.readouterr().out) == advised
