"""OpenDP 0.13 and later: the Python sampler, and a function that wraps it as a measurement of the OpenDP library."""

from __future__ import annotations

from mechdesign.deploy.export import python
from mechdesign.deploy.export.plan import Plan
from mechdesign.exact.rational import float_up


def sources(plan: Plan, package: str | None = None) -> dict[str, str]:
    """File names and their text; ``package`` is the name of the one they are modules of."""
    lower, upper = python.number(plan.inputs.lower), python.number(plan.inputs.upper)
    bounded = f"dp.atom_domain(bounds=({lower}, {upper}), nan=False)"
    if plan.inputs.count:
        bounded = f"dp.atom_domain(bounds=(0, {plan.inputs.count - 1}))"
    words = {
        "epsilon": python.number(float_up(plan.epsilon)),
        "domain": bounded if plan.input_labels is None else "dp.atom_domain(T=str)",
        "importing": f"{'' if package is None else f'from {package} '}import {plan.stem} as sampler",
        "given": "String" if plan.output_labels is not None or plan.inputs.count else "f64",
    }
    wrapper = python.LANGUAGE.sources(plan, {f"{plan.stem}_opendp.py": "opendp.py.in"}, words)
    return python.sources(plan) | wrapper
