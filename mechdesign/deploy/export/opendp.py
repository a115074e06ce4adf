"""OpenDP 0.13 and later: the Python sampler, and a function that wraps it as a measurement of the OpenDP library."""

from __future__ import annotations

from mechdesign.deploy.export import python
from mechdesign.deploy.export.layout import fill
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import comes_out, goes_in
from mechdesign.exact.rational import float_up


def sources(plan: Plan) -> dict[str, str]:
    """File names and their text."""
    lower, upper = (python.number(end) for end in (plan.inputs.lower, plan.inputs.upper))
    domain = (
        f"dp.atom_domain(bounds=({lower}, {upper}), nan=False)"
        if plan.input_labels is None
        else "dp.atom_domain(T=str)"
    )
    values = {
        "stem": plan.stem,
        "epsilon": python.number(float_up(plan.epsilon)),
        "sha": plan.sha256,
        "goes_in": goes_in(plan),
        "comes_out": comes_out(plan),
        "domain": domain,
        "given": "f64" if plan.output_labels is None else "String",
    }
    return python.sources(plan) | {f"{plan.stem}_opendp.py": fill(_MODULE, values)}


_MODULE = '''\
"""The table with SHA-256

    @sha@

as a measurement of the OpenDP library (0.13 and later). Its sampler is @stem@.py, beside this file.
"""

import opendp.prelude as dp

import @stem@ as sampler

EPSILON = @epsilon@
"""The table's epsilon, rounded up to a double."""


def make_measurement():
    """One person's value, @goes_in@, to its private report, @comes_out@.

    Any two values are at distance 1: the report is EPSILON-differentially private for each person (local model).
    OpenDP trusts what users hand it, so its features "contrib" and "honest-but-curious" have to be enabled first; the
    proof of this privacy map is the table's own, checked by `python checker.py` on the table file.
    """
    return dp.m.make_user_measurement(
        @domain@,
        dp.discrete_distance(),
        dp.max_divergence(),
        function=sampler.sample,
        privacy_map=lambda distance: EPSILON if distance else 0.0,
        TO="@given@",
    )
'''
