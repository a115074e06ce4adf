"""Where the answer of a command goes: options that are the same in all of them, and what is done with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mechdesign.cli import output
from mechdesign.cli.signatures import Part
from mechdesign.errors import InvalidInput
from mechdesign.values import files
from mechdesign.values.declare import field, frozen, option
from mechdesign.values.tables import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mechdesign.methods.result import Design


@frozen
class Sent:
    """The options about what becomes of an answer."""

    plot: Path | None = field(default=None, metadata=option("--plot", "Save a picture: .png, .pdf or .svg."))
    out: Path | None = field(default=None, metadata=option("--out", "Save the design as JSON (for research use)."))
    as_json: bool = field(default=False, metadata=option("--json", "One JSON object on stdout, nothing else."))
    force: bool = field(default=False, metadata=option("--force", "Overwrite existing output files."))
    quiet: bool = field(default=False, metadata=option("--quiet", "No progress messages."))
    title: str | None = field(
        default=None, metadata=option("--title", "A title of your own for the picture.", metavar="TEXT")
    )
    plot_size: str | None = field(
        default=None,
        metadata=option("--plot-size", "Width and height of the picture in inches.", metavar="W,H"),
    )

    def require_writable(self, *pictures: Path | None) -> None:
        """Refuse before any work is done what could not be written; ``pictures`` are those beside ``--plot``."""
        if self.plot_size is not None or self.title is not None:
            self._require_look(self.plot, *pictures)
        output.require_outputs(self.out, self.plot, *pictures, force=self.force)

    def refuse_picture(self, rule: str, next_step: str) -> None:
        """`InvalidInput` where there is nothing to draw."""
        if self.plot is not None:
            raise InvalidInput("options", "--plot", rule, next_step)

    def _require_look(self, *pictures: Path | None) -> None:
        from mechdesign import plot

        if self.title is not None:
            plot.require_title(self.title)
        if self.plot_size is not None:
            _inches(self.plot_size)
        if all(path is None for path in pictures):
            name, value = ("plot-size", self.plot_size) if self.title is None else ("title", self.title)
            raise InvalidInput(name, printable(value or "", 40), "come with a picture", "add --plot FILE")

    @property
    def shows_field(self) -> bool:
        """Whether anybody sees rivals: a script that keeps the design alone does not."""
        return self.as_json or not self.quiet or self.out is None

    def draw(self, figure: Figure, path: Path | None = None) -> None:
        """Write a picture as the user wants it to look."""
        from mechdesign import plot

        where = self.plot if path is None else path
        assert where is not None
        size = None if self.plot_size is None else _inches(self.plot_size)
        title = None if self.title is None else plot.require_title(self.title)
        plot.save(figure, where, overwrite=self.force, title=title, size=size)

    def keep(self, content: Design | str | bytes) -> None:
        """Write ``--out``, if it was asked for."""
        if self.out is None:
            return
        if isinstance(content, str | bytes):
            data = content.encode() if isinstance(content, str) else content
            files.write_atomically(self.out, data, overwrite=self.force)
        else:
            content.save(self.out, overwrite=self.force)

    def say_saved(self, *more: Path | None) -> None:
        """The files that were written."""
        for path in (self.out, self.plot, *more):
            if path is not None:
                output.say_saved(path)


def _inches(text: str) -> tuple[float, float]:
    from mechdesign import plot

    try:
        width, height = map(float, text.split(","))
    except ValueError:
        raise InvalidInput(
            "plot-size", printable(text, 40), "be two numbers W,H", "for example --plot-size 8,5"
        ) from None
    return plot.require_size(width, height)


Drawn = Annotated[Sent, Part("out")]
"""For commands that only draw."""

Said = Annotated[Sent, Part("out", "plot", "title", "plot_size", "force")]
"""For commands that write no file."""

_NO_PICTURE = ("plot", "title", "plot_size")


def kept(help: str) -> Part:
    """The mark of a `Sent` that draws nothing; ``help`` says what ``--out`` saves."""
    return Part(*_NO_PICTURE, out=help)


Written = Annotated[Sent, Part("out", *_NO_PICTURE)]
"""For commands whose output file is an option of their own."""
