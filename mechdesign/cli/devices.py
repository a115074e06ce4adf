"""A device as commands tell it: what it remembers and may report, and what its reports lose together."""

from __future__ import annotations

from pathlib import Path

from mechdesign.cli import output
from mechdesign.errors import marked
from mechdesign.studies.device_reports import values_words
from mechdesign.tables.device.description import Device
from mechdesign.tables.device.relations import Loss, losses_together
from mechdesign.tables.summary import counted_words
from mechdesign.tables.table import load_table
from mechdesign.values.declare import frozen


@frozen
class Told:
    """A device file."""

    sha256: str
    table: str
    again: str | None
    values: int
    reports: int
    forgets: bool
    mistaken: float
    losses: tuple[Loss, ...]


def told(device: Device) -> Told:
    """What a device is, with its losses by relation for the reports of a period."""
    again = None if device.again is None else device.again.sha256
    about = device.sha256, device.table.sha256, again, device.values, device.reports
    return Told(*about, device.forgets, device.mistaken, losses_together(device))


def show(device: Device, said: Told) -> None:
    """The same in words."""
    again = "" if device.again is None else f", randomised again by {marked(device.again.name)}"
    kept = f"remembers {values_words(device.values)}" if device.values else "remembers nothing"
    output.console.print(
        f"device {said.sha256[:12]}: {kept}{again}; {device.reports} reports a period\n"
        f"  loss of {device.reports} reports together, by how two histories differ:",
        markup=False,
        soft_wrap=True,
    )
    for loss in said.losses:
        output.console.print(f"    {loss.relation}: {loss.words}", markup=False)
    if said.forgets:
        inputs = "" if device.inputs is None else f" of {device.inputs}"
        output.console.print(
            f"  {values_words(device.values)}{inputs}: a further one is reported as the last one remembered.\n"
            f"  Drawn at random before every report, {said.mistaken:.1%} of a first period's reports are of another "
            "value than held, and more of later ones';\n"
            "  every answer is off by up to the share of such reports, and no interval holds that",
            markup=False,
            soft_wrap=True,
        )
    for table in (device.table, device.again):
        words = None if table is None else counted_words(table)
        if table is not None and words is not None:
            output.console.print(f"  {marked(table.name)}: {words}", markup=False, soft_wrap=True)


def asked(table: Path, again: Path | None, values: int, reports: int) -> Device:
    """The device of these options."""
    return Device(load_table(table), None if again is None else load_table(again), values, reports)
