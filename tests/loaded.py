"""Load what commands load. The server of `tests/processes.py` imports this before it forks."""

import importlib
import os

os.cpu_count = lambda: 1  # as in conftest.py
os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is loaded
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
for module in ("pipeline.build", "pipeline.cli", "models.training.train"):
    importlib.import_module(f"wikisum.{module}")
importlib.import_module("torch._dynamo")  # which the first optimizer loads, in two seconds
importlib.import_module("wikisum.graphs.entities").recognizer()
importlib.import_module("tests.beam_memory").remember()
