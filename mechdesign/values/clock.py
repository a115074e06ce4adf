"""A time limit, said once: when it began, when it ends, and what a solver may still take."""

from __future__ import annotations

import time

from mechdesign.errors import require_seconds
from mechdesign.values.declare import derived, field, frozen

_LEAST = 1e-6  # solvers want a limit above 0: one that has passed still leaves a microsecond


@frozen
class Clock:
    """A limit in seconds from now on; None is no limit. Its readings are those of `time.perf_counter`.

    >>> Clock().left() is None, Clock(60).left() <= 60, Clock(60).is_over
    (True, True, False)
    """

    seconds: float | None = field(default=None, converter=require_seconds)
    started: float = derived(lambda _: time.perf_counter())
    deadline: float | None = derived(lambda clock: None if clock.seconds is None else clock.started + clock.seconds)

    @property
    def used(self) -> float:
        """Seconds since it was started."""
        return time.perf_counter() - self.started

    @property
    def is_over(self) -> bool:
        return self.deadline is not None and time.perf_counter() >= self.deadline

    def left(self) -> float | None:
        """Seconds to the deadline, above 0 as solvers need it; None without a limit."""
        return None if self.deadline is None else max(_LEAST, self.deadline - time.perf_counter())

    def share(self, parts: int = 1) -> Clock:
        """A clock that starts now, with an equal part of the time left."""
        left = self.left()
        return Clock(None if left is None else max(_LEAST, left / parts))
