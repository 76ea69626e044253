import gzip
import json

from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.language import detect


def test_language_of_text():
    assert detect("The bridge was opened in 1881 and carried trains until the line closed.") == "en"
    german = "Die Brücke wurde im Jahr 1881 eröffnet und trug Züge bis zur Schließung der Strecke."
    assert detect(german) == "de"
    assert detect("橋は千八百八十一年に開通し、今日では歩道として使われている。" * 3) == "ja"
    assert detect("这座桥于一八八一年建成，直到铁路关闭为止，一直供火车通行。" * 3) == "zh"


def test_chinese_and_japanese_beside_english():
    english = " a bridge in the city of Tavin, by Ada Holm"  # 43 characters
    assert detect("这座桥于一八八一年建成" * 2 + english) == "zh"  # a third of all
    assert detect("橋は一年に開通し今では道" * 2 + english) == "ja"
    assert detect("这座桥于" * 3 + english * 2) == "en"


def test_unsure():
    assert detect("Home News") is None
    assert detect("") is None
    assert detect("12 34 56 78 " * 20) is None


@given(st.text())
def test_any_text_gives_a_code_or_none(text):
    code = detect(text * 5)
    assert code is None or (len(code) == 2 and code.isalpha())
    assert detect(text * 5) == code


def test_agrees_with_what_real_pages_declare(real_data):
    with gzip.open(real_data / "extraction-dev.jsonl.gz") as lines:
        pages = [json.loads(line) for line in lines]
    declared = [p for p in pages if p["lang"] and "lorem" not in p["text"].lower()]
    right = [p for p in declared if detect(p["text"]) == p["lang"][:2].lower()]
    assert len(declared) > 50
    assert len(right) / len(declared) >= 0.95
