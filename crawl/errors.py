"""What can be wrong with data. The pipeline catches these and no others, and counts by reason."""


class DataError(Exception):
    """One record, page, line or article is unusable; the job goes on without it.

    `reason` is a short snake_case word: the counter's name and the `reason` column of `dropped/`.
    `str(error)` is the detail for a person. `offset` is the byte offset in the file, where known.
    """

    def __init__(self, reason: str, detail: str = "", offset: int | None = None) -> None:
        super().__init__(detail or reason)
        self.reason = reason
        self.offset = offset


class BadUrl(DataError):
    """A string that names no page on the web."""


class BadRecord(DataError):
    """A WARC, ARC or WET record that cannot be read, or is no page."""


class BadPage(DataError):
    """A page that gives no usable text."""


class BadArticle(DataError):
    """A page of the dump that is no usable article."""


class BadLine(DataError):
    """A line of an input list that cannot be read."""


class BadAnswer(DataError):
    """A server, or a file, does not give the bytes that it was asked for.

    `is_transient` says that it may do so later; `wait_seconds` is how long it asks us to wait.
    """

    def __init__(
        self,
        reason: str,
        detail: str = "",
        is_transient: bool = False,
        wait_seconds: float | None = None,
    ) -> None:
        super().__init__(reason, detail)
        self.is_transient = is_transient
        self.wait_seconds = wait_seconds
