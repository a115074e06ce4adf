"""A device as commands tell it: what it remembers and may report, and what its reports lose together."""

from __future__ import annotations

from pathlib import Path

from mechdesign.cli import output
from mechdesign.errors import InvalidInput, marked, require_whole
from mechdesign.tables.device.description import Device, load_device
from mechdesign.tables.device.relations import Loss, losses_together
from mechdesign.tables.summary import counted_words
from mechdesign.tables.table import Table, load_table
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


@frozen
class Reported:
    """The device that made reports, and how many of them one person may have sent."""

    sha256: str
    again: str | None
    values: int
    forgets: bool
    periods: int
    most: int


def told(device: Device) -> Told:
    """What a device is, with its losses by relation for the reports of a period."""
    again = None if device.again is None else device.again.sha256
    about = device.sha256, device.table.sha256, again, device.values, device.reports
    return Told(*about, device.forgets, device.mistaken, losses_together(device))


def show(device: Device, said: Told) -> None:
    """The same in words."""
    again = "" if device.again is None else f", randomised again by {marked(device.again.name)}"
    kept = f"remembers {_counted(device.values)}" if device.values else "remembers nothing"
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
            f"  {_counted(device.values)}{inputs}: a further one is reported as the last one remembered.\n"
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


def reporting(table: Table, file: Path | None, again: Path | None, periods: int | None) -> Device | None:
    """The device whose reports are estimated, if one is named: ``table`` is its first one."""
    if file is not None:
        require_periods(periods)
        return load_device(file, table, None if again is None else load_table(again))
    for name, said in (("again", again), ("periods", periods)):
        if said is not None:
            raise InvalidInput(name, str(said), "come with --device", "name the device file: --device device.json")
    return None


def require_periods(periods: int | None) -> int:
    """How many periods reports are of, which must be said: it decides how many one person may have sent."""
    if periods is None:
        rule = "be said where a device made the reports: one person may have sent as many as these periods have"
        raise InvalidInput("periods", "nothing", rule, "add --periods 1 if all are of one period")
    return require_whole(periods, "periods", 1)


def reported(device: Device, periods: int) -> Reported:
    """What is said of reports that are estimated."""
    again = None if device.again is None else device.again.sha256
    most = device.origin(periods).most
    return Reported(device.sha256, again, device.values, device.forgets, periods, most)


def show_reported(said: Reported) -> None:
    """The same in words, beside an estimate."""
    draws = "through its table" if said.again is None else "through both of its draws"
    in_periods = "one period" if said.periods == 1 else f"{said.periods:,} periods"
    output.console.print(
        f"of device {said.sha256[:12]}, {draws}; one person may have sent {said.most:,} reports ({in_periods}), and "
        "counts by how many it sent",
        markup=False,
        soft_wrap=True,
    )
    if said.forgets:
        output.warn(
            f"the device remembers {_counted(said.values)}: who held more is counted with the last one remembered. "
            "Each answer is off by up to the share of such reports, which the intervals do not hold"
        )


def from_reports(count: int, people: int | None) -> str:
    """What an estimate rests on, in words."""
    return f"from {count:,} reports" + ("" if people is None else f" of at least {people:,} people")


def _counted(values: int) -> str:
    return "1 value" if values == 1 else f"{values} values"
