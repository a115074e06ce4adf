"""Labels: the names of the inputs and outputs of a finite table, which its data hold in place of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.deploy.checker import LABEL, is_label
from mechdesign.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Labels:
    """One name for each input or output, in the order of the domain's points and of the outputs; ``None``: numbers.

    >>> Labels(inputs=("no", "yes"))
    Labels(inputs=('no', 'yes'), outputs=None)
    """

    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for side in ("inputs", "outputs"):
            texts = getattr(self, side)
            if texts is not None:
                object.__setattr__(self, side, require_labels(texts, f"labels.{side}"))

    def to_json(self) -> dict[str, Any] | None:
        """What a table file holds under ``labels``."""
        sides = {"inputs": self.inputs, "outputs": self.outputs}
        if self.inputs is None and self.outputs is None:
            return None
        return {side: None if texts is None else list(texts) for side, texts in sides.items()}


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
