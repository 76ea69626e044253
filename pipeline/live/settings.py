"""Settings of requests to the web."""

from dataclasses import dataclass

from wikisum.pipeline.remote.settings import MAX_PAUSE_SECONDS, contact_setting, user_agent
from wikisum.pipeline.setting import MIB, max_page_bytes_setting
from wikisum.ranker.setting import Checked, setting


@dataclass(frozen=True)
class LiveSettings(Checked):
    """How pages are fetched from the web.

    A host gets one request at a time. `max_seconds` and `max_bytes` limit a whole run.
    """

    contact: str | None = contact_setting()
    concurrency: int = setting(32, "maximum concurrent requests, to different hosts", at_least=1)
    delay_seconds: float = setting(
        1.0,
        "minimum pause between requests to one host",
        flag="delay",
        metavar="SECONDS",
        at_least=0,
        at_most=MAX_PAUSE_SECONDS,
    )
    timeout_seconds: float = setting(
        30.0,
        "time limit of a request",
        flag="timeout",
        metavar="SECONDS",
        above=0,
        at_most=MAX_PAUSE_SECONDS,
    )
    attempts: int = setting(3, "maximum attempts per page", at_least=1)
    max_page_bytes: int = max_page_bytes_setting(8)
    max_seconds: float | None = setting(
        None, "stop after this time", metavar="SECONDS", above=0, default_text="no limit"
    )
    max_bytes: int | None = setting(
        None, "stop after receiving this much", metavar="BYTES", at_least=1, default_text="no limit"
    )
    segment_bytes: int = 256 * MIB  # of the WARC files that it writes
    allow_private: bool = setting(
        False,
        "also ask private and loopback addresses, and any port; link-local addresses are never "
        "asked",
    )
    any_port: bool = setting(False, "also connect to ports other than 80 and 443")

    @property
    def user_agent(self) -> str:
        """The User-Agent header of requests."""
        return user_agent(self.contact)
