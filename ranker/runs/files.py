"""The names of the files in the folder of a training run. Knows no torch."""

SETTINGS = "settings.json"
VOCAB = "vocab.model"
LOG = "log.jsonl"
LAST = "last.safetensors"
BEST = "best.safetensors"
