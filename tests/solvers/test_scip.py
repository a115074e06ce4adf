"""SCIP finds global optima of bilinear programs, and stops on time with its bounds."""

import json
import math
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from mechdesign_solvers import BilinearProgram, LimitReached, Limits, LinearProgram, Product, Scip, Status

AT_ONCE = 0.5 * math.exp(-4)  # what `layers(4, ...)` cost at least by the bounds of their columns


def layers(epsilon: float, count: int, cubed: bool = False) -> BilinearProgram:
    """The layered-density program, whose optimum is ``1 / (1 + e^(epsilon / 2))`` for every ``count``.

    Columns: base b, heights g, extents d, areas z = g d and moments w = z d. With ``cubed`` the column w
    is d squared instead, and the objective holds g w: the same program in a form no cone is found for.
    """
    c, n = math.exp(epsilon), 1 + 4 * count
    g, d, z, w = (np.arange(count) + 1 + count * block for block in range(4))
    rows, lower, upper, products = [], [], [], []

    def row(entries: dict[int, float], low: float, high: float) -> int:
        rows.append([entries.get(j, 0.0) for j in range(n)])
        lower.append(low)
        upper.append(high)
        return len(rows) - 1

    for k in range(count):
        products.append((row({z[k]: 1}, 0, 0), Product(g[k], d[k], -1.0)))
        products.append((row({w[k]: 1}, 0, 0), Product(d[k] if cubed else z[k], d[k], -1.0)))
    row({0: 1, **dict.fromkeys(z, 1)}, 1, 1)
    row({0: 1 - c, **dict.fromkeys(g, 1)}, -math.inf, 0)
    for k in range(count - 1):
        row({d[k]: 1, d[k + 1]: -1}, -math.inf, 0)
    cost, low, high = np.zeros(n), np.zeros(n), np.ones(n)
    cost[0], low[0], high[g] = 0.5, 1 / c, c - 1
    if not cubed:
        cost[w] = 0.5
    moments = tuple(Product(g[k], w[k], 0.5) for k in range(count)) if cubed else ()
    return BilinearProgram(LinearProgram.of(cost, rows, lower, upper, low, high), moments, tuple(products))


def layered_optimum(epsilon: float) -> float:
    return 1 / (1 + math.exp(epsilon / 2))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_layers_reach_their_closed_form(epsilon: float, count: int) -> None:
    solution = Scip().solve(layers(epsilon, count), Limits(seconds=30)).require_optimal()
    assert solution.objective == pytest.approx(layered_optimum(epsilon), rel=1e-7)
    assert solution.bound <= layered_optimum(epsilon)
    assert solution.bound == pytest.approx(layered_optimum(epsilon), rel=2e-6)
    assert solution.gap <= 1e-6


def test_form_without_a_cone_is_solved_by_branching() -> None:
    solution = Scip().solve(layers(4, 2, cubed=True), Limits(seconds=60, relative_gap=1e-3)).require_optimal()
    assert solution.iterations > 100
    assert solution.bound <= layered_optimum(4) <= solution.objective * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_indefinite_quadratic_on_a_box_agrees_with_its_vertices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [(i, j, float(rng.integers(-5, 6))) for i in range(5) for j in range(i)]
    box = LinearProgram.of(rng.integers(-3, 4, 5), np.zeros((1, 5)), lower=-1, upper=2)
    program = BilinearProgram(box, tuple(Product(*pair) for pair in pairs))
    # Linear in each variable by itself, so some vertex of the box is optimal.
    vertices = np.stack(np.meshgrid(*[[-1.0, 2.0]] * 5), axis=-1).reshape(-1, 5)
    best = min(program.objective_at(vertex) for vertex in vertices)
    solution = Scip().solve(program).require_optimal()
    assert solution.objective == pytest.approx(best, abs=1e-5)
    assert program.violation_at(solution.primal) <= 1e-8


def test_squares_and_row_products_agree_with_a_grid() -> None:
    # Nearest point of the hyperbola x y >= 1 to (2, 0): minimise (x - 2)^2 + y^2.
    rows = LinearProgram.of([-4, 0], [[0, 0]], row_lower=1, lower=0, upper=5)
    program = BilinearProgram(rows, (Product(0, 0), Product(1, 1)), ((0, Product(0, 1)),))
    grid = np.linspace(0.2, 5, 400_001)
    best = float(np.min(grid**2 - 4 * grid + 1 / grid**2))
    solution = Scip().solve(program).require_optimal()
    assert solution.objective == pytest.approx(best, abs=1e-5)


def test_infeasible_bilinear_program_is_recognised() -> None:
    rows = LinearProgram.of([1, 1], [[0, 0]], row_lower=5, lower=0, upper=2)
    program = BilinearProgram(rows, (), ((0, Product(0, 1)),))
    solution = Scip().solve(program)
    assert (solution.status, solution.bound, solution.primal) == (Status.INFEASIBLE, math.inf, None)


def test_column_without_use_still_has_a_value_within_its_bounds() -> None:
    program = LinearProgram.of([1, 0], [[1, 0]], row_lower=1, lower=[0, 3], upper=[9, 4])
    assert Scip().solve(program).primal == pytest.approx([1, 3])


def test_row_without_entries_can_make_a_program_infeasible() -> None:
    assert Scip().solve(LinearProgram.of([1], [[0]], row_lower=1, lower=0)).status is Status.INFEASIBLE


def test_own_time_limit_leaves_valid_bounds() -> None:
    solution = Scip().solve(layers(4, 3, cubed=True), Limits(seconds=1.5, relative_gap=0))
    assert solution.status is Status.TIME_LIMIT
    assert solution.bound <= layered_optimum(4) <= solution.objective + 1e-7
    assert solution.bound > AT_ONCE


def test_solver_that_ignores_its_limit_is_killed_on_time_with_its_bounds() -> None:
    program = layers(4, 3, cubed=True)
    started = time.perf_counter()
    solution = Scip(settings={"limits/time": 1e6}).solve(program, Limits(seconds=2, relative_gap=0))
    elapsed = time.perf_counter() - started
    assert solution.status is Status.TIME_LIMIT
    assert solution.message.startswith("stopped from outside")
    assert 2 <= elapsed <= 60  # the solver would have gone on for 10^6 seconds
    assert AT_ONCE < solution.bound <= layered_optimum(4) <= solution.objective + 1e-7
    assert math.isfinite(solution.objective)
    assert program.violation_at(solution.primal) <= 1e-6
    with pytest.raises(LimitReached, match="stopped at its time limit"):
        solution.require_optimal()


def test_node_limit_is_a_limit() -> None:
    solution = Scip().solve(layers(4, 3, cubed=True), Limits(iterations=20))
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.bound <= layered_optimum(4)


def test_unknown_setting_fails_with_its_reason() -> None:
    solution = Scip(settings={"no/such": 1}).solve(layers(1, 1))
    assert solution.status is Status.FAILED
    assert "parameter" in solution.message


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    Scip().solve(layers(1, 1))
    assert capfd.readouterr() == ("", "")


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from test_scip import layers
from mechdesign_solvers import Scip, Limits
{body}
"""


def script(body: str) -> list[str]:
    return [sys.executable, "-c", SCRIPT.format(tests=str(Path(__file__).parent), body=body)]


def test_works_from_a_script_without_a_main_guard(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text(script("print(Scip().solve(layers(1, 1)).status.value)")[2])
    (tmp_path / "pickle.py").write_text("raise SystemExit('the working directory must not shadow modules')")
    done = subprocess.run([sys.executable, "-P", str(file)], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "optimal"


def solver_processes(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                command = (entry / "cmdline").read_text()
            except OSError:
                continue
            if "_scip_child" in command and int(stat.rsplit(")", 1)[1].split()[1]) == parent:
                found.append(int(entry.name))
    return found


def is_alive(process: int) -> bool:
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_no_solver_outlives_its_parent(end: signal.Signals) -> None:
    body = "Scip().solve(layers(4, 3, cubed=True), Limits(relative_gap=0))"

    # a suite in the background may have been started with SIGINT ignored, which processes hand down
    def heeding() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(script(body), stderr=subprocess.DEVNULL, preexec_fn=heeding) as parent:
        children = await_(lambda: solver_processes(parent.pid))
        time.sleep(0.5)
        assert all(is_alive(child) for child in children)
        os.kill(parent.pid, end)
        try:
            parent.wait(timeout=10)
        finally:
            parent.kill()
    assert await_(lambda: not any(is_alive(child) for child in children))


def await_(condition, seconds: float = 20.0):  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.05)
    return condition()


def test_report_lines_are_plain_json() -> None:
    from mechdesign_solvers._scip_child import solve

    lines: list[str] = []
    solve(layers(1, 1), {}, lambda news: lines.append(json.dumps(news)))
    heard = [json.loads(line) for line in lines]
    assert "started" in heard[0]
    assert heard[-1]["outcome"] in ("optimal", "gaplimit")
    bounds = [news["bound"] for news in heard if "bound" in news]
    assert bounds == sorted(bounds)
    assert max(bounds) <= layered_optimum(1) + 1e-6


def test_libraries_that_load_slowly_do_not_use_up_the_time_of_the_search() -> None:
    """The process ends itself when far beyond its time, which begins with the search."""
    code = (
        "import time; from mechdesign_solvers import _scip_child as child; child._OVERTIME_SECONDS = 0.0\n"
        "child._pyomo_model = lambda program: time.sleep(1.0); child.main()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        pickle.dump({"program": None, "parameters": {}, "seconds": 0.2}, child.stdin)
        child.stdin.flush()
        assert json.loads(child.stdout.read() or "{}") == {"started": True, "outcome": "infeasible"}
