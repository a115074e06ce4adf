"""The package at its seams: what importing it brings in, and what it offers."""

import inspect
import subprocess
import sys

import pytest

import mechdesign
from mechdesign import mechanisms

WRAP = {"compressed", "truncated"}  # make one mechanism of another
HEAVY = ("matplotlib", "cvxpy", "pyomo", "pyscipopt", "highspy", "polars", "pandas", "dask", "typer", "rich")


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_package_brings_in_nothing_heavy():
    assert run(f"import sys, mechdesign; print([n for n in {HEAVY} if n in sys.modules])") == "[]"


def test_importing_the_package_prints_nothing():
    assert run("import mechdesign") == ""


def test_the_check_for_heavy_imports_can_fail():
    assert run(f"import sys, mechdesign, rich; print([n for n in {HEAVY} if n in sys.modules])") == "['rich']"


@pytest.mark.parametrize("module", [mechdesign, mechanisms], ids=lambda module: module.__name__)
def test_names_are_sorted_unique_and_resolve(module):
    names = module.__all__
    assert list(names) == sorted(set(names))
    assert all(getattr(module, name) is not None for name in names)


def test_every_public_name_of_the_facade_is_listed():
    own = {
        name for name, value in vars(mechdesign).items() if getattr(value, "__module__", "").startswith("mechdesign")
    }
    assert {name for name in own if not name.startswith("_")} <= {*mechdesign.__all__, "facade"}


@pytest.mark.slow
def test_every_public_name_is_found_by_an_interpreter_that_has_imported_nothing_else():
    code = """
import sys, mechdesign
for name in mechdesign.__all__:
    for module in [module for module in sys.modules if module.partition(".")[0] == "mechdesign"]:
        del sys.modules[module]
    exec(f"from mechdesign import {name}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_importing_everything_works():
    code = "from mechdesign import *; import mechdesign; print(set(mechdesign.__all__) <= set(globals()))"
    assert run(code) == "True"


@pytest.mark.parametrize("module", [mechdesign, mechdesign.catalogue], ids=lambda module: module.__name__)
def test_what_a_prompt_completes_is_public(module):
    assert set(dir(module)) - {"__version__"} == set(module.__all__)


def test_the_catalogue_offers_mechanisms_and_how_they_are_named():
    names = set(dir(mechdesign.catalogue)) - {"ON_CIRCLES", "ON_INTERVALS", "ON_POINTS"}
    assert all("epsilon" in inspect.signature(getattr(mechdesign.catalogue, name)).parameters for name in names - WRAP)
    assert {"pm", "laplace", "ogpm", "randomised_response"} <= names
    assert not {"np", "math", "optimize", "Fraction"} & names


def test_names_that_do_not_exist_are_attribute_errors():
    with pytest.raises(AttributeError, match="nonsense"):
        mechdesign.nonsense  # noqa: B018


def test_the_package_says_it_is_typed():
    from importlib.resources import files

    assert files("mechdesign").joinpath("py.typed").is_file()


def test_versions_agree():
    from importlib.metadata import version

    assert version("mechdesign") == mechdesign.__version__
