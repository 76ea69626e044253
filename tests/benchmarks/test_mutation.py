import ast

from benchmarks.mutation import ROOT, draw, mutants_of, nearest_tests


def test_every_mutant_is_another_program():
    path = ROOT / "crawl" / "paragraphs.py"
    text = path.read_text()
    mutants = mutants_of(path)
    assert mutants
    for mutant in mutants:
        assert text[mutant.start : mutant.end] == mutant.before
        changed = text[: mutant.start] + mutant.after + text[mutant.end :]
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), mutant


def test_one_change_per_line_and_the_same_for_the_same_seed():
    drawn = draw(["graphs"], 10, 3)
    assert drawn == draw(["graphs"], 10, 3)
    assert len({(mutant.path, mutant.line) for mutant in drawn}) == 10


def test_the_nearest_tests_come_first():
    tests = nearest_tests("ranker/data/vocab.py", ROOT)
    assert tests == [["tests/ranker/data/test_vocab.py"], ["tests/ranker/data"], ["tests/ranker"]]
