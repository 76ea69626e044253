import io
import sys

import pytest

from tests.servers import Answer, Server
from wikisum.crawl.errors import BadAnswer
from wikisum.pipeline.commands import own_documents
from wikisum.pipeline.commands.own_documents import paragraphs_of_lines, read_paragraphs
from wikisum.pipeline.errors import JobFailed

PROSE = "The old mill stands at the river, where it has ground flour since the year 1702."


def pdf_of(lines):
    """A PDF of one page with these lines, written by hand."""
    text = "BT /F1 12 Tf 14 TL 50 700 Td " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF"
    return data + head.encode() + tail.encode()


def test_documents_are_read_in_order(tmp_path):
    text, html = tmp_path / "a.txt", tmp_path / "b.html"
    text.write_text(f"{PROSE}\nshort\n{PROSE} Twice.\n")
    html.write_text(f"<html><body><article><p>{PROSE}</p></article></body></html>")
    found = read_paragraphs([str(text), str(html)])
    assert [(p.document, p.position) for p in found] == [(0, 0), (0, 2), (1, 0)]
    assert found[2].text == PROSE


def test_standard_input_is_a_document(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PROSE.encode())))
    assert [p.text for p in read_paragraphs(["-"])] == [PROSE]


def test_a_pdf_is_read(tmp_path):
    path = tmp_path / "mill.pdf"
    lines = ["The old mill stands at the river, where it has", "ground flour since 1702."]
    path.write_bytes(pdf_of(lines))
    assert [p.text for p in read_paragraphs([str(path)])] == [" ".join(lines)]


def test_a_damaged_pdf_is_named(tmp_path):
    path = tmp_path / "mill.pdf"
    path.write_bytes(b"%PDF-1.4\nnothing")
    with pytest.raises(JobFailed, match=r"mill\.pdf: the PDF cannot be read"):
        read_paragraphs([str(path)])


def test_a_pdf_without_pypdf_is_refused_by_name(tmp_path, monkeypatch):
    path = tmp_path / "mill.pdf"
    path.write_bytes(pdf_of(["x"]))
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(JobFailed, match=r"mill\.pdf is a PDF.*pip install 'wikisum\[pdf\]'"):
        read_paragraphs([str(path)])


@pytest.mark.parametrize(
    ("lines", "paragraphs"),
    [
        (["a line that is long", "ends here.", "another one begins"],
         ["a line that is long ends here.", "another one begins"]),
        (["one", "", "two"], ["one", "two"]),
        (["it is contin-", "ued below"], ["it is continued below"]),
        (["a Franco-", "Prussian war"], ["a Franco- Prussian war"]),
        (["a full line ends a sentence.", "and the next goes on"],
         ["a full line ends a sentence. and the next goes on"]),
        ([], []),
    ],
)  # fmt: skip
def test_paragraphs_of_printed_lines(lines, paragraphs):
    assert list(paragraphs_of_lines(lines)) == paragraphs


def test_wrong_names_are_reported_in_words(tmp_path):
    missing = tmp_path / "missing.txt"
    with pytest.raises(FileNotFoundError, match=r"--text: there is no file .*missing\.txt"):
        read_paragraphs([str(missing)])
    with pytest.raises(FileNotFoundError, match="is a directory"):
        read_paragraphs([str(tmp_path)])
    missing.write_text("one\ntwo")
    with pytest.raises(JobFailed, match="none of 2 paragraphs is prose"):
        read_paragraphs([str(missing)])


def test_a_web_page_that_cannot_be_read_is_named(monkeypatch):
    def refuse(*_, **__):
        raise BadAnswer("no_connection", "http://a.example: no route", True)

    monkeypatch.setattr(own_documents.RangeClient, "fetch", refuse)
    with pytest.raises(BadAnswer, match=r"http://a\.example: no route"):
        read_paragraphs(["http://a.example"])


def test_a_web_page_is_read_in_the_charset_that_its_server_names():
    body = f"<p>{PROSE} Рядом стоит церковь.".encode("cp1251")
    answer = Answer(200, body, {"Content-Type": "text/html; charset=windows-1251"})
    with Server(lambda path: answer).running() as server:
        (found,) = read_paragraphs([f"http://127.0.0.1:{server.port}/mill"])
    assert found.text == f"{PROSE} Рядом стоит церковь."
    assert server.requests[0].agent.startswith("wikisum/")
