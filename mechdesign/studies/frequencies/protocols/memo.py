"""What clients of longitudinal protocols remember: one row a user and value, drawn once and used for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]


class Memo:
    """Rows by whole-number keys; a key that was never seen gets its row when it is first asked for."""

    __slots__ = ("_asked", "_keys", "_rows")

    def __init__(self) -> None:
        self._keys: Keys = np.zeros(0, dtype=np.int64)
        self._asked: Keys = np.zeros(0, dtype=np.int64)
        self._rows: NDArray[Any] | None = None

    @property
    def keys(self) -> Keys:
        """All keys seen, in increasing order."""
        return self._keys

    @property
    def asked(self) -> Keys:
        """How often each of them was asked for."""
        return self._asked

    def recall(self, keys: Keys, draw: Callable[[Keys], NDArray[Any]]) -> NDArray[Any]:
        """The rows of distinct ``keys``; ``draw`` makes those of the positions that are new.

        >>> memo = Memo()
        >>> memo.recall(np.array([5, 3]), lambda new: new + 10).tolist()
        [10, 11]
        >>> memo.recall(np.array([3, 4, 5]), lambda new: new + 20).tolist()
        [11, 21, 10]
        >>> memo.keys.tolist(), memo.asked.tolist()
        ([3, 4, 5], [2, 1, 2])
        """
        place = np.searchsorted(self._keys, keys)
        is_known = place < self._keys.size
        is_known[is_known] = self._keys[place[is_known]] == keys[is_known]
        new = np.flatnonzero(~is_known)
        if self._rows is None or new.size:
            made = draw(new)
            together = made if self._rows is None else np.concatenate([self._rows, made])
            names = np.concatenate([self._keys, keys[new]])
            order = np.argsort(names, kind="stable")
            self._keys, self._rows = names[order], together[order]
            self._asked = np.concatenate([self._asked, np.zeros(new.size, dtype=np.int64)])[order]
        rows = np.searchsorted(self._keys, keys)
        self._asked[rows] += 1
        return self._rows[rows]
