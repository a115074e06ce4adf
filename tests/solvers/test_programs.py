"""Programs are values: validated once, never changed afterwards."""

import math
import pickle

import numpy as np
import pytest
from mechdesign_solvers import BilinearProgram, Limits, LinearProgram, Product, ProgramError, SolverError
from scipy.sparse import coo_array, csr_array


def unit_box() -> LinearProgram:
    return LinearProgram.of(cost=[1, -1], matrix=[[1, 1]], row_upper=1, lower=0, upper=1)


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("cost", {"cost": [1, math.nan]}),
        ("cost", {"cost": [1, math.inf]}),
        ("cost", {"cost": []}),
        ("cost", {"cost": [[1, 2]]}),
        ("matrix", {"matrix": [[1, math.nan]]}),
        ("matrix", {"matrix": [[1, 2, 3]]}),
        ("matrix", {"matrix": [1, 2]}),
        ("matrix", {"matrix": [[1, 2], [3]]}),
        ("row_lower", {"row_lower": [0, 0]}),
        ("row_lower", {"row_lower": math.nan}),
        ("row_lower", {"row_lower": math.inf}),
        ("row_lower", {"row_lower": 2, "row_upper": 1}),
        ("row_upper", {"row_upper": -math.inf}),
        ("lower", {"lower": [0, 0, 0]}),
        ("lower", {"lower": [0, math.nan]}),
        ("lower", {"lower": [0, 3], "upper": [1, 2]}),
        ("upper", {"upper": -math.inf}),
    ],
)
def test_malformed_program_names_the_field(field: str, arguments: dict[str, object]) -> None:
    sound = {"cost": [1, 1], "matrix": [[1, 1]]}
    with pytest.raises(ProgramError) as caught:
        LinearProgram.of(**(sound | arguments))
    assert caught.value.field == field
    assert str(caught.value).startswith(field)


def test_program_error_is_a_value_error_and_a_solver_error() -> None:
    assert issubclass(ProgramError, ValueError)
    assert issubclass(ProgramError, SolverError)


def test_nan_hidden_in_a_sparse_matrix_is_rejected() -> None:
    with pytest.raises(ProgramError, match="matrix must be finite"):
        LinearProgram.of([1, 1], csr_array(np.array([[0.0, math.nan]])))


def test_arrays_are_copies_which_cannot_be_written() -> None:
    cost = np.array([1.0, 2.0])
    program = LinearProgram.of(cost, [[1, 1]])
    cost[0] = 9
    assert program.cost[0] == 1
    for array in (program.cost, program.lower, program.row_upper, program.matrix.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3


def test_fields_cannot_be_reassigned() -> None:
    with pytest.raises(AttributeError):
        unit_box().cost = np.zeros(2)  # type: ignore[misc]


def test_repeated_entries_of_a_sparse_matrix_add_up() -> None:
    twice = coo_array((np.array([1.0, 2.0]), (np.array([0, 0]), np.array([1, 1]))), shape=(1, 2))
    assert LinearProgram.of([0, 0], twice).matrix.toarray().tolist() == [[0, 3]]


def test_program_without_rows_is_allowed() -> None:
    program = LinearProgram.of([1, 1], csr_array((0, 2)), lower=0)
    assert (program.rows, program.columns) == (0, 2)


def test_program_survives_pickling() -> None:
    back = pickle.loads(pickle.dumps(unit_box()))
    assert back.matrix.toarray().tolist() == [[1, 1]]
    assert back.upper.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("point", "violation"), [([0.5, 0.5], 0.0), ([1, 1], 1.0), ([-0.25, 0], 0.25), ([0, 1.5], 0.5)]
)
def test_violation_is_the_largest_excess(point: list[float], violation: float) -> None:
    assert unit_box().violation_at(point) == violation


def test_product_adds_to_the_row_in_violation() -> None:
    program = BilinearProgram(unit_box(), (), ((0, Product(0, 1, 4.0)),))
    assert program.violation_at([0.5, 0.5]) == 1.0


@pytest.mark.parametrize("term", [Product(0, 2), Product(5, 0)])
def test_product_of_an_absent_column_is_rejected(term: Product) -> None:
    with pytest.raises(ProgramError, match="columns below 2"):
        BilinearProgram(unit_box(), (term,))


def test_product_in_an_absent_row_is_rejected() -> None:
    with pytest.raises(ProgramError, match="rows below 1"):
        BilinearProgram(unit_box(), (), ((1, Product(0, 0)),))


@pytest.mark.parametrize("arguments", [(0, 1, math.nan), (0, -1, 1.0), (0, 1, math.inf)])
def test_malformed_product_is_rejected(arguments: tuple[int, int, float]) -> None:
    with pytest.raises(ProgramError):
        Product(*arguments)


@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize("coefficient", [-2.0, 3.0])
def test_objective_range_holds_every_value_and_is_tight(left: int, coefficient: float) -> None:
    box = LinearProgram.of(cost=[0.0, 0.0], matrix=[[0, 0]], lower=[-1, -2], upper=[3, 0.5])
    program = BilinearProgram(box, (Product(left, 1, coefficient),))
    grid = [program.objective_at([x, y]) for x in np.linspace(-1, 3, 41) for y in np.linspace(-2, 0.5, 51)]
    low, high = program.objective_range()
    assert low <= min(grid)
    assert high >= max(grid)
    assert low == pytest.approx(min(grid), abs=1e-9)
    assert high == pytest.approx(max(grid), abs=1e-9)


def test_objective_range_of_an_unbounded_variable_is_infinite() -> None:
    half = LinearProgram.of(cost=[1, 0], matrix=[[0, 0]], lower=0)
    assert BilinearProgram(half, (Product(1, 1, -1.0),)).objective_range() == (-math.inf, math.inf)
    assert BilinearProgram(half).objective_range() == (0.0, math.inf)


@pytest.mark.parametrize(
    "arguments", [{"seconds": 0}, {"seconds": math.nan}, {"relative_gap": -1}, {"iterations": 1.5}]
)
def test_malformed_limits_are_rejected(arguments: dict[str, float]) -> None:
    with pytest.raises(ProgramError):
        Limits(**arguments)
