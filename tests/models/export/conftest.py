import pytest

from benchmarks.topics import TopicSettings, write_topics


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("data") / "data"
    write_topics(out, 40, TopicSettings(facts=2, distractors=4), 400)
    return out
