PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench
.DELETE_ON_ERROR:

.venv/ready: setup.py constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

# The whole flow on the bundled sample: a dataset, a full check of it, tiny models, their summaries.
demo: .venv/ready
	$(BIN)/wikisum build --articles tests/golden/sample.xml.bz2 \
	  --warcs 'tests/golden/sample-*.gz' --search-results tests/golden/search.jsonl \
	  --vocab-size 1000 --out out/demo
	$(BIN)/wikisum validate out/demo
	$(BIN)/wikisum train ranker --preset tiny --steps 100 --evaluate-every 50 \
	  --data out/demo --out out/demo-ranker
	$(BIN)/wikisum evaluate ranking --data out/demo --split test --run out/demo-ranker
	$(BIN)/wikisum train summarizer --preset tiny --data out/demo --out out/demo-ht \
	  --steps 150 --warmup-steps 30 --validate-every 50
	$(BIN)/wikisum summarize --run out/demo-ht --checkpoint last --split test \
	  --min-tokens 20 --max-tokens 100 --block-ngram 3 --out out/demo-ht/test.jsonl
	$(BIN)/wikisum evaluate summaries out/demo-ht/test.jsonl --data out/demo --split test \
	  --out out/demo-ht/scores

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
	$(BIN)/python -m benchmarks.ranker_speed
