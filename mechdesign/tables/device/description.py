"""The device file: which tables a device draws from, how many values it remembers and reports it makes a period."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from mechdesign.errors import FileProblem, InvalidInput, StateRefused, require_whole
from mechdesign.tables.checker import canonical
from mechdesign.tables.device.state import (
    MOST_NUMBER,
    MOST_REPORTS,
    MOST_STATE,
    MOST_VALUES,
    State,
    entry_size,
    length,
    read,
    written,
)
from mechdesign.tables.document import with_hash
from mechdesign.tables.kinds import ItemsLaw, Listed
from mechdesign.tables.origin import Origin
from mechdesign.tables.table import Table
from mechdesign.values import files
from mechdesign.values.declare import derived, frozen
from mechdesign.words.domains import Finite

FORMAT, VERSION = "mechdesign device", 1
_KEYS = {"format", "version", "table", "again", "values", "reports", "sha256"}


@frozen
class Device:
    """A question asked again and again: ``table`` draws for a value, once; ``again`` randomises that in every report.

    ``values`` is how many values a device remembers a draw for; with 0 every report is a fresh draw. ``reports`` is how
    many it makes in a period. What all of them lose together is in `mechdesign.tables.device.losses`.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> once = make_table(randomised_response(1.0, Finite((0, 1))), bits=16)
    >>> Device(once, None, values=2, reports=7).document["values"]
    2
    """

    table: Table
    again: Table | None
    values: int
    reports: int
    document: dict[str, Any] = derived(lambda device: _document(device))

    def __attrs_post_init__(self) -> None:
        require_whole(self.values, "values", 0, MOST_VALUES)
        require_whole(self.reports, "reports", 1, MOST_REPORTS)
        for name, table in (("table", self.table), ("again", self.again)):
            if table is not None and not isinstance(table, Table):
                raise InvalidInput(name, type(table).__name__, "be a table", "load it with load_table")
        if self.again is not None and isinstance(self.again.law, ItemsLaw):
            rule = "have reports that are numbers or labels: those of tables of items are bytes"
            step = "take a finite table, as --mechanism grr makes, or remember what the first table draws"
            raise InvalidInput("again", self.again.kind, rule, step)
        if length(self.values, self.drawn) > length(MOST_VALUES):
            most = MOST_VALUES * entry_size() // entry_size(self.drawn)
            rule = f"be at most {most} where a report has {self.drawn} bytes: a state is no longer than {MOST_STATE}"
            raise InvalidInput("values", self.values, rule, "remember fewer values")
        if self.again is not None:
            self._require_chain(self.again)

    def _require_chain(self, again: Table) -> None:
        if self.values == 0:
            raise InvalidInput("values", 0, "be at least 1 where what is remembered is randomised again")
        law = self.table.law
        if not isinstance(law, Listed):
            rule = "have a list of outputs, which the second table takes"
            raise InvalidInput("table", self.table.kind, rule, "take a finite, window or unbiased table")
        try:
            again.domain.require(law.outputs, "again")
        except InvalidInput:
            rule = "take every output of the first table as an input"
            step = "make it for a domain with these outputs (the numbers of the file, also where there are labels)"
            raise InvalidInput("again", again.name, rule, step) from None

    @property
    def sha256(self) -> str:
        return str(self.document["sha256"])

    @property
    def drawn(self) -> int:
        """How many bytes the first table draws; 0 where that is a number."""
        return self.table.law.report_bytes if isinstance(self.table.law, ItemsLaw) else 0

    @property
    def items(self) -> int:
        """How many items the first table has; 0 where it is on numbers."""
        return self.table.law.count if isinstance(self.table.law, ItemsLaw) else 0

    @property
    def size(self) -> int:
        """The length of its states."""
        return length(self.values, self.drawn)

    @property
    def told(self) -> tuple[float, ...] | None:
        """The outputs that a remembered one is among, where its label is what is reported."""
        if self.again is not None or self.items or self.table.output_names is None:
            return None
        assert isinstance(self.table.law, Listed)
        return self.table.law.outputs

    def state(self, content: bytes | None) -> State:
        """The state in these bytes, or `StateRefused`."""
        state = read(content, self.key, self.values, self.reports, self.drawn, self.items)
        if self.told is not None and any(y not in self.told for _, y in state.entries):
            raise StateRefused("damaged")
        return state

    def stored(self, state: State) -> bytes:
        """The bytes of a state."""
        return written(state, self.key, self.values, self.drawn)

    @property
    def key(self) -> bytes:
        """The hash, as states begin with it."""
        return bytes.fromhex(self.sha256)

    @property
    def stem(self) -> str:
        """The name of everything generated."""
        return f"device_{self.sha256[:8]}"

    @property
    def reporting(self) -> Table:
        """The table whose outputs are reported."""
        return self.table if self.again is None else self.again

    def origin(self, periods: int) -> Origin:
        """Where reports of so many periods come from, as estimates ask: a person sends as many as these have.

        A server that grants a lost state reports of a period lets one person send more than that.
        """
        most = self.reports * require_whole(periods, "periods", 1, MOST_NUMBER)
        return Origin(self.table, self.again, most, self.values > 0, self.sha256)

    @property
    def inputs(self) -> int | None:
        """How many values a person may have; None for those of an interval or a circle."""
        domain = self.table.domain
        return len(domain.points) if isinstance(domain, Finite) else None

    @property
    def forgets(self) -> bool:
        """Whether there are more values than it remembers: a further one is reported as the last one remembered."""
        return self.values > 0 and (self.inputs is None or self.values < self.inputs)

    @property
    def mistaken(self) -> float:
        """Of a person's reports of a first period the expected share that is of another value than held, where the
        value is drawn anew, uniformly, before every report.

        >>> from mechdesign.tables import make_table
        >>> from mechdesign.mechanisms.catalogue import randomised_response
        >>> once = make_table(randomised_response(1.0, Finite((0, 1, 2))), bits=16)
        >>> round(9 * Device(once, None, values=1, reports=3).mistaken, 6), Device(once, None, 3, 3).mistaken
        (4.0, 0.0)
        """
        if not self.forgets:
            return 0.0
        held = np.zeros(self.values + 1)  # the chances that so many values are remembered
        held[0] = 1.0
        new = 1.0 - np.arange(self.values + 1) / (math.inf if self.inputs is None else self.inputs)
        wrong = 0.0
        for _ in range(self.reports):
            wrong += float(held[-1] * new[-1])
            grown = held[:-1] * new[:-1]
            held[:-1] -= grown
            held[1:] += grown
        return wrong / self.reports

    @property
    def content(self) -> bytes:
        """The canonical bytes of the file."""
        return canonical(self.document)


def _document(device: Device) -> dict[str, Any]:
    said = {
        "format": FORMAT,
        "version": VERSION,
        "table": device.table.sha256,
        "again": None if device.again is None else device.again.sha256,
        "values": device.values,
        "reports": device.reports,
    }
    return with_hash(said)


def load_device(path: Path | str, table: Table, again: Table | None = None) -> Device:
    """The device that a file describes with these tables, or `FileProblem` for any other content."""
    content = files.read_bytes(path)
    document = files.parse_json(content, str(path))
    if set(document) != _KEYS or (document["format"], document["version"]) != (FORMAT, VERSION):
        raise FileProblem("device file", str(path), f"have the keys of a {FORMAT} file of version {VERSION}")
    if document["again"] == table.sha256 != document["table"]:
        step = "name the first table in its place, and this one with --again"
        raise FileProblem("table", table.sha256[:12], "be the first one of the device file, and is its second", step)
    for name, given in (("table", table), ("again", again)):
        said, got = document[name], None if given is None else given.sha256
        if said != got:
            rule = f"be the one of the device file ({said[:12]})" if isinstance(said, str) else "be left out"
            raise FileProblem(
                name, "none" if got is None else got[:12], rule, "a device file names tables by their hash"
            )
    device = Device(table, again, document["values"], document["reports"])
    if device.content != content:
        raise FileProblem("device file", str(path), "be canonical, with the hash of its entries", "take the original")
    return device


def device_among(path: Path | str, tables: Iterable[Table]) -> Device:
    """The device that a file describes, its tables found among these by their hashes, or `FileProblem`."""
    said = files.parse_json(files.read_bytes(path), str(path))
    known = {table.sha256: table for table in tables}
    once, again = (known.get(str(said.get(name))) for name in ("table", "again"))
    if once is None:
        rule = f"draw from one of the tables given, and draws from {str(said.get('table'))[:12]}"
        raise FileProblem("device file", str(path), rule, "give that table, too")
    return load_device(path, once, again)
