"""The records of a crawl file: here, on any filesystem, or on a server."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from crawl.errors import BadAnswer
from crawl.warc import Capture, Rejected, read_captures
from pipeline import files
from pipeline.files import InputFile
from pipeline.progress import Ticker
from pipeline.remote import Access, is_http
from pipeline.remote_file import RemoteFile


class CountingReader:
    """A binary stream that tells a ticker how far it has been read."""

    def __init__(self, raw: BinaryIO | RemoteFile, ticker: Ticker) -> None:
        self._raw = raw
        self._ticker = ticker

    def read(self, size: int = -1) -> bytes:
        data = self._raw.read(size)
        self._ticker.add(work=len(data))
        return data


def read_records(
    file: InputFile,
    wanted: Callable[[str], bool],
    max_page_bytes: int,
    access: Access,
    ticker: Ticker,
    effort: Counter[str],
) -> Iterator[Capture | Rejected]:
    """The wanted records of a file; of one that a server has not, the reason.

    What a server was asked is added to `effort`. Raises OSError where it does not answer, so that
    a later run asks again.
    """

    def read(raw: BinaryIO | RemoteFile) -> Iterator[Capture | Rejected]:
        reader = cast(BinaryIO, CountingReader(raw, ticker))
        return read_captures(reader, wanted, max_page_bytes)

    if not is_http(file.path):
        with files.open_input(file.path) as raw:
            yield from read(raw)
        return
    remote = access.remote()
    try:
        with RemoteFile(remote, file.name) as stream:
            yield from read(stream)
    except BadAnswer as error:
        if error.is_passing:
            raise OSError(f"{file.path}: {error}") from error
        yield Rejected(None, error.reason, 0, str(error))
    effort.update(remote.effort)
