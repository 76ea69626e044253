import pytest

from wikisum.pipeline.commands.command import BAD_CALL, Commands, Parser, first_line


def bake(args):
    """Bake a cake.

    It takes an hour.
    """
    return 7


def with_flags(parser):
    parser.add_argument("--minutes", type=int)
    parser.add_argument("--flour", required=True)


@pytest.fixture
def parser():
    found = Parser(prog="kitchen", description="Cooks.", epilog="The end.")
    commands = Commands(found)
    commands.section("sweet")
    commands.add("bake", bake, with_flags, examples=["kitchen bake --flour rye"])
    commands.section("other")
    group = commands.group("wash", "Wash things.")
    group.add("dishes", bake)
    return found


def test_the_help_groups_commands(parser):
    text = parser.format_help()
    assert "sweet:\n  bake  Bake a cake.\n" in text
    assert "other:\n  wash  Wash things.\n" in text
    assert text.startswith("usage: kitchen COMMAND ...\n\nCooks.\n")
    assert text.rstrip().endswith("The end.")


def test_the_help_of_a_command_is_dedented_and_ends_with_examples(parser, capsys):
    with pytest.raises(SystemExit) as left:
        parser.parse_args(["bake", "--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    assert "Bake a cake.\n\nIt takes an hour.\n" in text
    assert text.endswith("examples:\n  kitchen bake --flour rye\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bkae"], "kitchen: no command 'bkae'; did you mean bake? (see kitchen --help)"),
        (["xyz"], "kitchen: no command 'xyz' (see kitchen --help)"),
        ([], "kitchen: name a command: bake, wash (see kitchen --help)"),
        (["wash", "dish"], "kitchen wash: no command 'dish'; did you mean dishes?"),
        (["bake", "--minuets", "3"], "kitchen bake: no flag --minuets; did you mean --minutes?"),
        (["bake", "--minuets=3"], "kitchen bake: no flag --minuets; did you mean --minutes?"),
        (["bake", "--min", "3"], "kitchen bake: no flag --min; did you mean"),
        (["bake", "--qqq"], "kitchen bake: no flag --qqq (see kitchen bake --help)"),
        (["bake"], "kitchen bake: the following arguments are required: --flour"),
    ],
)
def test_an_error_is_one_line_with_a_suggestion(parser, words, message, capsys):
    with pytest.raises(SystemExit) as left:
        parser.parse_args(words)
    assert left.value.code == BAD_CALL
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_command_runs(parser):
    args = parser.parse_args(["bake", "--flour", "rye"])
    assert args.run(args, []) == 7
    assert args.prog == "kitchen bake"
    with pytest.raises(ValueError, match="takes no Beam flags: --runner=X"):
        args.run(args, ["--runner=X"])


def test_first_line():
    assert first_line("One.\n\nTwo.") == "One."
    assert first_line(None) == ""
