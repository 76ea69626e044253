"""The records of a crawl file or of a share of it: here, on any filesystem, or on a server."""

from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.warc.split_points import records_between
from wikisum.crawl.warc.warc import PageRecord, Rejection, read_captures
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import PartWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.pages.plan import FileShare
from wikisum.pipeline.remote.access import Access, is_http
from wikisum.pipeline.remote.stream import RemoteFile


class CountingReader:
    """A binary stream that adds the bytes read from it to a ticker's work."""

    def __init__(self, raw: BinaryIO | RemoteFile, ticker: Ticker) -> None:
        self._raw = raw
        self._ticker = ticker

    def read(self, size: int = -1) -> bytes:
        data = self._raw.read(size)
        self._ticker.add(work=len(data))
        return data

    def seek(self, offset: int) -> int:
        return cast(BinaryIO, self._raw).seek(offset)


def read_records(
    share: FileShare,
    wanted: Callable[[str], bool],
    max_page_bytes: int,
    access: Access,
    part: PartWriter,
    keep_truncated: bool = False,
) -> Iterator[PageRecord | Rejection]:
    """The wanted records of a share, or the reason why a server does not give the file.

    A file on a server must be one share. The bytes read count as work of `part`, the requests as
    its costs. Raises OSError for a server that does not respond, so that a later run asks again.
    """

    def read(
        raw: BinaryIO | RemoteFile, start: int = 0, end: int | None = None
    ) -> Iterator[PageRecord | Rejection]:
        reader = cast(BinaryIO, CountingReader(raw, part.ticker))
        return read_captures(
            reader, wanted, max_page_bytes, start=start, end=end, keep_truncated=keep_truncated
        )

    file, first, before = share
    if not is_http(file.path):
        with files.open_input(file.path) as raw:
            if bounds := records_between(files.unbuffered(raw), first, before):
                yield from read(raw, *bounds)
        return
    remote = access.remote()
    try:
        with RemoteFile(remote, file.name) as stream:
            yield from read(stream)
    except BadAnswer as error:
        if error.is_transient:
            raise OSError(f"{file.path}: {error}") from error
        yield Rejection(None, error.reason, 0, str(error))
    part.costs.update(remote.costs)
