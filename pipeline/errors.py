"""What ends a command, told in one line."""


class JobFailed(Exception):
    """A job could not be done; the message is one line for the person who started it."""
