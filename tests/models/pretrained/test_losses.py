"""Our loss, logits and searches beside those that transformers computes itself."""
