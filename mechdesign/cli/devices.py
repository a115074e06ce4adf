"""A device as commands tell it: what it remembers and may report, and what its reports lose together."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.deploy import load_table
from mechdesign.deploy.device import Device, all_values_changed, changes_bounded, one_value_changed
from mechdesign.deploy.summary import counted_words
from mechdesign.errors import NoAnswer
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.values.declare import frozen

_DIGITS = 6


@frozen
class Loss:
    """What the reports of one period lose together where two histories are related so: exactly, or within bounds."""

    relation: str
    reports: int
    lower: float
    upper: float
    exact: bool


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
    n = device.reports
    relations: tuple[tuple[str, Callable[[], LikelihoodRatio]], ...] = (
        ("one value changed", lambda: one_value_changed(device, n)),
        ("all values changed", lambda: all_values_changed(device, n)),
        ("at most one change each", lambda: changes_bounded(device, n, 1)),
    )
    losses = tuple(_loss(relation, n, stated) for relation, stated in relations)
    again = None if device.again is None else device.again.sha256
    return Told(device.sha256, device.table.sha256, again, device.values, n, losses)


def _loss(relation: str, reports: int, stated: Callable[[], LikelihoodRatio]) -> Loss:
    try:
        loss = stated().loss
    except NoAnswer as bounds:
        return Loss(relation, reports, bounds.lower, bounds.upper, exact=False)
    return Loss(relation, reports, loss, loss, exact=True)


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
        output.console.print(f"    {loss.relation}: {_in_words(loss)}", markup=False)
    for table in (device.table, device.again):
        words = None if table is None else counted_words(table)
        if table is not None and words is not None:
            output.console.print(f"  {plot.printable(table.name)}: {words}", markup=False, soft_wrap=True)


def _in_words(loss: Loss) -> str:
    if loss.exact:
        return "no bound" if math.isinf(loss.upper) else f"{loss.upper:.{_DIGITS}g} (exactly)"
    scale = 10.0**_DIGITS
    return f"between {math.floor(loss.lower * scale) / scale:g} and {math.ceil(loss.upper * scale) / scale:g}"


def asked(table: Path, again: Path | None, values: int, reports: int) -> Device:
    """The device of these options."""
    return Device(load_table(table), None if again is None else load_table(again), values, reports)
