import pytest

from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.commands import settings as flags
from wikisum.pipeline.commands.command import Parser
from wikisum.pipeline.examples.settings import ExampleSettings, GraphSettings, VocabSettings
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.stages import setting_kinds
from wikisum.pipeline.wanted.settings import WantedSettings

GROUPS = (
    flags.add_preset_flags, flags.add_article_flags, flags.add_wanted_flags, flags.add_index_flag,
    flags.add_file_flags, flags.add_live_flags, flags.add_build_settings, flags.add_server_flags,
    flags.add_retry_flag,
)  # fmt: skip


def parsed(*words):
    parser = Parser(prog="wikisum build")
    for add in GROUPS:
        add(parser)
    parser.add_argument("--out", default="out")
    return parser.parse_args(["--articles", "a", *words])


def test_defaults_are_those_of_the_settings():
    found = flags.build_settings(parsed(), *setting_kinds())
    assert all(found[kind] == kind() for kind in setting_kinds())


def test_flags_of_one_title_stand_together():
    parser = Parser(prog="wikisum build")
    flags.add_article_flags(parser)
    flags.add_build_settings(parser)
    assert parser.format_help().count("articles:") == 1


def test_each_group_takes_its_flags():
    found = flags.build_settings(
        parsed("--limit", "3", "--titles", "t", "--corpus", "search", "--crawl", "A",
               "--crawl", "B",
               "--extractor", "soup", "--max-words", "9", "--keep-duplicates", "--shards", "2",
               "--graph-paragraphs", "5", "--vocab-sample", "7", "--vocab", "v"),
        *setting_kinds(),
    )  # fmt: skip
    assert found[ArticleSettings] == ArticleSettings(limit=3, titles="t")
    assert found[WantedSettings].corpus == "search"
    assert found[LocateSettings].crawls == ("A", "B")
    assert found[PageSettings].extractor == "soup"
    assert (found[ExampleSettings].max_words, found[ExampleSettings].keep_duplicates) == (9, True)
    assert (found[GraphSettings].graph_paragraphs, found[ExampleSettings].shards) == (5, 2)
    assert found[VocabSettings] == VocabSettings(sample=7, vocab="v")


def test_flags_take_precedence_over_the_preset():
    args = parsed("--like-t2t", "--max-words", "9", "--no-keep-duplicates")
    found = flags.build_settings(args, *setting_kinds())
    assert found[PageSettings] == flags.LIKE_T2T[PageSettings]
    assert (found[ExampleSettings].max_words, found[ExampleSettings].keep_duplicates) == (9, False)
    assert found[ExampleSettings].text_rule == "t2t"


@pytest.mark.parametrize(
    ("words", "is_right"),
    [
        (["--index-server", "https://x.example"], False),
        (["--index-server", "https://x.example", "--crawl", "A"], False),
        (["--index-server", "https://x.example", "--index", "server"], False),
        (["--index-server", "https://x.example", "--crawl", "A", "--index", "server"], True),
        (["--crawl", "A"], True),
    ],
)
def test_an_index_server_is_one_that_is_asked(words, is_right):
    if is_right:
        flags.check_crawl_flags(parsed(*words))
    else:
        with pytest.raises(ValueError, match="--index-server goes with --crawl"):
            flags.check_crawl_flags(parsed(*words))


@pytest.mark.parametrize(
    "words",
    [
        ["--crawl", "A", "--date", "2024", "--captures", "3", "--retry", "timeout"],
        ["--crawl", "A", "--index", "columnar"],
        ["--live", "--retry", "timeout"],
        ["--warcs", "x"],
    ],
)
def test_flags_of_crawls_that_have_an_effect(words):
    flags.check_crawl_flags(parsed(*words))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--graphs", "none", "--similarity-threshold", "0.2"], "--similarity-threshold has no"),
        (["--graphs", "discourse", "--similarity-threshold", "0.2"], "with --graphs discourse"),
        (["--graphs", "none", "--graph-paragraphs", "5"], "--graph-paragraphs has no effect"),
        (["--graphs", "none", "--entities", "fast"], "--entities has no effect"),
        (["--graphs", "similarity", "--entities", "spacy"], "--entities has no effect"),
        (["--graphs", "similarity", "--entity-paragraphs", "9"], "--entity-paragraphs has no"),
        (["--entities", "none", "--entity-paragraphs", "3"], "no effect with --entities none"),
        (["--graphs", "none"], None),
        (["--like-t2t", "--graphs", "none"], None),
        (["--graphs", "similarity", "--graph-paragraphs", "5"], None),
        (["--graphs", "none", "--entities", "none"], None),
        (["--graphs", "discourse", "--entities", "none"], None),
        (["--entity-paragraphs", "3", "--similarity-threshold", "0.3"], None),
    ],
)
def test_flags_of_graphs_that_are_not_made_are_refused(words, message):
    if message is None:
        flags.build_settings(parsed(*words), GraphSettings)
    else:
        with pytest.raises(ValueError, match=message):
            flags.build_settings(parsed(*words), GraphSettings)


def test_an_index_server_is_reached_by_http(capsys):
    with pytest.raises(SystemExit):
        parsed("--index-server", "ftp://x")
    assert "--index-server must be an http or https URL, not 'ftp://x'" in capsys.readouterr().err


def test_retry_names_the_known_reasons(capsys):
    with pytest.raises(SystemExit):
        parsed("--retry", "foo")
    error = capsys.readouterr().err
    assert "--retry has an unknown reason 'foo'; known reasons: bad_index," in error


def test_live_settings():
    assert flags.live_settings(parsed()) is None
    contact = ["--live", "--contact", "you@host.example"]
    found = flags.live_settings(parsed(*contact, "--live-delay", "2", "--allow-private"))
    assert found == LiveSettings("you@host.example", delay_seconds=2.0, allow_private=True)
    with pytest.raises(ValueError, match="--live needs --contact"):
        flags.live_settings(parsed("--live"))
    with pytest.raises(ValueError, match="--live-max-seconds goes with --live"):
        flags.live_settings(parsed("--live-max-seconds", "2"))
    with pytest.raises(ValueError, match="--allow-private goes with --live"):
        flags.live_settings(parsed("--allow-private"))


def test_missing_inputs_name_flag_and_path(tmp_path):
    missing = str(tmp_path / "missing.xml")
    with pytest.raises(FileNotFoundError, match=r"--articles: no such file: .*missing\.xml"):
        flags.input_files("--articles", [missing])
    assert flags.input_file("--titles", None) == []
    with pytest.raises(FileNotFoundError, match=r"--metadata: .* is not a directory with files"):
        flags.metadata_folder(str(tmp_path))
    assert flags.metadata_folder(None) is None
    text = tmp_path / "text"
    text.write_text("no model")
    with pytest.raises(ValueError, match="SentencePiece model"):
        flags.vocab_file(str(text))


def test_paths_in_lists_are_relative_to_the_first_root():
    assert flags.root_of_lists(parsed()) is None
    assert flags.root_of_lists(parsed("--crawl-root", "a", "b")) == "a"
