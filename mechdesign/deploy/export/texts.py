"""Labels as literals of each language, and what goes into a sampler and comes out of it, in words.

Labels are any text. Letters, digits, blanks and a few marks stay as they are; all else is written by its number, so
that no label can end a literal or a comment, and sources are ASCII.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence

from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.kinds import ItemsLaw, Listed, Spread

_PLAIN = frozenset(string.ascii_letters + string.digits + " _.,:-")
_MOST_LISTED = 8
_LONGEST_NAME = 40
MOST_CASES = 1000
"""More labels are no enum: compilers take minutes for one, or refuse it."""


def _escaped(text: str, write: Callable[[str], str]) -> str:
    return "".join(letter if letter in _PLAIN else write(letter) for letter in text)


def _sixteen_bits(letter: str) -> str:
    content = letter.encode("utf-16-be")
    return "".join(f"\\u{content[i : i + 2].hex()}" for i in range(0, len(content), 2))


def _octal(content: bytes) -> str:
    return "".join(f"\\{byte:03o}" for byte in content)


def python_text(text: str) -> str:
    """
    >>> print(python_text('a"b'))
    "a\\u0022b"
    """
    return f'"{_escaped(text, _code_point)}"'


def _code_point(letter: str) -> str:
    return f"\\U{ord(letter):08x}" if ord(letter) > 0xFFFF else f"\\u{ord(letter):04x}"


def braced_text(text: str) -> str:
    """For JavaScript and Rust.

    >>> print(braced_text("it's"))
    "it\\u{27}s"
    """
    return '"' + _escaped(text, lambda letter: f"\\u{{{ord(letter):x}}}") + '"'


def java_text(text: str) -> str:
    """Java reads ``\\u0022`` as a quotation mark that ends the literal, but not ``\\042``.

    >>> print(java_text('"'))
    "\\042"
    """
    ascii_or_not = lambda letter: _octal(letter.encode()) if letter.isascii() else _sixteen_bits(letter)  # noqa: E731
    return '"' + _escaped(text, ascii_or_not) + '"'


def c_text(text: str) -> str:
    """UTF-8. Three octal digits end an escape whatever follows; there are no trigraphs without question marks.

    >>> print(c_text("??/"))
    "\\077\\077\\057"
    """
    return '"' + _escaped(text, lambda letter: _octal(letter.encode())) + '"'


def postgresql_text(text: str) -> str:
    """
    >>> print(postgresql_text("$$'"))
    E'\\u0024\\u0024\\u0027'
    """
    return f"E'{_escaped(text, _code_point)}'"


def duckdb_text(text: str) -> str:
    """DuckDB has no escapes in texts, but in bytes.

    >>> print(duckdb_text("it's"))
    decode('it\\x27s'::BLOB)
    """
    escaped = _escaped(text, lambda letter: "".join(f"\\x{byte:02X}" for byte in letter.encode()))
    return f"decode('{escaped}'::BLOB)"


def constant_names(prefix: str, labels: Sequence[str]) -> list[str]:
    """Names of constants: the position makes each another one.

    >>> constant_names("INPUT", ["no", "rather yes", "?"])
    ['INPUT_0_NO', 'INPUT_1_RATHER_YES', 'INPUT_2']
    """
    words = (re.sub(r"[^A-Z0-9]+", "_", label.upper(), flags=re.ASCII).strip("_") for label in labels)
    return [f"{prefix}_{i}_{word[:_LONGEST_NAME]}".rstrip("_") for i, word in enumerate(words)]


def places_in_order(labels: Sequence[str]) -> list[str]:
    """The places of labels in the order of their bytes in UTF-8, by which programs search them.

    >>> places_in_order(["no", "\u00e9t\u00e9", "maybe"])
    ['2', '0', '1']
    """
    return [str(place) for _, place in sorted((label.encode(), place) for place, label in enumerate(labels))]


def goes_in(plan: Plan) -> str:
    """What a sampler takes."""
    if plan.input_labels is not None:
        return f"one of the {len(plan.input_labels)} input labels"
    if plan.inputs.count:
        return f"an item, a whole number from 0 to {plan.inputs.count - 1}"
    if plan.inputs.points:
        return _one_of(plan.inputs.points)
    return f"a number from {plan.inputs.lower:.17g} to {plan.inputs.upper:.17g}"


def comes_out(plan: Plan) -> str:
    """What a sampler gives."""
    law = plan.law
    if plan.output_labels is not None:
        return f"one of the {len(plan.output_labels)} output labels"
    if isinstance(law, ItemsLaw):
        return f"{law.report_bytes} byte{'s' * (law.report_bytes > 1)}"
    if isinstance(law, Listed):
        return _one_of(law.outputs)
    clamp = law.clamp if isinstance(law, Spread) else None
    return "a number" if clamp is None else f"a number from {clamp[0]:.17g} to {clamp[1]:.17g}"


def least(plan: Plan) -> int:
    """How many random bytes a report takes, whatever the input."""
    return plan.law.least_bytes if isinstance(plan.law, ItemsLaw) else plan.allotted


def unless(plan: Plan) -> str:
    """When a report needs more bytes than those that are set apart for it, as the end of a sentence."""
    if isinstance(plan.law, ItemsLaw):
        is_all = plan.law.least_bytes == plan.law.enough_bytes
        return "" if is_all else " (and more where numbers are refused and drawn again, by themselves)"
    if plan.allotted < plan.law.enough_bytes:
        return " (the noise is so wide that some reports need more)"
    return " (more are needed with a probability of at most about 2^-64)"


def _one_of(numbers: Sequence[float]) -> str:
    if len(numbers) > _MOST_LISTED:
        return f"one of {len(numbers)} numbers from {numbers[0]:.17g} to {numbers[-1]:.17g}"
    return f"one of the numbers {', '.join(f'{number:.17g}' for number in numbers)}"
