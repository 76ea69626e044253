import pytest


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("({{langx|ru|текст|tekst}})", "(Russian: текст, romanized: tekst)"),
        ("{{lang|fr|pont}}", "pont"),
        ("{{nihongo|Tokyo|東京|Tōkyō}}", "Tokyo (東京, Tōkyō)"),
        ("{{nihongo||東京|Tōkyō}}", "Tōkyō (東京)"),
        ("{{transl|ar|al-Jazā'ir}}", "al-Jazā'ir"),
        ("{{zh|s=汉|t=漢|p=Hàn}}", "traditional Chinese: 漢; simplified Chinese: 汉; pinyin: Hàn"),
        ("{{langx|ru|текст|label=none}}", "текст"),
        ("{{langx|ru|текст|lit=text}}", "Russian: текст, lit. 'text'"),
        ("{{langx|sr-Latn|tekst}}", "Serbian: tekst"),
        ("{{langx|xx|tekst}}", "tekst"),
        ("{{langx|ru|текст|-}}", "Russian: текст"),
        ("{{nihongo|Tokyo}}", "Tokyo"),
        ("{{nihongo|Tokyo|東京|Tōkyō|lead=yes}}", "Tokyo (Japanese: 東京, Hepburn: Tōkyō)"),
        ("{{nihongo|Tokyo|東京||extra=capital}}", "Tokyo (東京, capital)"),
        ("{{nihongo3|Tokyo|東京|Tōkyō}}", "Tōkyō (東京, Tokyo)"),
        ("{{zh|漢}}", "漢"),
        ("{{korean|hangul=서울|lk=on}}", "Korean: 서울; on"),
        ("{{読み仮名|漢字|かんじ}}", "漢字（かんじ）"),
        ("{{読み仮名|漢字}}", "漢字"),
    ],
)
def test_what_is_shown(markup, text, show):
    assert show(markup) == text
