"""Small data to try every command with: made by `mechdesign.examples.made`, nobody's data.

>>> sorted(NAMES)
['ages.csv', 'answers.csv', 'bearings.csv', 'categories.csv', 'corners.csv', 'places.csv', 'salaries.csv']
>>> content("ages.csv").split()[:1]
[b'age']
"""

from __future__ import annotations

from importlib import resources

__all__ = ["NAMES", "content"]

NAMES = {
    "ages.csv": "2,000 ages in whole years, 18 to 90 (column age)",
    "answers.csv": "2,000 answers: yes or no (column smokes), and agreement from 1 to 5 (column agree)",
    "bearings.csv": "2,000 directions in degrees (column degrees)",
    "categories.csv": "20,000 choices among 200 names app000 to app199 (column app)",
    "corners.csv": "9 squares of a city: names, coordinates x and y, and how many people live there",
    "places.csv": "20 walks of 15 places (columns id, t, lon, lat)",
    "salaries.csv": "2,000 salaries a year, 0 to 250,000 (column salary)",
}
"""The files, and what each of them holds."""


def content(name: str) -> bytes:
    """The bytes of the example file of that name."""
    return (resources.files(__name__) / name).read_bytes()
