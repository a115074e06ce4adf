"""What is said of reports that a device made, beside an estimate from them."""

from __future__ import annotations

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.tables.device.description import Device
from mechdesign.values.declare import frozen


@frozen
class DeviceReports:
    """The device that made reports, and how many of them one person may have sent."""

    sha256: str
    again: str | None
    values: int
    forgets: bool
    periods: int
    most: int

    @classmethod
    def of(cls, device: Device, periods: int) -> DeviceReports:
        again = None if device.again is None else device.again.sha256
        return cls(device.sha256, again, device.values, device.forgets, periods, device.origin(periods).most)

    @property
    def words(self) -> str:
        """The same in words."""
        draws = "through its table" if self.again is None else "through both of its draws"
        in_periods = "one period" if self.periods == 1 else f"{self.periods:,} periods"
        return (
            f"of device {self.sha256[:12]}, {draws}; one person may have sent {self.most:,} reports ({in_periods}), "
            "and counts by how many it sent"
        )

    @property
    def warning(self) -> str | None:
        """What no interval holds, of devices that remember only some values."""
        if not self.forgets:
            return None
        return (
            f"the device remembers {values_words(self.values)}: who held more is counted with the last one remembered. "
            "Each answer is off by up to the share of such reports, which the intervals do not hold"
        )


def require_periods(periods: int | None) -> int:
    """How many periods reports are of, which must be said: it decides how many one person may have sent."""
    if periods is None:
        rule = "be said where a device made the reports: one person may have sent as many as these periods have"
        raise InvalidInput("periods", "nothing", rule, "add --periods 1 if all are of one period")
    return require_whole(periods, "periods", 1)


def from_reports(count: int, people: int | None) -> str:
    """What an estimate rests on, in words."""
    return f"from {count:,} reports" + ("" if people is None else f" of at least {people:,} people")


def values_words(values: int) -> str:
    return "1 value" if values == 1 else f"{values} values"
