"""The closing summary of a build, for a person."""

from typing import Any, TextIO

from wikisum.pipeline.records import SPLITS
from wikisum.pipeline.report.report import PAGE, funnel
from wikisum.ranker.runs.progress import clock


def summary_lines(manifest: dict[str, Any], out: str) -> list[str]:
    """What went in, what came out, what was dropped and why, how long it took."""
    lines = []
    for name, parts in funnel(manifest["counts"]).items():
        (whole, total), (kept, number), *rest = parts.items()
        lines.append(f"{_words(name)}: {total:,} {_words(whole)}, {number:,} {_words(kept)}")
        for reason, count in sorted(rest, key=lambda r: (-r[1], r[0])):
            lines.append(f"  {count:>10,}  {_words(reason)}")
    rows = [(path, file["rows"]) for path, file in manifest["files"].items()]
    counts = (sum(n for path, n in rows if path.startswith(f"examples/{s}-")) for s in SPLITS)
    shown = (f"{n:,} {split}" for n, split in zip(counts, SPLITS, strict=True))
    lines.append(f"examples: {', '.join(shown)}")
    lines.append(f"time: {clock(sum(manifest['seconds'].values()))}")
    lines.append(f"next: see {out}/README.md, {out}/{PAGE}, wikisum validate {out}")
    return lines


def _words(name: str) -> str:
    return name.replace("_", " ")


def write_summary(manifest: dict[str, Any], out: str, to: TextIO) -> None:
    """Write the summary."""
    to.write("\n".join(summary_lines(manifest, out)) + "\n")
