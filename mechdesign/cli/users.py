"""Which users a data file holds, with a word to the user where that can be read in two ways."""

from __future__ import annotations

from pathlib import Path

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.collect.datasets import Dataset, gaps, likely_header, parse_domain_labels, read_dataset

_SHOWN = 40


def read_users(path: Path, column: str | None, domain: str | None) -> Dataset:
    """The users of a file; the domain, as text, is the one given or else what is observed."""
    if domain is not None:
        return read_dataset(path, column=column, domain=parse_domain_labels(domain))
    data = read_dataset(path, column=column)
    header = likely_header(path, data) if column is None else None
    if header is not None:
        _tell(header, is_item=header in data.labels)
    return data


def warn_of_gaps(data: Dataset) -> None:
    """Whole numbers nobody holds may be items, too."""
    missing = gaps(data.labels)
    if missing:
        output.warn(
            f"{missing} whole numbers between the observed labels are no items; pass --domain LO..HI if they are"
        )


def _tell(header: str, *, is_item: bool) -> None:
    name = repr(plot.printable(header, _SHOWN))
    if is_item:
        output.warn(f"{name} in the first row is in no other; if it is a header pass --column NAME")
    else:
        output.warn(f"{name} above the numbers was taken for a header; if it is an item pass --domain with all items")
