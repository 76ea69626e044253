PYTHON ?= python3
BIN := .venv/bin
# the tests of single modules; the files at the top of tests/ run whole builds
UNITS := tests/crawl tests/ranker tests/graphs tests/pipeline tests/models

# where it is set, each of the many processes would compile all modules again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-quick test all-tests fast lint format bench clusters
.DELETE_ON_ERROR:

help:
	@echo 'make demo     build the bundled sample, check it, train a model that learns, summarize'
	@echo 'make demo-quick  the same without the model that learns'
	@echo 'make test     lint, type check, all tests'
	@echo 'make fast     the tests of single modules, without the slow ones'
	@echo 'make lint     ruff and mypy'
	@echo 'make format   format the code and apply safe fixes'
	@echo 'make bench    the benchmarks that need no data'
	@echo 'make clusters  the same build on Dask, a portable runner and others found here'

.venv/ready: setup.py constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --progress-bar on --constraint constraints.txt --editable '.[dev]'
	touch $@

# The whole flow on the bundled sample: a dataset, a full check of it, tiny models, their summaries.
# The sample is too small to learn from: its summaries are poor.
demo-quick: .venv/ready
	$(BIN)/wikisum build --articles tests/golden/sample.xml.bz2 \
	  --warcs 'tests/golden/sample-*.gz' --search-results tests/golden/search.jsonl \
	  --vocab-size 1000 --out out/demo
	$(BIN)/wikisum validate out/demo
	$(BIN)/wikisum train ranker --preset tiny --steps 100 --validate-every 50 \
	  --data out/demo --out out/demo-ranker
	$(BIN)/wikisum evaluate ranking --data out/demo --split test --run out/demo-ranker
	$(BIN)/wikisum train summarizer --preset tiny --data out/demo --out out/demo-ht \
	  --steps 50 --warmup-steps 10 --validate-every 25
	$(BIN)/wikisum summarize --run out/demo-ht --checkpoint last --split test \
	  --min-tokens 20 --max-tokens 100 --block-ngram 3 --out out/demo-ht/test.jsonl
	$(BIN)/wikisum evaluate summaries out/demo-ht/test.jsonl --data out/demo --split test \
	  --out out/demo-ht/scores
	@echo 'open out/demo/report/index.html and out/demo-ht/scores/index.html in a browser'

# The same, then a model that learns: 2,000 generated articles about invented things.
demo: demo-quick
	test -d out/demo-topics || $(BIN)/python -m benchmarks.topics --out out/demo-topics \
	  --articles 2000 --facts 2 --distractors 4 --place start
	$(BIN)/wikisum train summarizer --preset tiny --data out/demo-topics --out out/demo-model \
	  --steps 500 --warmup-steps 100 --validate-every 250 --batch-tokens 2048 --lead-tokens 60
	$(BIN)/wikisum summarize --run out/demo-model --split test --beam 2 --max-tokens 60 \
	  --out out/demo-model/test.jsonl
	$(BIN)/wikisum evaluate summaries out/demo-model/test.jsonl --data out/demo-topics \
	  --split test --out out/demo-model/scores
	$(BIN)/python -m benchmarks.show_summary out/demo-model/test.jsonl
	@echo 'open out/demo/report/index.html and out/demo-model/scores/index.html in a browser'

# lint and the tests at the same time: each alone leaves a core idle now and then
test: .venv/ready
	$(MAKE) --jobs 2 lint all-tests

all-tests: .venv/ready
	$(BIN)/pytest -n 4 --dist worksteal --durations 40

fast: .venv/ready
	$(BIN)/pytest -n 2 --dist worksteal -m 'not slow' $(UNITS)

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Figures that need no data; benchmarks/*.md say how the others are run.
bench: .venv/ready
	$(BIN)/python -m benchmarks.rouge
	$(BIN)/python -m benchmarks.ranking_speed
	$(BIN)/python -m benchmarks.ranker_speed

# The same build on every engine that this machine offers (benchmarks/clusters.py).
clusters: .venv/ready
	$(BIN)/python -m benchmarks.clusters --out out/clusters
	$(BIN)/python -m benchmarks.worker_kills --out out/kills
