"""p and q of a question of a survey, from the formulas in the text of FORMAT.md alone."""

from __future__ import annotations

import math


def chances(question):
    """The chances that a report supports its own item, and another one."""
    name, k = question["protocol"], len(question["items"])
    parameters = {key: float(value) for key, value in question["parameters"].items()}
    epsilon = float(question["epsilon"])
    c, g = math.exp(epsilon), parameters.get("g", 2)
    if name.endswith(("lh", "grr")):
        m = k if name.endswith("grr") else g
        p = c / (c + m - 1)
        if question["client"] == "multi-freq-ldpy" and name.startswith("l-"):
            p = chained(c, math.exp(parameters["limit"]), m)
        return p, (1 - p) / (k - 1) if name.endswith("grr") else 1 / g
    match name:
        case "sue" | "l-sue":
            return symmetric(c)
        case "oue" | "l-osue":
            return optimised(c)
        case "ss":
            d = parameters["subset"]
            p = c * d / (c * d + k - d)
            return p, (p * (d - 1) + (1 - p) * d) / (k - 1)
        case "she":
            return 1, 0
        case "the":
            t = parameters["threshold"]
            return 1 - math.exp(epsilon * (t - 1) / 2) / 2, math.exp(-epsilon * t / 2) / 2
        case "hr":
            return 1 / 2 + (c - 1) / (2 * (c - 1 + 2 * parameters["blocks"])), 1 / 2
        case _:
            first = optimised if name == "l-oue" else symmetric
            return bits_again(c, *first(math.exp(parameters["limit"])))


def symmetric(c):
    return math.sqrt(c) / (math.sqrt(c) + 1), 1 / (math.sqrt(c) + 1)


def optimised(c):
    return 1 / 2, 1 / (c + 1)


def chained(c, most, m):
    """multi-freq-ldpy's own second step."""
    p1, q1 = most / (most + m - 1), 1 / (most + m - 1)
    p2 = (c * p1 - q1) / ((m - 1) * p1 - q1 + c * (p1 - (m - 1) * q1))
    return p1 * p2 + (m - 1) * q1 * (1 - p2) / (m - 1)


def bits_again(c, p1, q1):
    """The second step by bisection: the odds fall as s grows."""
    low, high = 0.0, 0.5
    for _ in range(200):
        s = (low + high) / 2
        p, q = p1 / 2 + (1 - p1) * s, q1 / 2 + (1 - q1) * s
        if p * (1 - q) > c * q * (1 - p):
            low = s
        else:
            high = s
    return p, q
