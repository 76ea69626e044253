import ast

from benchmarks.mutants import ROOT, draw, find_again, mutants_of


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


def test_a_mutant_is_found_again_after_its_line_has_moved():
    (mutant,) = draw(["graphs"], 1, 3)
    row = {**mutant._asdict(), "line": mutant.line + 2, "start": 0}
    assert find_again(row) == mutant
    assert find_again({**row, "text": "gone = 1"}) is None
    assert find_again({**row, "path": "graphs/gone.py"}) is None
