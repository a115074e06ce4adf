"""``python -m mechdesign``."""

from mechdesign.cli import main

main()
