"""The pictures of the pages and of the README, drawn by the commands beside them: ``python docs/pictures.py``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

STATIC = Path(__file__).parent / "_static"

BUDGET = "budget -p oue,grr --metric kendall --at-least 0.7 --probability 0.9 --population msnbc-like"
WALKS = (
    "trajectory perturb places.csv --method tracs-d --eps 8 --bounds=139.47,139.90,35.51,35.86 --seed 1 --out told.csv"
)
COMMANDS = {
    "optimum.png": "minimax --sweep 0.5:4:8 --loss squared --plot-size 9,4 --plot",
    "density.png": "ogpm --eps 2 --out design.json --plot",
    "budget_curve.png": f"{BUDGET} --curve",
    "several_numbers.png": "vector --eps 4 --count 5 --plot",
    "walks.png": f"{WALKS} --plot",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "mechdesign"]
        subprocess.run([*program, "examples", "--out", folder], check=True, stdout=subprocess.DEVNULL)
        for name, command in COMMANDS.items():
            words = [*program, *command.split(), str(STATIC / name), "--force"]
            subprocess.run(words, check=True, cwd=folder, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
