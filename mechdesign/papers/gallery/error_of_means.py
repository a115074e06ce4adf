"""The average of many trials shows the bias of a mean, not its error.

The page of chapter 5 averages the errors of its trials. Its published code, for linear data, compares mechanisms by how
far the *average* estimate of the trials is from the truth. For an unbiased mechanism that goes to 0 with the number of
trials, whatever its variance. Who collects has one trial; its error is ``sqrt(bias^2 + average variance / n)``.

Ours is the package's exact error for 1,000 users with theorem 10's mechanism at eps = 1; the reference is the root
mean square over 10,000 simulated collections, whose standard error is 0.7% of it (four of them are allowed).

From: Refined mechanism design, chapter 5 (mean estimation); erratum 15.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats

CHAPTER = "Means"
TOLERANCE = near(0.028)
VALUES = np.linspace(0.2, 0.6, 1000)
LAW = md.catalogue.ogpm_unbiased(1.0)


def misses(trials: int) -> Floats:
    """A report is uniform on [-C, C + 1], or on a window whose middle makes the mean x."""
    rng, reach = np.random.default_rng(15), 1 / np.tanh(0.25)
    length = 2 * reach + 1
    low = np.exp(-0.5) / length
    extra = 1 - low * length
    middle, width = (VALUES - low * length / 2) / extra, extra / (low * np.expm1(1.0))
    found = []
    for _ in range(trials):
        anywhere = rng.random(VALUES.size) < low * length
        place = rng.random(VALUES.size)
        reports = np.where(anywhere, -reach + length * place, middle + width * (place - 0.5))
        found.append(reports.mean() - VALUES.mean())
    return np.asarray(found)


def answer() -> tuple[float, float]:
    return md.frequencies.expected_error(LAW, VALUES), float(np.sqrt(np.mean(misses(10_000) ** 2)))


def picture(axes: Axes) -> None:
    missed = misses(1000)
    trials = np.arange(1, missed.size + 1)
    axes.plot(trials, np.abs(np.cumsum(missed)) / trials, label="distance of their average from the truth")
    axes.plot(trials, np.sqrt(np.cumsum(missed**2) / trials), "--", label="root mean square error")
    axes.axhline(md.frequencies.expected_error(LAW, VALUES), color="black", linewidth=0.8, label="exact error")
    title = "Two numbers called the error of a mean, 1,000 users, eps = 1"
    axes.set(title=title, xlabel="simulated trials", ylabel="error (values in [0, 1])", xscale="log", ylim=(0, 0.15))
    axes.legend()
