"""How a plan becomes sources: the places of a language's templates, filled with its numbers and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from mechdesign.deploy.export.layout import chosen, fill, template
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import comes_out, goes_in, unless
from mechdesign.deploy.kinds import ItemsLaw, Number, Spread
from mechdesign.values.declare import field, frozen

Value = Number | tuple[str, ...]


def _no_words(plan: Plan) -> Mapping[str, object]:
    return {}


@frozen
class Language:
    """What differs between languages beside their templates.

    ``declared`` writes the declaration of a constant, ``literal`` a number or a list in place, ``listed`` the lines of
    a list of labels; ``core`` is the function of a labelled table that takes and gives its numbers, and ``words`` fills
    the places that only this language's templates have.
    """

    declared: Callable[[str, Value], str]
    core: Callable[[Plan], str]
    listed: Callable[[Sequence[str]], str] = field(default=", ".join)
    literal: Callable[[Value], str] = field(default=repr)
    words: Callable[[Plan], Mapping[str, object]] = field(default=_no_words)

    def sources(self, plan: Plan, names: Mapping[str, str], more: Mapping[str, object] | None = None) -> dict[str, str]:
        """The files of these ``names``, each by the template it is filled from; ``more`` fills further places."""
        values = _Places(self, plan)
        values.update(more or {})
        shape = _shape(plan)
        folder = "items/" if isinstance(plan.law, ItemsLaw) else ""
        return {name: fill(chosen(template(folder + file), shape), values) for name, file in names.items()}


class _Places(dict[str, object]):
    """The texts of all places; those of numbers are written when a template asks for them."""

    def __init__(self, language: Language, plan: Plan) -> None:
        labels = {"input": plan.input_labels, "output": plan.output_labels}
        self._language, self._values = language, _values(plan)
        clamp = plan.law.clamp if isinstance(plan.law, Spread) else None
        for name, end in zip(("clamp_low", "clamp_high"), clamp or (), strict=False):
            self._values[name] = end
        super().__init__(
            kind=plan.kind,
            epsilon=plan.epsilon,
            sha=plan.sha256,
            bits=plan.bits,
            size=(plan.bits + 7) // 8,
            stem=plan.stem,
            enough=plan.allotted,
            unless=unless(plan),
            core=language.core(plan),
            goes_in=goes_in(plan),
            comes_out=comes_out(plan),
        )
        for side, texts in labels.items():
            if texts is not None:
                self[f"{side}_count"], self[f"{side}_texts"] = len(texts), language.listed(texts)
        self.update(language.words(plan))

    def __missing__(self, name: str) -> str:
        value = self._values[name.lower()]
        return self._language.declared(name, value) if name.isupper() else self._language.literal(value)


def _values(plan: Plan) -> dict[str, Value]:
    """The constants of a sampler, by name."""
    values: dict[str, Value] = dict(plan.law.numbers())
    if isinstance(plan.law, ItemsLaw):
        pass  # the number of items says all
    elif plan.inputs.points:
        values["points"] = plan.inputs.points
    else:
        values |= {"lower": plan.inputs.lower, "upper": plan.inputs.upper}
    for name in ("input_labels", "output_labels"):
        texts = getattr(plan, name)
        if texts is not None:
            values[name] = texts
    return values


def _shape(plan: Plan) -> set[str]:
    """The words by which lines of templates are kept."""
    words = {plan.kind, *plan.law.shape, "items" if isinstance(plan.law, ItemsLaw) else "numbers"}
    sides = {"points": plan.inputs.points, "input_labels": plan.input_labels, "output_labels": plan.output_labels}
    words |= {word for word, side in sides.items() if side}
    return words | {"labels"} if plan.labelled else words


def flat(values: Iterable[object]) -> list[object]:
    """The numbers of a list, or of a list of lists one after the other.

    >>> flat([(0, 1), (0, 2)]), flat([0.5, 1.5])
    ([0, 1, 0, 2], [0.5, 1.5])
    """
    return [n for value in values for n in (flat(value) if isinstance(value, tuple) else [value])]


def are_whole(values: Sequence[object]) -> bool:
    """Whether the numbers of a list are whole: one without numbers is of doubles."""
    return bool(values) and isinstance(values[0], int)
