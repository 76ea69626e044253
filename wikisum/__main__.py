"""`python -m wikisum` is the command `wikisum`."""

from wikisum.pipeline.cli import run

run()
