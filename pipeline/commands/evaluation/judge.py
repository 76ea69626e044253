"""`wikisum judge`: human evaluation of summaries in the browser."""

import argparse
import dataclasses
import socket

from wikisum.models.evaluation.systems import file_systems
from wikisum.models.judging import preparation
from wikisum.models.judging.protocols import PROTOCOLS
from wikisum.models.judging.questions import read_questions
from wikisum.models.judging.report.files import write_report
from wikisum.models.judging.report.results import results_of
from wikisum.models.judging.report.tables import text_table
from wikisum.models.judging.rubric import read_rubric
from wikisum.models.judging.study import StudySettings, links, open_study, summary
from wikisum.pipeline.commands.command import DONE, Command
from wikisum.pipeline.commands.flags import add_settings, count, local_path, settings_of
from wikisum.pipeline.errors import JobFailed

HOST, PORT = "127.0.0.1", 8000


def prepare(args: argparse.Namespace) -> int:
    """Write a study: sample examples of several systems and assign them to judges.

    Each file holds the summaries of one system, as `wikisum summarize` writes them. Prints one
    link per judge, which `wikisum judge serve` answers.
    """
    protocol = PROTOCOLS[args.protocol] if args.rubric is None else read_rubric(args.rubric)
    shows = {name: getattr(args, name) for name in ("shows_lead", "shows_sources")}
    shows = {name: value for name, value in shows.items() if value is not None}
    protocol = dataclasses.replace(protocol, **shows)
    questions = None if args.questions is None else read_questions(args.questions)
    settings = settings_of(args, StudySettings())
    systems = file_systems(args.summaries)
    study = preparation.prepare(args.out, protocol, systems, settings, questions)
    print("\n".join(summary(study)))
    print("\n".join(links(study, args.url)))
    print(f"next: wikisum judge serve {args.out}")
    return DONE


def _add_prepare_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("summaries", nargs="+", type=local_path, metavar="FILE",
        help="summaries of one system each, JSON Lines or Parquet")  # fmt: skip
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--protocol", choices=list(PROTOCOLS), help="what judges are asked")
    what.add_argument("--rubric", type=local_path, metavar="FILE", help="TOML file with scales")
    add("--out", type=local_path, required=True, metavar="DIR", help="new folder of the study")
    add("--questions", type=local_path, metavar="FILE",
        help="questions with gold answers, as JSON Lines or TOML")  # fmt: skip
    add_settings(parser, StudySettings)
    add("--lead", dest="shows_lead", action=argparse.BooleanOptionalAction,
        help="show the gold lead as a reference (default: as the protocol has it)")  # fmt: skip
    add("--sources", dest="shows_sources", action=argparse.BooleanOptionalAction,
        help="offer the source paragraphs on demand (default: all but questions)")  # fmt: skip
    add("--url", default=f"http://{HOST}:{PORT}", metavar="URL",
        help="address that links begin with (default: http://127.0.0.1:8000)")  # fmt: skip


def serve(args: argparse.Namespace) -> int:
    """Serve a study to its judges until interrupted; every answer is saved immediately.

    Each judge has a link that cannot be guessed. The server listens on this machine alone; for
    other machines, put a web server with TLS before it, or give --host.
    """
    import uvicorn

    from wikisum.models.judging.web.app import judging_app

    study = open_study(args.study)
    app = judging_app(study)
    listener = _listener(args.host, args.port)
    host = f"[{args.host}]" if ":" in args.host else args.host
    address = args.url or f"http://{host}:{listener.getsockname()[1]}"
    print("\n".join(links(study, address)))
    print(f"serving {args.study} at {address}; Ctrl-C stops", flush=True)
    config = uvicorn.Config(app, access_log=False, log_level="warning", server_header=False)
    uvicorn.Server(config).run(sockets=[listener])
    return DONE


def _listener(host: str, port: int) -> socket.socket:
    """A socket bound to the address. Raises JobFailed if that is not possible."""
    try:
        family, *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise JobFailed(f"cannot listen on {host}, port {port}: {error.strerror}") from error


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"must be 0 to 65535, not {text!r}")
    return int(text)


def _add_serve_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("study", type=local_path, metavar="STUDY", help="folder of a study")
    add("--host", default=HOST, metavar="ADDRESS", help=f"address to listen on (default: {HOST})")
    add("--port", type=_port, default=PORT, metavar="N",
        help=f"port to listen on, 0 for a free one (default: {PORT})")  # fmt: skip
    add("--url", metavar="URL", help="address that links begin with, if a proxy has another one")


def report(args: argparse.Namespace) -> int:
    """Write the results of a study: means, intervals, tests, agreement, and a page with plots.

    A study can be reported while judges are at work. Screens that are not complete are left out.
    """
    study = open_study(args.study)
    out = args.out or args.study / "report"
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is not a directory")
    results = results_of(study, args.samples, args.seed)
    write_report(out, results)
    print(text_table(results), end="")
    print(f"next: open {out}/index.html or read {out}/report.md")
    return DONE


def _add_report_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("study", type=local_path, metavar="STUDY", help="folder of a study")
    add(
        "--out",
        type=local_path,
        metavar="DIR",
        help="folder for the report (default: STUDY/report)",
    )
    add("--samples", type=count, default=10_000, metavar="N",
        help="resamples of intervals and permutation tests (default: 10000)")  # fmt: skip
    add("--seed", type=int, default=0, metavar="N", help="seed of the resampling (default: 0)")


COMMANDS = {
    "judge prepare": Command(
        prepare,
        [_add_prepare_flags],
        [
            "wikisum judge prepare ht.jsonl ft.jsonl --protocol duc --judges 3 --out study",
            "wikisum judge prepare ht.jsonl ft.jsonl --rubric rubric.toml --out study",
        ],
    ),
    "judge serve": Command(serve, [_add_serve_flags], ["wikisum judge serve study --port 8000"]),
    "judge report": Command(report, [_add_report_flags], ["wikisum judge report study"]),
}
