"""The instruction has one place for the source."""

import pytest

from wikisum.models.pretrained.settings import PretrainedSettings


@pytest.mark.parametrize("instruction", ["Write.", "{source} {source}", ""])
def test_an_instruction_without_one_place_for_the_source_is_refused(instruction):
    with pytest.raises(ValueError, match="--instruction"):
        PretrainedSettings(instruction=instruction)
