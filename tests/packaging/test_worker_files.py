"""The files from which workers are made name the locked versions."""

import re

from tests.packaging.environments import PACKAGES, ROOT, SOURCES


def _lines(name):
    return (ROOT / name).read_text().splitlines()


def _normal(requirement):
    return re.sub(r"[-_.]+", "-", requirement.split("==")[0]).lower(), requirement.split("==")[1]


def test_workers_install_locked_versions():
    locked = dict(map(_normal, _lines("constraints.txt")))
    wanted = [_normal(line) for line in _lines("workers.txt") if not line.startswith("#")]
    assert len(wanted) == 4
    assert all(locked[name] == version for name, version in wanted)
    (image,) = re.findall(
        r"^FROM apache/beam_python3\.\d+_sdk:(.+)$", "\n".join(_lines("Dockerfile")), re.M
    )
    assert image == locked["apache-beam"]


def test_the_image_is_made_of_what_a_build_needs():
    kept = {line.removeprefix("!") for line in _lines(".dockerignore") if line.startswith("!")}
    assert kept == {*SOURCES, *PACKAGES, "constraints.txt"}
