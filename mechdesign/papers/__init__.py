"""The papers beside the package: their printed claims, their theorems as files that run, and both as a page."""
