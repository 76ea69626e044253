"""Errors in data. The pipeline catches these and no others, and counts them by reason."""


class DataError(Exception):
    """One record, page, line or article is unusable; the job continues without it.

    `reason` is a short snake_case word: the counter's name and the `reason` column of `dropped/`.
    `str(error)` is the detail for a person. `offset` is the byte offset in the file, where known.
    """

    def __init__(self, reason: str, detail: str = "", offset: int | None = None) -> None:
        super().__init__(detail or reason)
        self.reason = reason
        self.offset = offset


class BadUrl(DataError):
    """A string that is not the URL of a web page."""


class BadRecord(DataError):
    """A WARC, ARC or WET record that cannot be read, or is not a page."""


class BadPage(DataError):
    """A page without usable text."""


class BadArticle(DataError):
    """A page of the dump that is not a usable article."""


class BadLine(DataError):
    """A line of an input list that cannot be read."""


class BadAnswer(DataError):
    """A server, or a file system, did not return the requested bytes.

    `is_transient` is True if a retry may succeed; `wait_seconds` is how long the server asks us to
    wait.
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
