"""Small tables, a collection of them, and stores that close."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from mechdesign.mechanisms import catalogue
from mechdesign.tables import Labels, Table, make_table
from mechdesign.tables.reports import Attribute, Collection, Store
from mechdesign.words.domains import Finite

TODAY, LATER = date(2030, 1, 1), date(2030, 12, 31)


@pytest.fixture(scope="session")
def vote() -> Table:
    names = Labels(("no", "yes"), ("no", "yes"))
    return make_table(catalogue.randomised_response(1.0, Finite((0, 1))), 16, labels=names)


@pytest.fixture(scope="session")
def newer_vote() -> Table:
    names = Labels(("no", "yes"), ("no", "yes"))
    return make_table(catalogue.randomised_response(2.0, Finite((0, 1))), 16, labels=names)


@pytest.fixture(scope="session")
def pay() -> Table:
    return make_table(catalogue.pm(0.5))


@pytest.fixture(scope="session")
def survey(vote: Table, pay: Table) -> Collection:
    return Collection("survey", "split", (Attribute("vote", vote), Attribute("pay", pay)))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """A store of this test; a second call closes it and opens it again, as a new process would."""
    stores: list[Store] = []

    def open_again(name: str = "store.db") -> Store:
        for store in stores:
            store.close()
        stores.append(Store(tmp_path / name, new=not (tmp_path / name).exists()))
        return stores[-1]

    yield open_again
    for store in stores:
        store.close()
