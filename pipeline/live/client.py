"""One polite GET: from an address that was checked, in bounded time and size, kept as it came."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import httpcore2
from httpcore2 import SOCKET_OPTION, AsyncConnectionPool, AsyncNetworkBackend, AsyncNetworkStream

from wikisum.crawl.errors import BadRecord, DataError
from wikisum.crawl.http import check_type, content_type
from wikisum.crawl.web.addresses import Address, literal_address, may_connect
from wikisum.crawl.web.targets import DEFAULT_PORTS, Target
from wikisum.pipeline.live.settings import LiveSettings

Resolver = Callable[[str], Awaitable[list[Address]]]

_MAX_ADDRESSES = 4  # tried of one host
_MAX_ERROR_BYTES = 64 << 10  # kept of a response that is not a page
_ACCEPTED = (
    (b"Accept", b"text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.1"),
    (b"Accept-Encoding", b"gzip"),
)


class NotFetched(DataError):
    """A page that could not be fetched, or was not requested.

    `is_unreached` says that its host was not reached, so that another spelling of it may be.
    """

    def __init__(self, reason: str, detail: str = "", is_unreached: bool = False) -> None:
        super().__init__(reason, detail)
        self.is_unreached = is_unreached


class Exchange(NamedTuple):
    """A request and its answer; header names and values are as they were sent.

    `body` is without chunks, still compressed; `is_cut` says that there was more of it.
    """

    target: Target
    request_headers: list[tuple[bytes, bytes]]
    status: int
    reason_phrase: str
    version: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    is_cut: bool
    address: str
    fetched_at: datetime

    def header(self, name: str) -> str | None:
        """The value of a header, by its name in lower case."""
        for key, value in self.headers:
            if key.lower().decode("latin-1") == name:
                return value.decode("latin-1")
        return None


async def resolve(host: str) -> list[Address]:
    """The addresses of a name, as the system's resolver gives them. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    literals = (literal_address(str(sockaddr[0])) for *_, sockaddr in found)
    return list(dict.fromkeys(address for address in literals if address is not None))


class CheckedBackend(AsyncNetworkBackend):
    """Connects to addresses that were looked at, never by name: a name may change in between."""

    def __init__(self, resolver: Resolver, settings: LiveSettings) -> None:
        self._resolver = resolver
        self._allow_private = settings.allow_private
        self._any_port = settings.any_port or settings.allow_private
        self._timeout_seconds = settings.timeout_seconds / 3  # one silent address is not all
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """A connection to one of the host's addresses, all of them public. Raises NotFetched."""
        addresses = await self._addresses(host)
        if not self._any_port and port not in DEFAULT_PORTS.values():
            raise NotFetched("port_refused", f"port {port} of {host}; --any-port allows it")
        failure: Exception | None = None
        for address in addresses:
            try:
                return await self._inner.connect_tcp(
                    str(address), port, self._timeout_seconds, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        reason = "timeout" if isinstance(failure, httpcore2.ConnectTimeout) else "connect_failed"
        raise NotFetched(reason, f"{host}:{port}: {failure}", is_unreached=True)

    async def _addresses(self, host: str) -> list[Address]:
        literal = literal_address(host)
        try:
            addresses = [literal] if literal is not None else await self._resolver(host)
        except (OSError, UnicodeError) as error:
            raise NotFetched("dns_failed", f"{host}: {error}", is_unreached=True) from error
        if not addresses:
            raise NotFetched("dns_failed", f"{host} has no address", is_unreached=True)
        for address in addresses:
            if not may_connect(address, self._allow_private):
                raise NotFetched("private_address", f"{host} is {address}")
        return addresses[:_MAX_ADDRESSES]


class WebClient:
    """Requests pages. Close it with `aclose`."""

    def __init__(
        self,
        settings: LiveSettings,
        resolver: Resolver = resolve,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._settings = settings
        self._headers = [(b"User-Agent", settings.user_agent.encode()), *_ACCEPTED]
        self._pool = AsyncConnectionPool(
            max_connections=2 * settings.concurrency,
            max_keepalive_connections=settings.concurrency,
            keepalive_expiry=2 * settings.delay_seconds + 5,
            network_backend=CheckedBackend(resolver, settings),
            ssl_context=ssl_context,
        )
        self.received_bytes = 0

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def get(self, target: Target, any_type: bool = False) -> Exchange:
        """The answer to a request for the page, whatever its status. Raises NotFetched.

        A page (status 200) must be of a type that pages have, unless `any_type`, and not too
        large; of other answers the first 64 KiB are kept.
        """
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                return await self._get(target, any_type)
        except (TimeoutError, httpcore2.TimeoutException) as error:
            limit = self._settings.timeout_seconds
            raise NotFetched("timeout", f"{target.url} took longer than {limit:g} s") from error
        except httpcore2.ConnectError as error:  # beyond the address: the handshake
            raise NotFetched("tls_failed", f"{target.url}: {error}", True) from error
        except httpcore2.RemoteProtocolError as error:
            raise NotFetched("broken_answer", f"{target.url}: {error}") from error
        except (httpcore2.NetworkError, httpcore2.LocalProtocolError, OSError) as error:
            raise NotFetched("connection_lost", f"{target.url}: {error}") from error

    async def _get(self, target: Target, any_type: bool) -> Exchange:
        headers = [(b"Host", target.authority.encode()), *self._headers]
        fetched_at = datetime.now(UTC)
        async with self._pool.stream("GET", _url(target), headers=headers) as response:
            is_page = response.status == 200
            if is_page and not any_type:
                _check(target, response.headers, self._settings.max_page_bytes)
            max_bytes = self._settings.max_page_bytes if is_page else _MAX_ERROR_BYTES
            body, is_cut = await self._body(response, max_bytes)
            if is_cut and is_page:
                raise NotFetched("page_too_large", f"{target.url} has over {max_bytes} bytes")
            extensions = response.extensions
            peer = extensions["network_stream"].get_extra_info("server_addr")
            return Exchange(
                target,
                headers,
                response.status,
                extensions.get("reason_phrase", b"").decode("latin-1"),
                extensions.get("http_version", b"HTTP/1.1").decode("ascii"),
                list(response.headers),
                body,
                is_cut,
                str(peer[0]) if peer else "",
                fetched_at,
            )

    async def _body(self, response: httpcore2.Response, max_bytes: int) -> tuple[bytes, bool]:
        """(at most `max_bytes` of the body, whether there were more)."""
        body = bytearray()
        async for block in response.aiter_stream():
            self.received_bytes += len(block)
            body += block
            if len(body) > max_bytes:
                return bytes(body[:max_bytes]), True
        return bytes(body), False


def _url(target: Target) -> httpcore2.URL:
    return httpcore2.URL(
        scheme=target.scheme.encode(),
        host=target.host.encode(),
        port=target.port,
        target=target.path.encode(),
    )


def _check(target: Target, headers: list[tuple[bytes, bytes]], max_bytes: int) -> None:
    """Raise NotFetched for a response that is not a page, or too large, by its headers."""
    by_name: dict[str, Any] = {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in headers}
    mime, _ = content_type(by_name.get("content-type", ""))
    try:
        check_type(mime)
    except BadRecord as error:
        raise NotFetched(error.reason, f"{target.url} is {mime[:100]}") from error
    length = by_name.get("content-length", "0").strip()
    if length.isdecimal() and int(length[:18]) > max_bytes:
        raise NotFetched("page_too_large", f"{target.url} has {length[:18]} bytes")
