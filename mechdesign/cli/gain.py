"""What IBU gains over inversion: the table of the utility gain paper, and its figures by eps, bins and users.

Data are samples of its five laws in equal bins. With no option it is table 2, with 4 runs in place of 20.
"""

from __future__ import annotations

from mechdesign.cli.sent import Drawn
from mechdesign.cli.studies import give
from mechdesign.studies.gain import ANSWERS as ANSWERS, GainStudy

EXAMPLE = "gain --eps 1,4 --bins 20,100 --users 20000 -p grr,oue -r 2 --method ibu"


def run(study: GainStudy, sent: Drawn) -> None:
    give(study, sent)
