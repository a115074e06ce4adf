"""A table, collection or manifest signed in the format of minisign, for `verify --public-key`; or a new key pair.

The signature lies beside the file as FILE.minisig, and minisign itself reads it, as this reads minisign's keys.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.sent import Written
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.plot.canvas import printable
from mechdesign.tables.reports.signing import new_key, sign
from mechdesign.values import files
from mechdesign.values.declare import frozen

_LONGEST_PASSWORD = 4096


@frozen
class Answer:
    """The signature that was written and what it says beside, or the public key of a new pair."""

    file: str
    comment: str | None
    public_key: str


ANSWERS = ((Answer,),)
EXAMPLE = """\
table --eps 1 --mechanism pm --out pm.json
sign --new-key publisher.key
sign pm.json --key publisher.key"""


def run(
    sent: Written,
    file: Annotated[Path | None, typer.Argument(help="What is signed.", metavar="FILE")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="A secret key of minisign.", metavar="SECRET")] = None,
    new: Annotated[
        Path | None, typer.Option("--new-key", help="Make a key pair: SECRET and SECRET.pub.", metavar="SECRET")
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option("--password-file", help="The first line is the key's password.")
    ] = None,
    comment: Annotated[
        str | None, typer.Option("--comment", help="A line that is signed too (the file's name).", metavar="TEXT")
    ] = None,
) -> None:
    password = None if password_file is None else _password(password_file)
    if new is not None:
        if file is not None or key is not None or comment is not None or sent.force:
            raise InvalidInput(
                "options", "--new-key", "come alone, or with --password-file", "sign in a second command"
            )
        public = new_key(new, password)
        line = files.read_bytes(public).splitlines()[1].decode()
        _say(Answer(str(public), None, line), sent.as_json)
        if password is None:
            output.warn("the secret key has no password: whoever reads its file can sign")
        return
    if file is None or key is None:
        raise InvalidInput(
            "options", "FILE, --key", "be given both, or --new-key", "for example sign t.json --key s.key"
        )
    done = sign(file, key, password, comment, overwrite=sent.force)
    _say(Answer(str(done.file), done.comment, done.key), sent.as_json)


def _say(answer: Answer, as_json: bool) -> None:
    if as_json:
        output.print_json(answer)
        return
    what = "public key" if answer.comment is None else f"signed, with the comment {printable(answer.comment)!r}: key"
    output.console.print(f"{what} {answer.public_key}", soft_wrap=True)
    output.say_saved(Path(answer.file))


def _password(path: Path) -> str:
    try:
        lines = files.read_bytes(path, "password file", _LONGEST_PASSWORD).decode().splitlines()
    except UnicodeDecodeError:
        raise FileProblem("password file", path.name, "be text in UTF-8") from None
    if not lines or not lines[0]:
        raise FileProblem("password file", path.name, "hold a password in its first line")
    return lines[0]
