"""A warehouse's sizes: 10^8 rows on two Dask workers beside one, and the CPU time of 10^7 rows beside plain Polars.

Plain Polars reads the same column of the same file, makes one number of each, and writes the file: what a pipeline
without privacy would do. Clusters have started, and libraries are loaded, before the clock starts. CPU time is that of
all threads of a process; its seconds are no waiting times.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial

from benchmarks.clock import Measured, medians
from benchmarks.rows import Row, Target

MANY, SOME = 8, 7
TURNS = 3

_MAKE = """
import sys, numpy as np, pyarrow as pa, pyarrow.parquet
from mechdesign.tables import make_table
from mechdesign.mechanisms import catalogue
folder, some, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng, schema = np.random.default_rng(20261119), pa.schema([("x", pa.float64())])
for name, rows in (("few", 1 << 21), ("some", some), ("many", many)):
    with pyarrow.parquet.ParquetWriter(f"{folder}/{name}.parquet", schema) as file:
        for start in range(0, rows, 1 << 20):
            values = rng.uniform(-1, 1, min(1 << 20, rows - start))
            file.write_table(pa.table({"x": values}, schema))
make_table(catalogue.pm(1.0)).save(folder + "/pieces.json")
make_table(catalogue.duchi(1.0)).save(folder + "/unbiased.json")
"""

_ON_WORKERS = """
import json, sys, time
from pathlib import Path
import shutil
from distributed import LocalCluster
from mechdesign.tables import load_table
from mechdesign.tables.frames_folder import apply_folder
from mechdesign.engine import Dask
if __name__ == "__main__":
    folder, workers = Path(sys.argv[1]), int(sys.argv[2])
    table, out = load_table(folder / "pieces.json"), folder / f"out{workers}"
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        engine = Dask(cluster.scheduler_address)
        apply_folder(table, folder / "few.parquet", "x", folder / f"few{workers}", engine=engine)
        started = time.perf_counter()
        apply_folder(table, folder / "many.parquet", "x", out, engine=engine)
        print(json.dumps([time.perf_counter() - started, None]))
    shutil.rmtree(out)
    shutil.rmtree(folder / f"few{workers}")
"""

_CPU = """
import json, sys, time
from pathlib import Path
from benchmarks.clock import peak_megabytes
folder, task = Path(sys.argv[1]), sys.argv[2]
source, out = folder / "some.parquet", folder / "some.out.parquet"
# libraries are loaded before the clock starts
import pandas, polars, pyarrow.csv, pyarrow.parquet
if task == "polars":
    started = time.process_time()
    polars.read_parquet(source).select(polars.col("x") * 0.5).write_parquet(out)
else:
    from mechdesign.tables import load_table
    from mechdesign.tables.frames import apply_table
    table = load_table(folder / f"{task}.json")
    started = time.process_time()
    apply_table(table, source, "x", out, overwrite=True)
print(json.dumps([time.process_time() - started, peak_megabytes()]))
"""


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        _child(_MAKE, folder, str(10**SOME), str(10**MANY))
        tasks = ("polars", "pieces", "unbiased")
        times = medians({task: partial(_measured, _CPU, folder, task) for task in tasks}, TURNS)
        for task in tasks[1:]:
            name = f"apply, 10^{SOME} rows, parquet, CPU, {task} table"
            yield Row(name, "plain Polars, CPU", times[task], times["polars"], Target(ratio=3.0))
        times = medians({task: partial(_measured, _ON_WORKERS, folder, task) for task in ("1", "2")}, 1)
        # 1.6 times the speed of one worker was asked for
        yield Row(
            f"apply, 10^{MANY} rows, Dask, two workers", "one worker", times["2"], times["1"], Target(ratio=0.625)
        )


def _measured(code: str, *arguments: str) -> Measured:
    return Measured(*json.loads(_child(code, *arguments)))


def _child(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout
