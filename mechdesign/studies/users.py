"""Which users a data file holds, with a word to the user where that can be read in two ways."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mechdesign.values.answers import Say

if TYPE_CHECKING:
    from mechdesign.studies.frequencies.datasets import Dataset


def read_users(path: Path, column: str | None, domain: str | None, warn: Say, *, numeric: bool = False) -> Dataset:
    """The users of a file; the domain, as text, is the one given or else what is observed."""
    from mechdesign.studies.frequencies.datasets import is_lone_first, parse_domain_labels, read_dataset

    if domain is not None:
        return read_dataset(path, column=column, domain=parse_domain_labels(domain), numeric=numeric)
    data = read_dataset(path, column=column, numeric=numeric)
    if column is None and is_lone_first(path, data):
        warn("the label in the first row is in no other; if it is a header pass --column NAME")
    return data


def warn_of_gaps(data: Dataset, warn: Say) -> None:
    """Whole numbers nobody holds may be items, too."""
    from mechdesign.studies.frequencies.datasets import gaps

    missing = gaps(data.labels)
    if missing:
        warn(f"{missing} whole numbers between the observed labels are no items; pass --domain LO..HI if they are")
