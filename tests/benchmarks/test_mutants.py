import ast
import subprocess

from benchmarks import mutants as drawing
from benchmarks.mutants import ROOT, changed_lines, draw, find_again, mutants_of


def test_every_mutant_is_another_program():
    path = ROOT / "crawl" / "paragraphs.py"
    text = path.read_text()
    mutants, unchanged = mutants_of(path), ast.dump(ast.parse(text))
    assert mutants
    for mutant in mutants:
        assert text[mutant.start : mutant.end] == mutant.before
        changed = text[: mutant.start] + mutant.after + text[mutant.end :]
        assert ast.dump(ast.parse(changed)) != unchanged, mutant


def test_one_change_per_line_and_the_same_for_the_same_seed():
    drawn = draw(["graphs"], 10, 3)
    assert drawn == draw(["graphs"], 10, 3)
    assert len({(mutant.path, mutant.line) for mutant in drawn}) == 10


def test_lines_that_changed_since_a_commit(tmp_path, monkeypatch):
    """The second line of one file is changed, another file is new."""
    monkeypatch.setattr(drawing, "ROOT", tmp_path)

    def git(*words):
        identity = ["-c", "user.name=A", "-c", "user.email=a@host.example"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True)

    (tmp_path / "one.py").write_text("a = 1\nb = 1\nc = 1\n")
    git("init", "--quiet")
    git("add", "one.py")
    git("commit", "--quiet", "--message", "first")
    (tmp_path / "one.py").write_text("a = 1\nb = 2\nc = 1\n")
    (tmp_path / "two.py").write_text("d = 1\ne = 1\n")
    git("add", "two.py")
    assert changed_lines("HEAD") == {("one.py", 2), ("two.py", 1), ("two.py", 2)}


def test_a_mutant_is_found_again_after_its_line_has_moved():
    (mutant,) = draw(["graphs"], 1, 3)
    row = {**mutant._asdict(), "line": mutant.line + 2, "start": 0}
    assert find_again(row) == mutant
    assert find_again({**row, "text": "gone = 1"}) is None
    assert find_again({**row, "path": "graphs/gone.py"}) is None
