"""One item a user, from lines of several."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechdesign.data.baskets import one_each
from mechdesign.errors import FileProblem, InvalidData

MSNBC = """% Different categories found in input file:

frontpage news tech

% Sequences:

1 1
2
3 2 2 3 3
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "lines.dat"
    path.write_text(text)
    return path


def test_each_line_counts_for_its_most_frequent_item(tmp_path: Path) -> None:
    found = one_each(written(tmp_path, MSNBC))
    assert (found.items, found.counts.tolist(), found.left_out) == (("1", "2", "3"), [1, 1, 1], 0)


def test_only_the_items_most_frequent_in_all_are_kept(tmp_path: Path) -> None:
    """Item a is there four times and b three; c, though the mode of its line, is not kept."""
    found = one_each(written(tmp_path, "a,a,a,b\nc,c,b\nb,a\nc\n".replace("c,c", "c")), most=2)
    assert dict(zip(found.items, found.counts.tolist(), strict=True)) == {"a": 1, "b": 2}
    assert found.left_out == 1


def test_of_equally_frequent_items_the_first_is_taken(tmp_path: Path) -> None:
    assert one_each(written(tmp_path, "7 8\n8 7\n8\n")).counts.tolist() == [2, 1]


def test_ends_of_visits_and_sequences_are_no_items(tmp_path: Path) -> None:
    assert one_each(written(tmp_path, "1 -1 2 -1 2 -1 -2\n")).items == ("2",)


def test_kept_items_that_nobody_is_left_with_have_no_users(tmp_path: Path) -> None:
    found = one_each(written(tmp_path, "a a b\na a b\n"), most=2)
    assert (found.items, found.counts.tolist()) == (("a", "b"), [2, 0])


@pytest.mark.parametrize(
    ("text", "line"), [("1 2\n\n3\n", "line 2"), ("1\n, ,\n", "line 2"), ("1\n" + "secret" * 40 + "\n", "line 2")]
)
def test_a_line_that_holds_no_items_is_named_and_not_shown(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(InvalidData, match=line) as error:
        one_each(written(tmp_path, text))
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("text", ["", "% nothing\n\n"])
def test_a_file_without_lines_of_items_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileProblem, match="hold a line of items"):
        one_each(written(tmp_path, text))


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lines.dat"
    path.write_bytes(b"1 2\n\xff\xfe\n")
    with pytest.raises(FileProblem, match="UTF-8"):
        one_each(path)
