"""Settings of models that transformers reads. Knows neither torch nor transformers."""

from dataclasses import dataclass

from wikisum.ranker.setting import Checked, require, setting

SOURCE = "{source}"
INSTRUCTION = (
    "Write the first section of an encyclopedia article from this title and these notes.\n\n"
    "{source}\n\nFirst section:\n"
)


@dataclass(frozen=True)
class PretrainedSettings(Checked):
    """A pretrained model in a local folder; all else is in the folder's own configuration.

    Encoder-decoders read title and paragraphs, each followed by `separator`. Decoder-only models
    read the same between the two halves of `instruction`.
    """

    vocab_size: int = setting(32_000, "number of subwords", at_least=1)
    pretrained: str = setting(
        "", "folder of a pretrained model and its tokenizer, as transformers saves them"
    )
    instruction: str = setting(
        INSTRUCTION, "prompt of decoder-only models; {source} stands for title and paragraphs"
    )
    separator: str = setting(
        "",
        "text between paragraphs (default: <doc-sep> or the separator of the tokenizer; a new line "
        "in prompts)",
        metavar="TEXT",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.instruction.count(SOURCE) == 1,
            f"--instruction must contain {SOURCE} once, not {self.instruction!r}",
        )
