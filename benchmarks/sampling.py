"""Ten million outputs of OGPM beside ten million uniforms of numpy, both into fresh arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import mechdesign as md
from benchmarks.clock import medians
from benchmarks.rows import Row, Target

POWER = 7
OUTPUTS = 10**POWER
TURNS = 7
TARGET = Target(ratio=3.0)
YARDSTICK = f"numpy, 10^{POWER} uniforms"


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(20240517)
    line = md.catalogue.ogpm(1.0)
    circle = md.catalogue.ogpm_circle(1.0)
    inputs = rng.random(OUTPUTS)
    angles = inputs * circle.inputs.length
    tasks = {
        "uniforms": lambda: rng.random(OUTPUTS),
        "one input": lambda: line.sample(0.3, rng, OUTPUTS),
        "an array of inputs": lambda: line.sample(inputs, rng),
        "circle, one input": lambda: circle.sample(1.0, rng, OUTPUTS),
        "circle, an array of inputs": lambda: circle.sample(angles, rng),
    }
    times = medians(tasks, TURNS)
    yardstick = times.pop("uniforms")
    for name, taken in times.items():
        yield Row(f"10^{POWER} OGPM outputs, {name}", YARDSTICK, taken, yardstick, TARGET)
