"""The gallery: one file, one theorem or claim, the program that computes it, a second number to hold it against, and a
picture.

A file has its statement with formula and source as its docstring, and

* ``answer()``: our number, and the reference: a closed form, a published number or a computation of its own;
* ``TOLERANCE``: how near they must be, and on which side where one is a bound;
* ``picture(axes)``: what is drawn on matplotlib axes;
* ``PRINTED``, in the files about errata: what the literature prints instead, which the two disagree with.

Nothing is imported before it is asked for.

>>> one = entry("randomised_response")
>>> one.title
'Nothing asks a yes/no question better than randomised response.'
>>> found = one.judge()
>>> round(found.ours, 6), round(found.reference, 6), found.agrees
(0.268941, 0.268941, True)
"""

from __future__ import annotations

import ast
import difflib
import inspect
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from mechdesign.errors import InvalidInput

if TYPE_CHECKING:
    from mechdesign.gallery.agreement import Tolerance

CHAPTERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Categories",
        (
            "randomised_response",
            "k_randomised_response",
            "label_floor",
        ),
    ),
    (
        "Counting many reports",
        (
            "grr_or_oue",
            "optimised_unary",
            "local_hashing",
            "floor_of_hashing",
            "subset_selection",
            "best_histogram",
            "pairs_of_bits",
            "noisy_sign",
            "hadamard_response",
            "count_mean_sketch",
            "bayesian_update",
            "ldp3_power",
            "kendall_ties",
        ),
    ),
    (
        "Many rounds",
        (
            "second_step",
            "hashed_second_step",
            "longitudinal_change",
        ),
    ),
    (
        "One number",
        (
            "ogpm_absolute",
            "ogpm_squared",
            "three_pieces",
            "ogpm_aimed",
            "minimax_absolute",
            "two_points",
            "response_on_bins",
            "staircase_noise",
            "bounded_laplace",
            "geometric",
        ),
    ),
    (
        "Directions and places",
        (
            "ogpm_circle",
            "ogpm_circle_squared",
            "polar_split",
            "direction",
            "tracs_error",
            "tracs_strawman",
            "constant_place",
            "constant_hotspot",
            "geometric_on_the_line",
            "no_universal_place",
            "reports_anywhere",
            "rivals_epsilon",
        ),
    ),
    (
        "Distributions",
        (
            "square_wave",
            "square_wave_em",
        ),
    ),
    (
        "Means",
        (
            "duchi",
            "pm",
            "better_than_pm",
            "theorem_10",
            "aaa_half",
            "aaa_relative_error",
            "free_reports",
            "error_of_means",
        ),
    ),
    (
        "Users who lie together",
        (
            "jrr_pair",
            "jrr_partner",
            "jrr_least_share",
            "jrr_categories",
            "jrr_hidden_grouping",
            "jrr_hidden",
        ),
    ),
    (
        "How much epsilon",
        (
            "optimus_order",
            "capri_missed",
            "capri_chebyshev",
            "capri_budget",
        ),
    ),
    (
        "Classifiers",
        (
            "laplace_concentration",
            "laplace_epsilon",
            "window_overlap",
            "rho_is_no_bound",
            "exponential_half",
            "robust_radius",
            "pac_gaussian",
            "indicator",
        ),
    ),
)
"""Chapters and the names of their files, in the order in which they are best read."""


class Exhibit(Protocol):
    """What a gallery file holds."""

    TOLERANCE: Tolerance

    def answer(self) -> tuple[float, float]: ...
    def picture(self, axes: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """The two numbers of a file, what they are held to, and what the literature prints instead, if it does."""

    ours: float
    reference: float
    tolerance: Tolerance
    printed: float | None

    @property
    def agrees(self) -> bool:
        """Whether ours and the reference stand to each other as the file says."""
        return self.tolerance.holds(self.ours, self.reference)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the gallery; `exhibit` imports it, the rest does not."""

    name: str
    chapter: str

    @property
    def module(self) -> str:
        return f"{__name__}.{self.name}"

    @property
    def source(self) -> str:
        """The text of the file."""
        data = pkgutil.get_data(__name__, f"{self.name}.py")
        assert data is not None
        return data.decode()

    @property
    def statement(self) -> str:
        """The theorem or claim, its formula and where it is from: the docstring of the file."""
        return inspect.cleandoc(ast.get_docstring(ast.parse(self.source)) or "")

    @property
    def title(self) -> str:
        """The first line of the statement."""
        return self.statement.partition("\n")[0]

    def exhibit(self) -> Exhibit:
        """The file itself, imported."""
        from importlib import import_module

        return cast("Exhibit", import_module(self.module))

    def judge(self) -> Outcome:
        """Compute both numbers."""
        exhibit = self.exhibit()
        ours, reference = map(float, exhibit.answer())
        return Outcome(ours, reference, exhibit.TOLERANCE, getattr(exhibit, "PRINTED", None))


ENTRIES: tuple[Entry, ...] = tuple(Entry(name, chapter) for chapter, names in CHAPTERS for name in names)


def entry(name: str) -> Entry:
    """The file of that name."""
    known = {one.name: one for one in ENTRIES}
    key = name.strip().lower().replace("-", "_") if isinstance(name, str) else ""
    if key not in known:
        near = difflib.get_close_matches(key, known, n=3, cutoff=0.5)
        step = f"nearest: {', '.join(near)}" if near else "`mechdesign gallery` lists them"
        raise InvalidInput("gallery file", name, "be one of those listed", step)
    return known[key]
