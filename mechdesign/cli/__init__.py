"""The command line: ``python -m mechdesign`` and ``mechdesign``."""

from mechdesign.cli.app import app, main

__all__ = ["app", "main"]
