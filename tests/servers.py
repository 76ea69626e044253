"""Web servers on this machine for tests, and a network on which every public address is one."""

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import NamedTuple

import httpcore2

from wikisum.crawl.web.addresses import Address


class Answer(NamedTuple):
    """What a server says; `raw` is sent in place of all else, and the connection closed."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = {}  # noqa: RUF012
    raw: bytes | None = None
    wait_seconds: float = 0.0


class Request(NamedTuple):
    path: str
    host: str
    agent: str
    port: int


Answers = Callable[[str], Answer]
NOT_FOUND = Answer(404, b"no such page", {"Content-Type": "text/html"})


def page(text: str = "A page of its own, about nothing in particular.", **headers: str) -> Answer:
    names = {"Content-Type": "text/html; charset=utf-8"}
    names.update({name.replace("_", "-"): value for name, value in headers.items()})
    return Answer(200, f"<html><body><p>{text}</p></body></html>".encode(), names)


def redirect(location: str, status: int = 302) -> Answer:
    return Answer(status, b"", {"Location": location})


class Server:
    """Answers requests as `answers` tells by path; `requests` has what was asked."""

    def __init__(self, answers: Answers, context: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                result = self.headers
                server.requests.append(
                    Request(self.path, result["Host"], result["User-Agent"], self.client_address[1])
                )
                answer = answers(self.path)
                server.closing.wait(answer.wait_seconds)
                if answer.raw is not None:
                    self.wfile.write(answer.raw)
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    super().handle()

            def log_message(self, *_: object) -> None:
                pass

        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        if context is not None:
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self.port: int = self._http.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    @contextlib.contextmanager
    def running(self) -> Iterator["Server"]:
        self._thread.start()
        try:
            yield self
        finally:
            self.closing.set()
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()


class Network(httpcore2.AsyncNetworkBackend):
    """Leads every connection to one server here, whatever address it is to; keeps the addresses."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._inner = REAL_BACKEND()
        self.connected: list[tuple[str, int]] = []

    async def connect_tcp(
        self, host: str, port: int, *others: object
    ) -> httpcore2.AsyncNetworkStream:
        self.connected.append((host, port))
        return await self._inner.connect_tcp("127.0.0.1", self._port, *others)


REAL_BACKEND = httpcore2.AnyIOBackend


class Names:
    """A resolver of a few names; each has a list of answers, the last of which stays."""

    def __init__(self, **lists: list[list[str]]) -> None:
        self._lists = {name.replace("_", "."): answers for name, answers in lists.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> list[Address]:
        self.asked.append(host)
        await asyncio.sleep(0)
        if host not in self._lists:
            raise OSError("Name or service not known")
        answers = self._lists[host]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ip_address(text) for text in found]
