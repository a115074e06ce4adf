"""The printed second step of L-LH spends more than it says.

L-LH hashes a value to one of g and chains two randomised responses on the hash: what is remembered has loss eps_inf,
the first report eps_1. With ``a = e^eps_inf`` and ``b = e^eps_1`` the denominator of the printed p2 is that of L-GRR
without its summand b. For g = 2 and eps_inf = 2 eps_1, as in the paper's experiments, the loss of the first report is
``ln [(b^5 - 2 b) / (b^4 - b^3 - 1)]``: 1.451 for 1.

Ours is the loss of the package's first report (g = 2, eps_1 = 1); the reference multiplies two tables and solves for
p2; printed is what the published formula spends.

From: the IBU paper (utility gain of iterative Bayesian update), section 3.2, L-LH, which has eps_1 as the loss of the
first report; erratum 12.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, root

CHAPTER = "Many rounds"
TOLERANCE = near(1e-9)
PRINTED = 1.451
FIRST, HASHES = 1.0, 2


def response(p: float, g: int) -> Floats:
    table = np.full((g, g), (1 - p) / (g - 1))
    np.fill_diagonal(table, p)
    return table


def loss_of_chain(p2: float, first: float = FIRST, g: int = HASHES) -> float:
    """Of the first report, with twice the loss for what is remembered."""
    a = np.exp(2 * first)
    chain = response(a / (a + g - 1), g) @ response(p2, g)
    return float(np.log(chain[0, 0] / chain[1, 0]))


def printed(first: float = FIRST, g: int = HASHES) -> float:
    a, b = np.exp(2 * first), np.exp(first)
    return float((a * b - 1) / (-g * b + (g - 1) * a + a * b - 1))


def answer() -> tuple[float, float]:
    p2 = root(lambda p: loss_of_chain(p) - FIRST, 0.51, 0.99999)
    return md.frequencies.protocol("l-blh", FIRST, 100, limit=2 * FIRST).privacy_loss(), loss_of_chain(p2)


def picture(axes: Axes) -> None:
    first = np.linspace(0.75, 4, 60)  # below ln 2 the printed p2 is above 1
    axes.plot(first, [loss_of_chain(printed(e), e) for e in first], label="with the printed p2, g = 2")
    axes.plot(first, [loss_of_chain(printed(e, 8), e, 8) for e in first], "--", label="with the printed p2, g = 8")
    axes.plot(first, first, color="black", linewidth=0.8, label="asked for")
    axes.set(title="Loss of L-LH's first report", xlabel="eps_1 (eps_inf is twice that)", ylabel="privacy loss")
    axes.set_ylim(bottom=0)
    axes.legend()
