"""One HTTP request for bytes of a file: those that were asked for, or what is wrong."""

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
MAX_SKIPPED_BYTES = 64 << 20  # of a file that is sent whole where a range was asked for
SLOWEST_BYTES_PER_SECOND = 4096
SMALL_BYTES = 4096  # an error page of that size is cheaper to read than a new connection is
_PIECE_BYTES = 1 << 16
_RANGE = re.compile(r"\s*bytes\s+(?:(\d{1,18})-(\d{1,18})|\*)/(\d{1,18}|\*)\s*", re.ASCII)


class RangeClient:
    """Asks once; who calls asks again. Keeps its connections; threads may share it.

    What raises BadAnswer: `http_NNN`, `timeout`, `reset`, `short_body`, `wrong_range` and
    `no_connection`, which may pass, but for a status other than 429, 500, 502, 503, 504;
    `past_end`, `range_ignored`, `too_large`, `bad_url`, which do not.
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
            block=True,  # never more connections to a host
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
            told = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
            if answer.status == 416 and told and told[3] != "*":
                return int(told[3])
            _check_status(answer, url)
            length = answer.headers.get("Content-Length", "")
            if answer.status == 206 and told and told[3] != "*":
                self._body(answer, url, 1)
                return int(told[3])
            if answer.status == 200 and length.isdigit():
                return int(length)
            raise BadAnswer("wrong_range", f"{url} does not tell its size", True)

    def get(self, url: str, max_bytes: int) -> bytes:
        """The whole body. Raises BadAnswer."""
        with self._asked(url, None) as answer:
            _check_status(answer, url)
            data = self._body(answer, url, max_bytes + 1)
            if len(data) > max_bytes:
                raise BadAnswer("too_large", f"{url} has over {max_bytes} bytes")
            told = answer.headers.get("Content-Length", "")
            if told.isdigit() and len(data) < int(told):
                raise BadAnswer("short_body", f"{len(data)} of {told} bytes of {url}", True)
            return data

    @contextmanager
    def _asked(self, url: str, ranges: str | None) -> Iterator[urllib3.BaseHTTPResponse]:
        """The answer to a request; its connection is kept if it was read to its end."""
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
                most = SMALL_BYTES if answer.status >= 300 else 0
                if left is None or left > most:
                    answer.close()
                else:
                    answer.drain_conn()  # or its rest would be read as the next answer
                answer.release_conn()

    def _body(self, answer: urllib3.BaseHTTPResponse, url: str, most: int) -> bytes:
        """Up to `most` bytes of the body, in bounded time."""
        seconds = self._timeout_seconds + most / SLOWEST_BYTES_PER_SECOND
        deadline = self._clock() + seconds
        data = bytearray()
        while len(data) < most:
            piece = answer.read1(min(_PIECE_BYTES, most - len(data)))
            if not piece:
                break
            data += piece
            if self._clock() > deadline:
                raise BadAnswer("timeout", f"{url} takes over {seconds:.0f} s", True)
        return bytes(data)


def _check_status(answer: urllib3.BaseHTTPResponse, url: str) -> None:
    status = answer.status
    if status in (200, 206):
        return
    wait = retry_after_seconds(answer.headers.get("Retry-After"), datetime.now(UTC))
    raise BadAnswer(f"http_{status}", f"{url} answers {status}", status in BUSY, wait)


def _check_range(answer: urllib3.BaseHTTPResponse, url: str, offset: int, length: int) -> None:
    """Hold what range is sent against what was asked for; a file may end before it does."""
    told = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if told is None or told[1] is None:
        kind = answer.headers.get("Content-Type", "")
        raise BadAnswer("wrong_range", f"{url} sends no range but {kind!r}", True)
    first, last = int(told[1]), int(told[2])
    if first == offset and last == offset + length - 1:
        return
    if first == offset and told[3] != "*" and int(told[3]) == last + 1 < offset + length:
        raise BadAnswer("past_end", f"{url} ends at {told[3]}, before {offset + length}")
    asked = f"{offset}-{offset + length - 1}"
    raise BadAnswer("wrong_range", f"{url} sends {first}-{last}, not {asked}", True)


def _bad_answer(url: str, error: HTTPError) -> BadAnswer:
    """What went wrong between us and the server, in our words."""
    cause: BaseException = error
    if isinstance(error, MaxRetryError) and error.reason is not None:
        cause = error.reason
    if isinstance(cause, ProtocolError) and isinstance(cause.args[-1], HTTPException):
        cause = cause.args[-1]
    if isinstance(cause, NewConnectionError):  # which is a ConnectTimeoutError in some versions
        return BadAnswer("no_connection", f"{url}: {cause}", True)
    if isinstance(cause, ConnectTimeoutError | ReadTimeoutError):
        return BadAnswer("timeout", f"{url}: no answer", True)
    if isinstance(cause, IncompleteRead | InvalidChunkLength):
        return BadAnswer("short_body", f"{url}: {cause}", True)
    if isinstance(cause, LocationParseError):
        return BadAnswer("bad_url", f"{url}: {cause}")
    return BadAnswer("reset", f"{url}: {cause!r}", True)
