from wikisum.models.judging.report.files import write_report
from wikisum.models.judging.report.results import results_of


def test_the_files_of_a_report(make_study, answer, tmp_path):
    study = make_study(comments=True)
    answer(study, lambda j, s, field: None if field == "comment" else 3)
    folders = tmp_path / "one", tmp_path / "a" / "two"
    for folder in folders:
        write_report(folder, results_of(study, 100, 0))
    one, two = ({p.name: p.read_bytes() for p in f.iterdir()} for f in folders)
    assert one == two
    assert sorted(one) == ["agreement.csv", "comparisons.csv", "index.html", "judgments.csv",
                           "means.csv", "report.md"]  # fmt: skip
    study.store.save(1, 1, {"comment": "Why?"})
    write_report(folders[0], results_of(study, 100, 0))
    assert "Why?" in (folders[0] / "comments.csv").read_text()
