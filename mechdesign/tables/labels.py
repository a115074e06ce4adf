"""Labels: the names of the inputs and outputs of a finite table, which its data hold in place of numbers.

The numbers that a labelled table's points and outputs have in its file are *codes*: they count categories and are no
data. Data are read by label only, also where labels are numbers: ``3`` is then the category called "3", not the third.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.tables.checker import LABEL, is_label
from mechdesign.values.declare import Floats, derived, field, frozen

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?", re.ASCII)
_MOST_LISTED = 20

CODES_LOOK_LIKE_LABELS = (
    "some labels of this table are the codes of other categories: what samplers give as codes (sample_code) must be "
    "read with estimate --codes, and labels without it; the one read as the other is swapped, and nobody can tell"
)
"""What is to be said where `OutputNames.look_like_codes`."""


@frozen
class Labels:
    """One name for each input or output, in the order of the domain's points and of the outputs; ``None``: numbers.

    >>> Labels(inputs=("no", "yes"))
    Labels(inputs=('no', 'yes'))
    """

    inputs: tuple[str, ...] | None = field(default=None, converter=lambda said: _labels(said, "labels.inputs"))
    outputs: tuple[str, ...] | None = field(default=None, converter=lambda said: _labels(said, "labels.outputs"))

    def to_json(self) -> dict[str, Any] | None:
        """What a table file holds under ``labels``."""
        sides = {"inputs": self.inputs, "outputs": self.outputs}
        if self.inputs is None and self.outputs is None:
            return None
        return {side: None if texts is None else list(texts) for side, texts in sides.items()}


def _labels(texts: Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    return None if texts is None else require_labels(texts, name)


NO_LABELS = Labels()


def labels_from(said: Mapping[str, Any] | None) -> Labels:
    """The labels that a table file, which has passed its check, holds."""
    if said is None:
        return NO_LABELS
    return Labels(*(None if said[side] is None else tuple(said[side]) for side in ("inputs", "outputs")))


def require_labels(texts: Sequence[str], field: str) -> tuple[str, ...]:
    """Texts that can name categories: different ones, of the form that table files hold."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InvalidInput(field, texts, "be a sequence of texts", "for example ('no', 'yes')")
    seen: dict[str, int] = {}
    for i, text in enumerate(texts):
        if not is_label(text):
            raise InvalidInput(f"{field}[{i}]", text, LABEL.removeprefix("must "))
        if text in seen:
            raise InvalidInput(f"{field}[{i}]", text, f"be different from the others, and is label {seen[text]} too")
        seen[text] = i
    return tuple(texts)


@frozen
class Names:
    """Which code is meant by a label, and which label by a code, on one side of a table.

    >>> names = Names(("3", "2", "1"), (0.0, 1.0, 2.0))
    >>> names.codes(["3", " 1"]).tolist(), names.codes([3, 1]).tolist(), names.labels(np.array([0.0, 2.0])).tolist()
    ([0.0, 2.0], [0.0, 2.0], ['3', '1'])
    """

    texts: tuple[str, ...]
    numbers: tuple[float, ...]
    worth: Floats = derived(lambda names: np.array(names.numbers))
    by_text: Mapping[str, int] = derived(lambda names: {text: i for i, text in enumerate(names.texts)})
    by_number: Mapping[float, int] = derived(lambda names: _by_number(names.texts))

    def codes(self, values: ArrayLike, field: str = "x") -> Floats:
        """The codes of labels; the first value that is none is an `InvalidInput` that names its position.

        Numbers stand for the label that writes this number, if there is exactly one.
        """
        array = np.asarray(values, dtype=object)
        places = [self._place(value) for value in array.ravel().tolist()]
        if None in places:
            where = f"{field}[{places.index(None)}]" if array.ndim else field
            raise InvalidInput(where, "another value", self.rule, self.step)
        return self.worth[np.array(places, dtype=np.intp)].reshape(array.shape)

    def _place(self, value: Any) -> int | None:
        if isinstance(value, str):
            place = self.by_text.get(value)
            return self.by_text.get(value.strip()) if place is None else place
        is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        return self.by_number.get(float(value)) if is_number else None

    def labels(self, codes: ArrayLike) -> NDArray[np.object_]:
        """The labels of codes that this side has."""
        return np.array(self.texts, dtype=object)[np.searchsorted(self.worth, np.asarray(codes))]

    @property
    def look_like_codes(self) -> bool:
        """Whether a label writes the code of another category: the one read as the other is swapped."""
        places = {value: i for i, value in enumerate(self.worth.tolist())}
        return any(places.get(value, i) != i for value, i in self.by_number.items())

    @property
    def rule(self) -> str:
        more = ", ..." if len(self.texts) > _MOST_LISTED else ""
        return f"be one of the labels of the table: {', '.join(map(repr, self.texts[:_MOST_LISTED]))}{more}"

    @property
    def step(self) -> str:
        if self.by_number:
            return "numbers are read by the label that writes them"
        return "write the labels: numbers are not taken for codes"

    def closest(self, text: str) -> str:
        """The label that a text was perhaps meant to be, as a next step."""
        folded = {label.casefold(): label for label in self.texts}
        found = difflib.get_close_matches(text.strip().casefold(), folded, n=1)
        return f"did you mean {folded[found[0]]!r}?" if found else ""


def _by_number(texts: Sequence[str]) -> dict[float, int]:
    """Which label writes a number, where exactly one does."""
    written = [(float(text), i) for i, text in enumerate(texts) if _is_written_number(text)]
    times = Counter(value for value, _ in written)
    return {value: i for value, i in written if times[value] == 1}


def _is_written_number(text: str) -> bool:
    """Whether a label is a number as people write it, and no other double is nearer to it than the one it is read as.

    So ``007`` and ``1e3`` are texts only, and whole numbers that doubles do not hold.
    """
    return bool(_NUMBER.fullmatch(text)) and Decimal(repr(float(text))) == Decimal(text)
