"""The commands behind the shards: training, summaries and their evaluation. Imports no Beam."""

from pipeline.cli import Commands


def add_commands(commands: Commands) -> None:
    """Add the commands of this file."""
