"""Which extra of the distribution a missing module belongs to."""

from importlib.util import find_spec

from wikisum.graphs.entities import MODELS

EXTRA_BY_MODULE = {
    "apache_beam": "build",
    "spacy": "build",
    **dict.fromkeys(MODELS, "build"),
    "torch": "train",
    "safetensors": "train",
    "tensorboard": "train",
    "trafilatura": "trafilatura",
    "boto3": "aws",
    "pypdf": "pdf",
    "tokenizers": "hf",
    "transformers": "hf",
    "starlette": "judge",
    "uvicorn": "judge",
}


def check_build(needs_spacy: bool = True) -> None:
    """Raise ModuleNotFoundError if Beam, spaCy or its English model is not installed.

    The graphs are one of the last stages of a build: without this check, a missing model would
    be noticed only hours later.
    """
    for needed in (("apache_beam",), ("spacy",), MODELS) if needs_spacy else (("apache_beam",),):
        if not any(find_spec(name) for name in needed):
            raise ModuleNotFoundError(f"no module named {needed[0]}", name=needed[0])


def missing_module(name: str | None) -> str:
    """Return one line that names the missing module and the command that installs it."""
    extra = EXTRA_BY_MODULE.get((name or "").partition(".")[0])
    package = f"'wikisum[{extra}]'" if extra else "wikisum"
    return f"needs {name}, which is not installed: pip install {package}"
