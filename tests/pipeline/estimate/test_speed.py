from wikisum.pipeline.estimate import speed


def test_the_speed_is_rounds_per_cpu_second_over_those_of_the_reference(monkeypatch):
    """Twice the rounds of the reference core in a second are a speed of 2."""
    seconds = iter([10.0, 11.0])
    monkeypatch.setattr(speed.time, "process_time", lambda: next(seconds))
    monkeypatch.setattr(speed, "REFERENCE_ROUNDS", 3.0)
    assert speed.core_speed(rounds=6) == 2.0
