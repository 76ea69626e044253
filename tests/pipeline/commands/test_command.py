import pytest

from wikisum.pipeline.commands.command import BAD_CALL, FAILED, Command, Commands, Parser


def bake(args):
    """Bake a cake.

    It takes an hour.
    """
    return 7


def with_flags(parser):
    parser.add_argument("--minutes", type=int)
    parser.add_argument("--flour", required=True)


COMMANDS = {
    "bake": Command(bake, [with_flags], ["kitchen bake --flour rye"]),
    "wash dishes": Command(bake),
}


@pytest.fixture
def parser():
    found = Parser(prog="kitchen", description="Cooks.", epilog="The end.")
    commands = Commands(found, "tests.pipeline.commands")
    commands.section("sweet")
    commands.add("bake", "test_command", "Bake a cake.")
    commands.section("other")
    group = commands.group("wash", "Wash things.")
    group.add("dishes", "test_command", "Wash the dishes.")
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


def test_a_module_that_cannot_be_imported_is_named_when_its_command_is_called(capsys):
    parser = Parser(prog="kitchen")
    Commands(parser, "tests.pipeline.commands").add("grill", "no_such_grill", "Grill.")
    assert "Grill." in parser.format_help()
    with pytest.raises(SystemExit) as left:
        parser.parse_args(["grill"])
    assert left.value.code == FAILED
    assert "kitchen grill: needs tests.pipeline.commands.no_such_grill" in capsys.readouterr().err
