"""Print an example of a file of summaries: what was read, the gold lead, and the summary."""

import argparse
import json
import textwrap
from pathlib import Path


def example_text(line: str) -> str:
    """Return the parts of a row of summaries in JSON, one below the other."""
    row = json.loads(line)
    parts = {f"paragraph {n}": p["text"] for n, p in enumerate(row["paragraphs"][:4], 1)}
    parts |= {"gold lead": row["lead"], "summary": row["summary"]}
    body = "".join(
        textwrap.fill(f"{name + ':':14}{text}", 100, subsequent_indent=" " * 14) + "\n"
        for name, text in parts.items()
    )
    return f"{row['title']}\n{body}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE", help="summaries in JSON Lines")
    with parser.parse_args().file.open(encoding="utf-8") as file:
        print(example_text(file.readline()), end="")
