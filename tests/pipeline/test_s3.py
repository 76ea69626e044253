"""Inputs and crawls on S3, of which a small store is served on this machine."""

import contextlib
from collections.abc import Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from tests.conftest import GOLDEN
from tests.fake_crawl import CRAWL, lay_out
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine import files

pytest.importorskip("boto3")


@contextlib.contextmanager
def store(root: Path) -> Iterator[str]:
    """The address of a store whose buckets are the folders in `root`, to be read from."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(*self._found())

        def do_GET(self) -> None:
            status, headers, body = self._found()
            self._answer(status, headers, body)
            self.wfile.write(body)

        def _found(self) -> tuple[int, dict[str, str], bytes]:
            path = root / urlsplit(self.path).path.strip("/")
            if not path.is_file():
                return 404, {}, b""
            data, result = path.read_bytes(), {"Last-Modified": formatdate(0, usegmt=True)}
            result |= {"ETag": '"0"', "Content-Type": "application/octet-stream"}
            if span := self.headers["Range"]:
                first, _, last = span.removeprefix("bytes=").partition("-")
                cut = data[int(first) : int(last or len(data)) + 1]
                result["Content-Range"] = f"bytes {first}-{int(first) + len(cut) - 1}/{len(data)}"
                return 206, result, cut
            return 200, result, data

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.slow
def test_a_crawl_on_s3_and_inputs_on_s3(tmp_path, monkeypatch, capsys):
    bucket = tmp_path / "bucket"
    bucket.mkdir()
    lay_out(bucket, sorted(GOLDEN.glob("sample-*.gz")))
    (bucket / "sample.xml.bz2").write_bytes((GOLDEN / "sample.xml.bz2").read_bytes())
    with store(tmp_path) as address:
        for name, value in {
            "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        out = str(tmp_path / "out")
        words = ["--articles", "s3://bucket/sample.xml.bz2", "--vocab-size", "300", "--out", out]
        crawl = ["--crawl", CRAWL, "--crawl-root", "s3://bucket/", "--workers", "1"]
        assert main(["build", *words, *crawl]) == 0
        assert "12 in examples" in capsys.readouterr().out
        assert main(["validate", out]) == 0


@pytest.mark.slow
def test_what_nothing_opens_is_reported_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    out = ["--workers", "1", "--out", str(tmp_path / "out")]
    articles = ["--articles", str(GOLDEN / "sample.xml.bz2")]
    wrong = [
        (["--crawl", CRAWL, "--crawl-root", "s3://b/"], "s3://b/: no installed package opens"),
        (["--crawl", CRAWL, "--crawl-root", "ftp://b/"], "opens ftp:// paths"),
        (["--crawl", CRAWL, "--crawl-root", str(tmp_path / "no")], "no is not a directory"),
        (["--warcs", "s3://b/x.warc.gz"], "pip install 'wikisum[aws]'"),
        (
            ["--warcs", "http://127.0.0.1:9/x.gz"],
            "its server too, --crawl-root http://127.0.0.1:9/",
        ),
    ]
    for flags, message in wrong:
        assert main(["build", *articles, *flags, *out]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    assert main(["articles", *articles, "--out", str(tmp_path / "file")]) == 2
    assert "file is not a directory" in capsys.readouterr().err
    assert main(["validate", "s3://b/x"]) == 2
    assert "wikisum[aws]" in capsys.readouterr().err
