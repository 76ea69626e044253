"""Reasons for which several stages drop rows, with one sentence each.

A reason that only one stage knows stands in that stage's `stage.py`. `<code>` stands for the three
digits of an HTTP status.
"""

import re

URLS = {
    "bad_url": "The URL cannot be parsed or has no valid host or port.",
    "not_http": "The URL is not a web address (http or https).",
    "url_too_long": "The URL is longer than 4,096 characters.",
}
RECORDS = {
    "bad_encoding": "The body cannot be decompressed as its headers say.",
    "bad_record": "The record of the crawl file is damaged.",
    "blocked_page": "The server showed a refusal: a block, a captcha, a request for JavaScript.",
    "http_status_<code>": "The server answered the crawler with this status, so there is no page.",
    "no_text": "The page has no text, or no paragraph is prose.",
    "not_a_response": "The record does not hold an HTTP response.",
    "not_a_warc": "The file is not a WARC, ARC or WET file.",
    "not_html": "The page is neither HTML nor plain text.",
    "other_language": "The prose of the page is in another language than the articles.",
    "page_too_large": "The page is larger than --max-page-bytes or than the extractor's limit.",
    "revisit": "The record only refers to an earlier capture of the page.",
    "too_deep": "The HTML is nested too deeply.",
    "too_many_attributes": "The HTML has too many attributes.",
    "too_many_copies": "The HTML would make the parser copy too many unclosed elements.",
    "too_many_tags": "The HTML has too many tags.",
    "truncated_record": "The record is cut short, in the file or by the crawler.",
    "wrong_digest": "The payload does not have the digest that the record or the index states.",
}
SERVERS = {
    "bad_url": "The URL cannot be parsed or has no valid host or port.",
    "http_<code>": "The server answered with this status.",
    "no_connection": "The server could not be reached.",
    "no_such_file": "The file does not exist.",
    "past_end": "The file ends before the requested range.",
    "range_ignored": "The server sent the whole file where a range far inside it was requested.",
    "reset": "The connection was lost.",
    "short_body": "The server sent fewer bytes than it announced or than were requested.",
    "timeout": "The server did not respond in time.",
    "too_large": "The file is larger than the limit.",
    "unreadable": "The filesystem reported an error.",
    "wrong_range": "The server sent another range than the requested one.",
}


def without_status(reason: str) -> str:
    """The name under which a reason is declared: `http_404` as `http_<code>`."""
    return re.sub(r"^(http_(?:status_)?)\d{3}$", r"\1<code>", reason)
