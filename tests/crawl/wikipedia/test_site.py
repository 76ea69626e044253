from wikisum.crawl.wikipedia.site import ENGLISH, hidden_link, site_of


def test_namespaces_of_the_dump_are_added_to_the_known_ones():
    site = site_of("xx", {6: "Fyle", 14: "Kynd", 0: ""})
    assert hidden_link(site.hidden).match("Fyle:A.jpg")
    assert hidden_link(site.hidden).match(" Kategorie : A")
    assert hidden_link(site.categories).match("Kynd:Towns")[1] == "Towns"
    assert not hidden_link(ENGLISH.hidden).match("Fyle:A.jpg")


def test_file_names_of_other_wikis_are_known():
    for name in ("ملف", "קובץ", "ファイル", "Файл", "파일", "Datei", "Fichier"):
        assert hidden_link(ENGLISH.hidden).match(f"{name}:a.jpg"), name
    assert not hidden_link(ENGLISH.hidden).match("Filer: a story")
