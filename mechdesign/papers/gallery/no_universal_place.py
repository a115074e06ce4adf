"""In the plane no mechanism serves every prior: two priors on three places conflict.

A mechanism whose reports are remapped for two priors p and r reports, in effect, a place y for one and a place z for
the other. So the least of ``sum_x p_x E|x - y| + sum_x r_x E|x - z|`` over private mechanisms with reports (y, z) is
what any single mechanism leaves the two priors together. On the line that is the sum of the two optima; for the corners
of a triangle it is more.

Ours is the proven lower end for the one mechanism, at eps = 1 on a triangle with sides 1, a uniform prior and one on
two of the corners; the reference is 1.05 times the sum of the two optima, from a linear program: ours is above it.

From: Brenner and Nissim 2010 (impossibility of differentially private universally optimal mechanisms).
"""

import itertools

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import at_least
from mechdesign.papers.gallery.reference import Floats, program

CHAPTER = "Directions and places"
TOLERANCE = at_least(0)
EPSILON = 1.0
PRIORS = np.array([[1, 1, 1], [1, 1, 0]]) / np.array([[3], [2]])
APART = 1 - np.eye(3)


def compact(costs: Floats, epsilon: float) -> float:
    """The least ``costs . q`` over tables that keep every pair, by a program with a row for each pair and output."""
    inputs, outputs = costs.shape
    rows = []
    for one, other in itertools.permutations(range(inputs), 2):
        for y in range(outputs):
            row = np.zeros(costs.shape)
            row[one, y], row[other, y] = 1, -np.exp(epsilon)
            rows.append(row.ravel())
    sums = np.kron(np.eye(inputs), np.ones(outputs))
    return program(costs.ravel(), sums, np.ones(inputs), np.array(rows))[0]


def together(epsilon: float) -> float:
    """What one mechanism leaves both priors together, at least."""
    reports = list(itertools.product(range(3), repeat=2))
    losses = np.array([[PRIORS[0, x] * APART[x, y] + PRIORS[1, x] * APART[x, z] for y, z in reports] for x in range(3)])
    problem = md.Problem(loss=md.Matrix(3 * losses), privacy=md.Pairwise(epsilon * APART), criterion=md.Average())
    return md.solve(problem).certificate.lower


def apart(epsilon: float) -> float:
    return sum(compact(prior[:, None] * APART, epsilon) for prior in PRIORS)


def answer() -> tuple[float, float]:
    return together(EPSILON), 1.05 * apart(EPSILON)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.3, 3.0, 10)
    axes.plot(epsilons, [together(float(e)) for e in epsilons], label="one mechanism, remapped for each prior")
    axes.plot(epsilons, [apart(float(e)) for e in epsilons], "--", label="the best mechanism for each")
    axes.set(title="Two priors on the corners of a triangle", xlabel="eps a side", ylabel="sum of expected distances")
    axes.legend()
