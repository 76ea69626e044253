"""One HTTP request for a range of a file: exactly these bytes, or an error with its reason."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPException, IncompleteRead

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    InvalidChunkLength,
    LocationParseError,
    MaxRetryError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
)

from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.web.pauses import retry_after_seconds

BUSY = frozenset((429, 500, 502, 503, 504))
MAX_SKIPPED_BYTES = 64 << 20  # of a file that is sent whole instead of the requested range
SLOWEST_BYTES_PER_SECOND = 4096
SMALL_BYTES = 4096  # reading an error page of this size is cheaper than a new connection
_PIECE_BYTES = 1 << 16
_RANGE = re.compile(r"\s*bytes\s+(?:(\d{1,18})-(\d{1,18})|\*)/(\d{1,18}|\*)\s*", re.ASCII)


class RangeClient:
    """Sends one request per call and keeps connections open; threads may share it.

    The caller repeats requests. Reasons of BadAnswer: `http_NNN`, `timeout`, `reset`, `short_body`,
    `wrong_range` and `no_connection`, which are transient, except status codes other than 429,
    500, 502, 503 and 504; `past_end`, `range_ignored`, `too_large` and `bad_url`, which are not.
    """

    def __init__(
        self,
        user_agent: str,
        connections: int,
        timeout_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._pool = urllib3.PoolManager(
            num_pools=8,
            maxsize=connections,
            block=True,  # wait instead of opening more connections
            headers={"User-Agent": user_agent, "Accept-Encoding": "identity"},
            retries=urllib3.Retry(total=None, connect=0, read=0, redirect=3, status=0, other=0),
            timeout=timeout_seconds,
        )

    def read(self, url: str, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length). Raises BadAnswer."""
        with self._asked(url, f"bytes={offset}-{offset + length - 1}") as answer:
            if answer.status == 416:
                raise BadAnswer("past_end", f"{url} ends before {offset}")
            _check_status(answer, url)
            skip = offset if answer.status == 200 else 0
            if answer.status == 206:
                _check_range(answer, url, offset, length)
            if skip > MAX_SKIPPED_BYTES:
                raise BadAnswer("range_ignored", f"{url} is sent whole, not from {offset}")
            data = self._body(answer, url, skip + length)[skip:]
            if len(data) < length:
                raise BadAnswer("short_body", f"{len(data)} of {length} bytes of {url}", True)
            return data

    def size(self, url: str) -> int:
        """The size of the whole file. Raises BadAnswer."""
        with self._asked(url, "bytes=0-0") as answer:
            content_range = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
            if answer.status == 416 and content_range and content_range[3] != "*":
                return int(content_range[3])
            _check_status(answer, url)
            length = answer.headers.get("Content-Length", "")
            if answer.status == 206 and content_range and content_range[3] != "*":
                self._body(answer, url, 1)
                return int(content_range[3])
            if answer.status == 200 and length.isdigit():
                return int(length)
            raise BadAnswer("wrong_range", f"{url} does not state its size", True)

    def get(self, url: str, max_bytes: int) -> bytes:
        """The whole body. Raises BadAnswer."""
        return self.fetch(url, max_bytes)[0]

    def fetch(self, url: str, max_bytes: int) -> tuple[bytes, str]:
        """The whole body and its declared content type. Raises BadAnswer."""
        with self._asked(url, None) as answer:
            _check_status(answer, url)
            data = self._body(answer, url, max_bytes + 1)
            if len(data) > max_bytes:
                raise BadAnswer("too_large", f"{url} has over {max_bytes} bytes")
            length = answer.headers.get("Content-Length", "")
            if length.isdigit() and len(data) < int(length):
                raise BadAnswer("short_body", f"{len(data)} of {length} bytes of {url}", True)
            return data, answer.headers.get("Content-Type", "")

    @contextmanager
    def _asked(self, url: str, ranges: str | None) -> Iterator[urllib3.BaseHTTPResponse]:
        """The response to a request; the connection is kept if the body was read to its end."""
        headers = {**self._pool.headers, "Range": ranges} if ranges else None
        answer = None
        try:
            answer = self._pool.request("GET", url, headers=headers, preload_content=False)
            yield answer
        except HTTPError as error:
            raise _bad_answer(url, error) from error
        except OSError as error:
            raise BadAnswer("reset", f"{url}: {error}", True) from error
        finally:
            if answer is not None:
                left = answer.length_remaining
                limit = SMALL_BYTES if answer.status >= 300 else 0
                if left is None or left > limit:
                    answer.close()
                else:
                    answer.drain_conn()  # or its rest would be read as the next answer
                answer.release_conn()

    def _body(self, answer: urllib3.BaseHTTPResponse, url: str, max_bytes: int) -> bytes:
        """Up to `max_bytes` of the body, in bounded time."""
        seconds = self._timeout_seconds + max_bytes / SLOWEST_BYTES_PER_SECOND
        deadline = self._clock() + seconds
        data = bytearray()
        while len(data) < max_bytes:
            piece = answer.read1(min(_PIECE_BYTES, max_bytes - len(data)))
            if not piece:
                break
            data += piece
            if self._clock() > deadline:
                raise BadAnswer("timeout", f"{url} took longer than {seconds:.0f} s", True)
        return bytes(data)


def _check_status(answer: urllib3.BaseHTTPResponse, url: str) -> None:
    status = answer.status
    if status in (200, 206):
        return
    wait = retry_after_seconds(answer.headers.get("Retry-After"), datetime.now(UTC))
    raise BadAnswer(f"http_{status}", f"{url} returned {status}", status in BUSY, wait)


def _check_range(answer: urllib3.BaseHTTPResponse, url: str, offset: int, length: int) -> None:
    """Raise BadAnswer unless the server sends the requested range; the file may end within it."""
    content_range = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if content_range is None or content_range[1] is None:
        kind = answer.headers.get("Content-Type", "")
        raise BadAnswer("wrong_range", f"{url} sent {kind!r} instead of a range", True)
    first, last = int(content_range[1]), int(content_range[2])
    if first == offset and last == offset + length - 1:
        return
    if (
        first == offset
        and content_range[3] != "*"
        and int(content_range[3]) == last + 1 < offset + length
    ):
        raise BadAnswer("past_end", f"{url} ends at {content_range[3]}, before {offset + length}")
    asked = f"{offset}-{offset + length - 1}"
    raise BadAnswer("wrong_range", f"{url} sent {first}-{last} instead of {asked}", True)


def _bad_answer(url: str, error: HTTPError) -> BadAnswer:
    """The BadAnswer that an error of urllib3 stands for."""
    cause: BaseException = error
    if isinstance(error, MaxRetryError) and error.reason is not None:
        cause = error.reason
    if isinstance(cause, ProtocolError) and isinstance(cause.args[-1], HTTPException):
        cause = cause.args[-1]
    if isinstance(cause, NewConnectionError):  # which is a ConnectTimeoutError in some versions
        return BadAnswer("no_connection", f"{url}: {cause}", True)
    if isinstance(cause, ConnectTimeoutError | ReadTimeoutError):
        return BadAnswer("timeout", f"{url}: no response", True)
    if isinstance(cause, IncompleteRead | InvalidChunkLength):
        return BadAnswer("short_body", f"{url}: {cause}", True)
    if isinstance(cause, LocationParseError):
        return BadAnswer("bad_url", f"{url}: {cause}")
    return BadAnswer("reset", f"{url}: {cause!r}", True)
