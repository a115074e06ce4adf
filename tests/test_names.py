"""One name, one meaning; definitions are nouns and verbs for what they are. What is left is listed."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

HOUSE = Path(__file__).parents[1]

RULES = {
    "answer": "what a method or a theorem of the gallery answers: one a folder",
    "app": "a command that is several",
    "leads": "whether a route to a workload is the first to take: one a route",
    "main": "what a program does that is run by its name",
    "picture": "the picture of a theorem of the gallery",
    "run": "what a command does",
    "single": "the sampler that stands alone: one a language",
    "supports": "why a method does not answer a problem: one a folder",
    "words": "how a kind of loss is said",
}
"""Names that a part of the house has by rule: their one meaning is the rule."""

APART = ("papers/gallery/", "runtimes/", "tables/checker.py", "tables/privacy_checker.py", "/member.py", "/edges/")
"""Pages, checkers and programs that stand alone, and modules that say the same of each language."""

_IRREGULAR = ("told", "kept", "made", "found", "written", "drawn", "shown", "known", "seen", "sent", "given", "built")
_NO_PARTICIPLES = ("parse_seed", "need", "read", "seed", "speed")
"""Words in -ed that are nouns or verbs."""

TWICE = """
About Account Answer Answers Asked At Batch Budget CappedProgram Case Cell Choice Collected Column Columns Crowd Curve
Designed Entry Errors Fit Goal Grid Group Here Inside Interval Item Judged Kept Leaf LeftOut Likely Limits Line Listed
Loss Matrix Measured Memory Metric Moments Numbers Objective Optimum Option Package Part Pieces Piecewise Place
Problem Product Question Rank Refused Row Rows Shares Shown Simulated SolverFailed Split Step Store Stretch Task Told
Verdict Words above answered apply asked asked_of attained_by average_variance below best_hashes best_split cap_above
compare content coordinates_of corners count_reports counted digest_of distances entry estimate exact_bias excess
expected_error exponential fits form_of grid hadamard_response inputs_of kept key_of kind_of law_of law_words
least_average loss_of measure measured mechanism_names merged metric named number number_of numbers_of of on_points
opened packed page pareto parse_bounds parts parts_of picture_of pieces_of protocol_names ranked ranking ratio
repaired report require_columns require_data require_delta require_different require_labels require_outputs
require_places require_size require_table scaled scope_of settled shapes show solve split staircase structure summary
table_of told total_variance trade_off unpacked variance variance_words vectors versions whole within written
"""
"""Public definitions of two modules that do not mean the same. Each is its module's own and read with its module's name
in front of it or beside it; one that is renamed is taken out here."""

PARTICIPLES = """
Added Applied Asked Averaged BaseStopped Based Binned CheckFailed Checked Collected Compared Computed Counted Decoded
Designed Drawn Estimated Expected Filled Found Gathered Grouped Handed Judged Kept LimitReached Listed Measured Moved
NotSupported Packed Peaked PriorStopped Ranked Rated Refused Relaxed Repaired Rounded RunFailed Seen Selected Sent
Served Shown Signed Simulated Solved SolverFailed Squared Started StateRefused Tested Told Tried Truncated Unbiased
Unbounded Walked Weighted WorkFailed Written all_values_changed answered asked best_peaked built changes_bounded
climbed columns_named compared completed composed compressed concluded counted created decoded derived designed
device_named drawn encoded ensure_installed enveloped estimated evolved expanded filled fitted gap_asked gathered
given hashed ibu_iterated ibu_published is_based is_json_asked is_packaged kendall_optimus_squared kept kl_reversed
known lifted listed lowered marked measured merged mirrored named needed ogpm_circle_squared ogpm_squared
ogpm_unbiased one_value_changed open_unnamed opened packed padded pasted peaked placed post_processed
protected proves_unbounded quantised ranked refused remapped rendered repaired replaced reported
require_served require_unbiased rounded say_saved scaled sealed searched settled shaped shown shuffled simulated
smoothed snapped solve_rotated solved spelled stored tallied thinned told truncated typed uncovered unpacked wanted
with_columns_offered written
"""
"""Definitions that say where a thing came from: results that a module hands over once, and functions that give a
changed value. One that is renamed is taken out here."""


@cache
def _definitions() -> dict[str, set[str]]:
    """The modules of every public function and class."""
    found: dict[str, set[str]] = defaultdict(set)
    for folder in ("mechdesign", "solvers"):
        for path in sorted((HOUSE / folder).rglob("*.py")):
            where = path.relative_to(HOUSE).as_posix()
            if not any(part in where for part in APART):
                for node in ast.parse(path.read_text(encoding="utf-8")).body:
                    if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                        found[node.name].add(where)
    return found


def _is_participle(name: str) -> bool:
    return name not in _NO_PARTICIPLES and bool(re.search("ed$", name) or name.lower() in _IRREGULAR)


def test_no_public_name_has_two_meanings_but_those_that_are_left() -> None:
    twice = {name: sorted(where) for name, where in _definitions().items() if len(where) > 1 and name not in RULES}
    assert {name: where for name, where in twice.items() if name not in TWICE.split()} == {}


def test_no_definition_is_called_by_a_participle_but_those_that_are_left() -> None:
    named = {name: sorted(where) for name, where in _definitions().items() if _is_participle(name)}
    assert {name: where for name, where in named.items() if name not in PARTICIPLES.split()} == {}


def test_what_is_left_is_sorted_and_each_name_stands_once() -> None:
    for names in (TWICE.split(), PARTICIPLES.split()):
        assert names == sorted(set(names))
