"""Stores on this machine: moto's S3 and one like Google's; requests are counted, some refused."""

import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from email.utils import formatdate
from threading import Lock, Thread
from typing import Any
from urllib.parse import unquote

import boto3
import pytest
from moto.s3.models import s3_backends
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug import Request, Response
from werkzeug.serving import WSGIRequestHandler, make_server

BUCKET = "bucket"


class Store:
    """The address of a store, its requests by method, and its share of requests refused."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: Counter[str] = Counter()
        self.paths: Counter[str] = Counter()
        self.refused_share = 0.0
        self.refused = 0
        self._random = random.Random(0)
        self._lock = Lock()

    def counted(self, application: Callable) -> Callable:
        """A WSGI application that counts and refuses requests before the given one."""

        def answer(environ: dict, start_response: Callable) -> Any:
            with self._lock:
                method = environ["REQUEST_METHOD"]
                is_list = method == "GET" and "list-type" in environ.get("QUERY_STRING", "")
                self.requests["LIST" if is_list else method] += 1
                self.paths[f"{method} {environ['PATH_INFO']}"] += 1
                is_refused = self._random.random() < self.refused_share
                self.refused += is_refused
            if is_refused:
                start_response("503 Slow Down", [("Content-Length", "0")])
                return [b""]
            return application(environ, start_response)

        return answer


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept

    def log(self, *_: Any) -> None:
        pass


class Buckets:
    """A WSGI application: Google's XML API, as far as a build uses it, with preconditions."""

    def __init__(self) -> None:
        self._objects: dict[str, tuple[bytes, int]] = {}  # content and generation, by key
        self._generation = 0
        self._lock = Lock()

    def __call__(self, environ: dict, start_response: Callable) -> Any:
        request = Request(environ)
        bucket, _, key = request.path.removeprefix("/").partition("/")
        assert bucket == BUCKET
        with self._lock:
            if request.method == "GET" and not key:
                response = self._listing(request.args)
            else:
                response = getattr(self, f"_{request.method.lower()}")(key, request)
        return response(environ, start_response)

    def _put(self, key: str, request: Request) -> Response:
        expected = request.headers.get("x-goog-if-generation-match")
        if expected is not None and int(expected) != self._objects.get(key, (b"", 0))[1]:
            return Response(status=412)
        source = request.headers.get("x-goog-copy-source")
        data = request.data
        if source is not None:
            copied = unquote(source).removeprefix("/").partition("/")[2]
            if copied not in self._objects:
                return Response(status=404)
            data = self._objects[copied][0]
        self._generation += 1
        self._objects[key] = (data, self._generation)
        return Response(headers=self._headers(key))

    def _get(self, key: str, request: Request) -> Response:
        if key not in self._objects:
            return Response(status=404)
        data, headers = self._objects[key][0], self._headers(key)
        if request.range is None:
            return Response(data, headers=headers)
        span = request.range.range_for_length(len(data))
        if span is None:
            return Response(status=416)
        headers["Content-Range"] = f"bytes {span[0]}-{span[1] - 1}/{len(data)}"
        return Response(data[span[0] : span[1]], status=206, headers=headers)

    _head = _get

    def _delete(self, key: str, _: Request) -> Response:
        return Response(status=204 if self._objects.pop(key, None) else 404)

    def _headers(self, key: str) -> dict[str, str]:
        generation = str(self._objects[key][1])
        modified = formatdate(usegmt=True)
        return {
            "x-goog-generation": generation,
            "ETag": f'"{generation}"',
            "Last-Modified": modified,
        }

    def _listing(self, args: Any) -> Response:
        prefix, delimiter = args.get("prefix", ""), args.get("delimiter")
        entries, folders = [], set()
        for key, (data, generation) in sorted(self._objects.items()):
            rest = key.removeprefix(prefix)
            if not key.startswith(prefix):
                continue
            if delimiter and delimiter in rest:
                folders.add(prefix + rest.partition(delimiter)[0] + delimiter)
                continue
            entries.append(
                f'<Contents><Key>{key}</Key><Size>{len(data)}</Size><ETag>"{generation}"</ETag>'
                "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            )
        entries += [
            f"<CommonPrefixes><Prefix>{f}</Prefix></CommonPrefixes>" for f in sorted(folders)
        ]
        body = f"<ListBucketResult>{''.join(entries)}</ListBucketResult>"
        return Response(body, mimetype="application/xml")


@contextlib.contextmanager
def served(application: Callable) -> Iterator[Store]:
    store = Store("")
    counted = store.counted(application)
    server = make_server("127.0.0.1", 0, counted, threaded=True, request_handler=_Quiet)
    store.address = f"http://127.0.0.1:{server.port}"
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def s3_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """moto's S3 with an empty bucket, which the environment names as the store."""
    s3_backends.reset()
    with served(DomainDispatcherApplication(create_backend_app)) as store:
        for name, value in {
            "AWS_ENDPOINT_URL": store.address, "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        store.requests.clear()
        yield store


@contextlib.contextmanager
def gcs_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with Google's interface and an empty bucket, which the environment names."""
    with served(Buckets()) as store:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", store.address)
        yield store
