"""Errors in files of datasets and runs, which another program may have written."""


class BadFile(ValueError):
    """A file of a dataset or of a run does not hold what its format asks for.

    `str(error)` names the file and, of a table, the row, counted from 0.
    """
