"""A table as a measurement of the OpenDP library (0.13 and later)."""

import math
from fractions import Fraction

import opendp.prelude as dp


def epsilon_of(table):
    """The table's epsilon, rounded up to a double."""
    exact = Fraction(table.epsilon)
    near = float(exact)
    return near if exact <= near else math.nextafter(near, math.inf)


def measurement_of(table):
    """One person's value to its private report; reports that are bytes are texts of hexadecimal digits.

    Any two values are at distance 1: the report is `epsilon_of` the table differentially private for each person (local
    model). OpenDP trusts what users hand it, so its features "contrib" and "honest-but-curious" have to be enabled
    first; the proof of this privacy map is the table's own, checked by `python checker.py` on the table file.
    """
    epsilon = epsilon_of(table)
    if table.input_labels is not None:
        domain = dp.atom_domain(T=str)
    elif table.items:
        domain = dp.atom_domain(bounds=(0, table.items - 1))
    else:
        domain = dp.atom_domain(bounds=tuple(table.ends), nan=False)
    return dp.m.make_user_measurement(
        domain,
        dp.discrete_distance(),
        dp.max_divergence(),
        function=(lambda x: table.sample(x).hex()) if table.items else table.sample,
        privacy_map=lambda distance: epsilon if distance else 0.0,
        TO="String" if table.items or table.output_labels is not None else "f64",
    )
