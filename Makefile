PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench
.DELETE_ON_ERROR:

.venv/ready: setup.py constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

# The whole flow on the bundled sample, then a full check of what it made.
demo: .venv/ready
	$(BIN)/wikisum build --articles tests/golden/sample.xml.bz2 \
	  --warcs 'tests/golden/sample-*.gz' --search-results tests/golden/search.jsonl \
	  --vocab-size 1000 --out out/demo
	$(BIN)/wikisum validate out/demo

test: .venv/ready lint
	$(BIN)/pytest -n 2

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Figures that need no data of one's own; benchmarks/*.md say how the others are run.
bench: .venv/ready
	$(BIN)/python -m benchmarks.rouge
	$(BIN)/python -m benchmarks.ranking_speed
