"""A device as commands tell it: what it remembers and may report, and what its reports lose together."""

from __future__ import annotations

from pathlib import Path

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.deploy import load_table
from mechdesign.deploy.device import Device, Loss, losses_together
from mechdesign.deploy.summary import counted_words
from mechdesign.values.declare import frozen


@frozen
class Told:
    """A device file."""

    sha256: str
    table: str
    again: str | None
    values: int
    reports: int
    losses: tuple[Loss, ...]


def told(device: Device) -> Told:
    """What a device is, with its losses by relation for the reports of a period."""
    again = None if device.again is None else device.again.sha256
    return Told(device.sha256, device.table.sha256, again, device.values, device.reports, losses_together(device))


def show(device: Device, said: Told) -> None:
    """The same in words."""
    again = "" if device.again is None else f", randomised again by {plot.printable(device.again.name)}"
    kept = f"remembers {device.values} values" if device.values else "remembers nothing"
    output.console.print(
        f"device {said.sha256[:12]}: {kept}{again}; {device.reports} reports a period\n"
        f"  loss of {device.reports} reports together, by how two histories differ:",
        markup=False,
        soft_wrap=True,
    )
    for loss in said.losses:
        output.console.print(f"    {loss.relation}: {loss.words}", markup=False)
    for table in (device.table, device.again):
        words = None if table is None else counted_words(table)
        if table is not None and words is not None:
            output.console.print(f"  {plot.printable(table.name)}: {words}", markup=False, soft_wrap=True)


def asked(table: Path, again: Path | None, values: int, reports: int) -> Device:
    """The device of these options."""
    return Device(load_table(table), None if again is None else load_table(again), values, reports)
