from wikisum.crawl.wikipedia.strip import strip_plain


def test_sections_references_and_categories_of_a_page():
    plain = strip_plain(
        "{{Infobox|a={{b}}}}'''Foo''' is a [[town|small town]].<ref>http://a.example/ x</ref>\n"
        "[[File:A.jpg|thumb|a [[caption]]]]\n== History ==\nOld. [[Category:Towns|Foo]]\n"
    )
    assert plain.sections == [("", 1, "Foo is a small town."), ("History", 2, "Old.")]
    assert plain.cited == ["http://a.example/"]
    assert plain.categories == ["Towns"]
