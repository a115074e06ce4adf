"""The README's examples run as written."""

from __future__ import annotations

import doctest
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv
from sklearn.linear_model import LogisticRegression

from mechdesign.collect.clients import law_of_client

README = Path(__file__).parent.parent / "README.md"


def test_python_examples_of_the_readme_run_as_written() -> None:
    outcome = doctest.testfile(str(README), module_relative=False)
    assert outcome.attempted >= 10
    assert outcome.failed == 0


def test_every_command_line_of_the_readme_is_accepted(capfd, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from mechdesign.cli import main

    monkeypatch.chdir(tmp_path)
    data = pa.table({"x": [0.1, 0.5, 0.9] * 10})
    pq.write_table(data, "data.parquet")
    csv.write_csv(data, "data.csv")
    Path("labels.csv").write_text("\n".join("abbccc" * 50))
    Path("walks.csv").write_text(
        "id,t,lon,lat\n" + "".join(f"{k % 3},{k},{139.5 + k / 100},{35.52 + k % 7 / 25}\n" for k in range(30))
    )
    for name, client, size in (("reports.npy", "mechdesign", 3), ("theirs.npy", "pure-ldp", 100)):
        law = law_of_client(client, "olh", 1.0, size)
        np.save(name, law.report(np.arange(200) % size, np.random.default_rng(1)))
    features = np.random.default_rng(0).random((40, 2))
    sick = (features @ [2, 1] > 1.5).astype(int)
    Path("model.pkl").write_bytes(pickle.dumps(LogisticRegression().fit(features, sick)))
    csv.write_csv(pa.table({"age": features[:, 0], "bmi": features[:, 1], "sick": sick}), "people.csv")
    lines = [line.split("#")[0].split() for line in README.read_text().splitlines() if line.startswith("python -m")]
    assert len(lines) >= 10
    codes = {" ".join(line): _exit_code(main, line[3:]) for line in lines}
    assert set(codes.values()) == {0}, f"{codes}: {capfd.readouterr().err}"


def _exit_code(main: Callable[[list[str]], None], arguments: list[str]) -> int:
    try:
        main(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0
