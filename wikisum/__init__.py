"""Rebuild WikiSum from a Wikipedia dump and a web crawl, and train on it."""

__version__ = "0.1.0"
