"""The error that ends a command with one line."""


class JobFailed(Exception):
    """A job could not be done; the message is one line for the person who started it."""
