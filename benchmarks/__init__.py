"""Speeds this project defends, each measured against a yardstick in the same run: ``python -m benchmarks``."""
