"""Tables: mechanisms rounded to whole numbers, exactly private, ready to ship."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.methods.result import FORMAT
from mechdesign.tables import checker
from mechdesign.tables.kinds import Domain, FiniteLaw, Law, Listed, WindowLaw, law_of
from mechdesign.tables.labels import Labels, Names, labels_from
from mechdesign.tables.summary import summary
from mechdesign.tables.workloads import Answering, answering
from mechdesign.values import files
from mechdesign.values.codec import named
from mechdesign.values.declare import derived, field, frozen
from mechdesign.values.notebook import page
from mechdesign.words.privacy import Pairwise, Pure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OTHERS = re.compile(rb'"format": ?"mechdesign (collection|survey|device|package|test vectors)"')
_INSTEAD = {
    "collection": "give it the table of each question, one after the other: `collection FILE` lists them",
    "survey": "surveys are for `estimate` and `estimate-counts --survey`",
    "device": "a device file names its table by its sha256: give that table",
}
_NO_TABLE = "the table command writes them; is it the data? a table comes first, data after --in"
_DAMAGED = "was it edited, cut short or saved anew by another program? take the original"


@frozen
class MeanEstimator:
    """``slope Y + intercept`` of a report Y estimates its input: bias and variance are at most these, exactly.

    Of a clamped table Y is what is drawn before it is moved to the domain, and ``of`` says so.
    """

    bias: Fraction
    intercept: Fraction
    of: Literal["mean", "mean before clamping"] = field(metadata=named("kind"))
    slope: Fraction
    variance: Fraction


@frozen
class Chances:
    """A report supports one's own item with probability p, and another one with q: in Hadamard response on average.

    Unbiased frequencies are ``(support / n - q) / (p - q)``. Of tables that hash items q is that of an ideal hash.
    """

    p: Fraction
    q: Fraction


@frozen
class Repair:
    """What it took to make a channel private: the share of the uniform law mixed in, and the outputs dropped."""

    dropped: int
    mixed: Fraction


@frozen
class Proven:
    """The worst error of the table, and what no mechanism with its epsilon goes below."""

    error: Fraction
    lower: Fraction


@frozen
class Table:
    """A mechanism in whole numbers, as the canonical bytes of its file. It exists only if the checker passes it.

    *Guarantee.* A report's probability is a count over ``2^bits``; in each output the counts of two inputs differ by at
    most a factor ``c <= e^epsilon``, all in integers. Anyone can check this with `mechdesign.tables.checker`.

    >>> import math
    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> table = make_table(randomised_response(math.log(3), Finite((0, 1))), bits=16)
    >>> table.law.rows
    ((49152, 16384), (16384, 49152))
    """

    content: bytes = field()
    document: Mapping[str, Any] = derived(lambda table: _checked(table.content))
    """What the file says, as it says it."""
    law: Law = derived(lambda table: _law(table.document))
    """What a report is for every input, typed: see `mechdesign.tables.kinds`."""

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {self.kind}, epsilon={self.epsilon}, bits={self.bits}, sha256={self.sha256[:12]})"

    def _repr_html_(self) -> str:
        return page(self.summary(), self.plot)

    def plot(self) -> Figure:
        """The law of its reports: `mechdesign.plot.table_law`. Needs matplotlib."""
        from mechdesign.plot.tables import table_law

        return table_law(self)

    def summary(self) -> str:
        """What the table is and keeps, in plain words, as the command line prints it."""
        return summary(self)

    @property
    def kind(self) -> str:
        return str(self.document["kind"])

    @property
    def name(self) -> str:
        return str(self.document["name"])

    @property
    def epsilon(self) -> Fraction:
        return Fraction(self.document["epsilon"])

    @property
    def privacy(self) -> Pure | Pairwise:
        """What rows keep, all pairs alike or each its own: the two stand-alone checkers decide it in integers."""
        if isinstance(self.law, FiniteLaw) and self.law.pairs is not None:
            return self.law.pairs.privacy
        return Pure(float(self.epsilon))

    @property
    def bits(self) -> int:
        return int(self.document["bits"])

    @property
    def labels(self) -> Labels:
        """The names of the inputs and of the outputs, for each side that has them: data of this side hold names only.

        >>> from mechdesign.tables import make_table
        >>> from mechdesign.words.domains import Finite
        >>> from mechdesign.mechanisms.catalogue import randomised_response
        >>> make_table(randomised_response(1.0, Finite((0, 1))), labels=Labels(("no", "yes"), ("no", "yes"))).labels
        Labels(inputs=('no', 'yes'), outputs=('no', 'yes'))
        """
        return labels_from(self.document["labels"])

    @property
    def estimator(self) -> MeanEstimator | None:
        """How the mean of the inputs is estimated, where it is: not on a circle."""
        said = self.document["estimator"]
        if said is None or said["kind"] == "frequencies":
            return None
        return MeanEstimator(of=said["kind"], **_fractions(said, "bias", "intercept", "slope", "variance"))

    @property
    def chances(self) -> Chances | None:
        """How frequencies are estimated from the reports of a table of items."""
        said = self.document["estimator"]
        if said is None or said["kind"] != "frequencies":
            return None
        return Chances(**_fractions(said, "p", "q"))

    @property
    def repair(self) -> Repair | None:
        """What was repaired, if anything."""
        said = self.document["repair"]
        return None if said is None else Repair(int(said["dropped"]), Fraction(said["mixed"]))

    @property
    def proven(self) -> Proven | None:
        """What the certificate of a design is worth for its table, if there is one."""
        said = self.document["certificate"]
        return None if said is None else Proven(**_fractions(said, "error", "lower"))

    @property
    def workload(self) -> Answering | None:
        """The workload it answers, with the estimator of its file; None where it has none."""
        return answering(self.document)

    @property
    def input_names(self) -> Names | None:
        """How data of a labelled domain are read; ``None`` where inputs are numbers."""
        texts = self.labels.inputs
        return None if texts is None else Names(texts, self.law.domain.points)

    @property
    def output_names(self) -> Names | None:
        """How labelled reports are written and read; ``None`` where reports are numbers."""
        texts = self.labels.outputs
        return None if texts is None or not isinstance(self.law, Listed) else Names(texts, self.law.outputs)

    @property
    def sha256(self) -> str:
        return str(self.document["sha256"])

    @property
    def domain(self) -> Domain:
        domain: Domain = self.law.domain
        return domain

    @property
    def ratio(self) -> Fraction:
        """The largest likelihood ratio between two rows: exact, and for some kinds more than any two inputs reach."""
        return Fraction(self.document["privacy"])

    @property
    def privacy_loss(self) -> float:
        """The logarithm of `ratio`, to the nearest double."""
        return LikelihoodRatio(self.ratio).loss

    def worst_error(self, exponent: int) -> Fraction:
        """``max over inputs of E|Y - x|^exponent`` of a window table, exactly, for exponents 1 and 2."""
        if not isinstance(self.law, WindowLaw) or exponent not in (1, 2):
            raise InvalidInput("table", self.kind, "be a window table, and the exponent 1 or 2")
        document = dict(self.document)
        _, _, error = self.law.check(document, document["law"], self.law.whole, int(document["cap"]))
        assert error is not None
        return error(exponent)

    def save(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Write the file, all of it or nothing."""
        return files.write_atomically(path, self.content, overwrite=overwrite)


def load_table(path: Path | str) -> Table:
    """Read a table file; anything but a canonical file that passes its whole check is a `FileProblem`."""
    return table_of(files.read_bytes(path), path)


def table_of(content: bytes, path: Path | str) -> Table:
    """That of a file with these bytes."""
    try:
        return Table(content)
    except FileProblem as problem:
        if is_design(content):
            step = f"make one: python -m mechdesign table {Path(path).name} --out table.json"
            raise FileProblem("file", str(path), "be a table, and is a design", step) from None
        other = _OTHERS.search(content)
        if other is not None:
            kind = other[1].decode()
            raise FileProblem("file", str(path), f"be one table, and is a {kind}", _INSTEAD.get(kind, "")) from None
        if not content.lstrip().startswith(b"{"):
            raise FileProblem("file", str(path), "be a table, and is not JSON", _NO_TABLE) from None
        raise FileProblem("table", str(path), f"pass its check: {problem.value}", problem.next_step) from None


def is_design(content: bytes) -> bool:
    """Whether the bytes look like a file of a design, which a table is made from."""
    return f'"{FORMAT}"'.encode() in content[:4096]


def _checked(content: bytes) -> Mapping[str, Any]:
    try:
        return checker.checked(content)
    except checker.Failed as failure:
        step = "" if str(failure).startswith(checker.VERSION_1) else _DAMAGED
        raise FileProblem("table", str(failure), "pass its check", step) from None


def _fractions(said: Mapping[str, Any], *names: str) -> dict[str, Fraction]:
    return {name: Fraction(said[name]) for name in names}


def _law(document: Mapping[str, Any]) -> Law:
    try:
        return law_of(document)
    except InvalidInput as problem:
        raise FileProblem("table", str(problem), "have a domain that this package can use") from None
