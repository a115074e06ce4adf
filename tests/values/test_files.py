"""Files: written whole or not at all, read strictly or not at all."""

import contextlib
import json
import math
import os
import stat
import subprocess
import sys
import threading

import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import FileProblem
from mechdesign.values import files


def only(folder):
    return sorted(path.name for path in folder.iterdir())


# -- writing ----------------------------------------------------------------------------------------------------------


def test_what_is_written_is_what_was_given(tmp_path):
    target = files.write_atomically(tmp_path / "a.json", b"\x00abc")
    assert target.read_bytes() == b"\x00abc"
    assert only(tmp_path) == ["a.json"]


def test_new_files_have_the_permissions_of_any_new_file(tmp_path):
    files.write_atomically(tmp_path / "ours", b"")
    (tmp_path / "plain").write_bytes(b"")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "plain")]
    assert modes[0] == modes[1]


def test_an_existing_file_is_refused_and_kept(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(FileProblem, match="not exist yet"):
        files.write_atomically(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert only(tmp_path) == ["a"]


def test_an_existing_file_is_replaced_when_asked(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    files.write_atomically(tmp_path / "a", b"new", overwrite=True)
    assert (tmp_path / "a").read_bytes() == b"new"
    assert only(tmp_path) == ["a"]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path, monkeypatch):
    real = os.link

    def slower(source, target):
        (tmp_path / "a").write_bytes(b"theirs")
        real(source, target)

    monkeypatch.setattr(os, "link", slower)
    with pytest.raises(FileProblem, match="not exist yet"):
        files.write_atomically(tmp_path / "a", b"ours")
    assert (tmp_path / "a").read_bytes() == b"theirs"
    assert only(tmp_path) == ["a"]


def _fails(*args, **kwargs):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "fdopen", "mkstemp", "chmod", "publish"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_failure_at_any_step_leaves_no_trace(tmp_path, monkeypatch, step, overwrite):
    (tmp_path / "old").write_bytes(b"old")
    target = tmp_path / ("old" if overwrite else "new")
    match step:
        case "fsync":
            monkeypatch.setattr(os, "fsync", _fails)
        case "fdopen":
            real = os.fdopen

            def closed(handle, mode):
                real(handle, mode).close()
                _fails()

            monkeypatch.setattr(os, "fdopen", closed)
        case "mkstemp":
            monkeypatch.setattr("tempfile.mkstemp", _fails)
        case "chmod":
            monkeypatch.setattr("pathlib.Path.chmod", _fails)
        case "publish":
            monkeypatch.setattr(os, "link", _fails)
            monkeypatch.setattr("pathlib.Path.replace", _fails)
    with pytest.raises(FileProblem, match=r"no space left.*free space or choose another disk"):
        files.write_atomically(target, b"new", overwrite=overwrite)
    assert only(tmp_path) == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"


def test_an_interruption_leaves_no_trace(tmp_path, monkeypatch):
    def interrupted(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_atomically(tmp_path / "a", b"new")
    assert only(tmp_path) == []


def test_a_file_system_without_hard_links_is_served(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", _fails)
    files.write_atomically(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert only(tmp_path) == ["a"]


def test_readers_see_the_old_content_or_the_new_and_nothing_else(tmp_path):
    target, seen, done = tmp_path / "a", set(), threading.Event()
    contents = [bytes([k]) * 200_000 for k in range(2)]
    target.write_bytes(contents[0])

    def read():
        while not done.is_set():
            seen.add(target.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(20):
        files.write_atomically(target, contents[k % 2], overwrite=True)
    done.set()
    reader.join()
    assert seen <= set(contents)


def test_the_longest_name_allowed_is_allowed(tmp_path):
    name = "a" * 255
    files.write_atomically(tmp_path / name, b"x")
    assert only(tmp_path) == [name]


def test_a_long_name_of_wide_characters_is_allowed(tmp_path):
    name = "\U0001f512" * 60
    files.write_atomically(tmp_path / name, b"x")
    assert only(tmp_path) == [name]


IMPOSSIBLE = {
    "a folder": lambda folder: folder,
    "in a file": lambda folder: folder / "file" / "a",
    "in a missing folder": lambda folder: folder / "missing" / "a",
    "too long a name": lambda folder: folder / ("a" * 300),
    "a null character": lambda folder: folder / "a\0b",
    "a device": lambda folder: folder / "pipe",
    "nothing": lambda folder: "",
}


@pytest.mark.parametrize("place", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
@pytest.mark.parametrize("overwrite", [False, True])
def test_impossible_places_are_refused_early_and_late(tmp_path, place, overwrite):
    (tmp_path / "file").write_bytes(b"kept")
    os.mkfifo(tmp_path / "pipe")
    before = only(tmp_path)
    with pytest.raises(FileProblem):
        files.require_writable(place(tmp_path), overwrite=overwrite)
    with pytest.raises(FileProblem):
        files.write_atomically(place(tmp_path), b"x", overwrite=overwrite)
    assert only(tmp_path) == before
    assert (tmp_path / "file").read_bytes() == b"kept"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_dangling_link_counts_as_taken(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileProblem, match="not exist yet"):
        files.require_writable(tmp_path / "link")
    with pytest.raises(FileProblem, match="not exist yet"):
        files.write_atomically(tmp_path / "link", b"x")


def test_possible_places_are_accepted_and_untouched(tmp_path):
    files.require_writable(tmp_path / "new")
    (tmp_path / "old").write_bytes(b"old")
    files.require_writable(tmp_path / "old", overwrite=True)
    assert only(tmp_path) == ["old"]
    with pytest.raises(FileProblem, match="not exist yet"):
        files.require_writable(tmp_path / "old")


def test_a_folder_without_permission_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(FileProblem, match="writable folder"):
        files.require_writable(tmp_path / "new")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_replaced_file_keeps_its_mode(tmp_path, mode):
    target = tmp_path / "a"
    target.write_bytes(b"old")
    target.chmod(mode)
    files.write_atomically(target, b"new", overwrite=True)
    assert stat.S_IMODE(target.stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_replaced_by_root_keeps_its_owner(tmp_path):
    target = tmp_path / "a"
    target.write_bytes(b"old")
    os.chown(target, 1234, 4321)
    files.write_atomically(target, b"new", overwrite=True)
    assert (target.stat().st_uid, target.stat().st_gid) == (1234, 4321)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o777])
def test_a_file_of_rows_can_be_read_by_no_more_than_the_file_they_come_from(tmp_path, mode):
    source, before = tmp_path / "source", os.umask(0o022)
    try:
        source.write_bytes(b"rows")
        source.chmod(mode)
        with files.replacing(tmp_path / "a", like=source) as stream:
            stream.write(b"rows")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode & 0o644


def test_a_link_to_a_device_is_never_replaced(tmp_path):
    (tmp_path / "link").symlink_to("/dev/null")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    (tmp_path / "second").symlink_to(tmp_path / "stdout")
    for name in ("link", "stdout", "second", "/dev/stdout", "/dev/fd/1"):
        for refuse in (
            files.require_writable,
            lambda path, overwrite: files.write_atomically(path, b"x", overwrite=overwrite),
        ):
            with pytest.raises(FileProblem, match=r"regular file|folder"):
                refuse(tmp_path / name, overwrite=True)
    assert all((tmp_path / name).is_symlink() for name in ("link", "stdout", "second"))


def test_links_that_go_round_are_a_file_problem(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(FileProblem):
        files.write_atomically(tmp_path / "a", b"x", overwrite=True)
    assert files.is_same_file(tmp_path / "a", tmp_path / "c") is False


WRITER = """
import sys, time
from mechdesign.values import files
with files.replacing(sys.argv[1]) as stream:
    stream.write(b"half a file")
    stream.flush()
    print("writing", flush=True)
    time.sleep(600)
"""


def test_the_part_of_a_killed_process_is_swept_and_that_of_a_living_one_is_not(tmp_path):
    def start(name):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / name)], stdout=subprocess.PIPE)
        assert writer.stdout.readline() == b"writing\n"
        return writer

    killed, living = start("killed"), start("living")
    try:
        killed.kill()
        killed.communicate()
        assert len(only(tmp_path)) == 2  # nobody could remove it
        (tmp_path / ".others.part").write_bytes(b"")
        files.write_atomically(tmp_path / "a", b"x")
        assert [name.rpartition(".")[0][:7] for name in only(tmp_path) if name.endswith(files._PART)] == [".living"]
        assert {"a", ".others.part"} < set(only(tmp_path))
    finally:
        living.kill()
        living.communicate()
    files.write_atomically(tmp_path / "b", b"x")
    assert only(tmp_path) == [".others.part", "a", "b"]


# -- reading ----------------------------------------------------------------------------------------------------------


def read(folder, content):
    path = folder / "in.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return files.read_json(path)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(document=st.dictionaries(st.text(st.characters(codec="utf-8")), JSON, max_size=4))
def test_documents_survive_a_round_trip(tmp_path_factory, document):
    text = files.dump_json(document)
    try:
        content = text.encode()
    except UnicodeEncodeError:
        return
    again = read(tmp_path_factory.getbasetemp(), content)
    assert again == document
    assert json.dumps(again) == json.dumps(document)


def test_infinities_are_written_as_text():
    written = json.loads(files.dump_json({"a": math.inf, "b": [-math.inf, {"c": (math.inf, 1)}]}))
    assert written == {"a": "inf", "b": ["-inf", {"c": ["inf", 1]}]}


def test_nan_is_never_written():
    with pytest.raises(ValueError, match="JSON compliant"):
        files.dump_json({"a": [math.nan]})


def test_text_is_written_as_it_is():
    assert "ε ≤ 1" in files.dump_json({"a": "ε ≤ 1"})


DOUBTFUL = {
    "nothing": "",
    "white space": " \n",
    "NaN": '{"a": NaN}',
    "Infinity": '{"a": Infinity}',
    "minus Infinity": '{"a": [-Infinity]}',
    "a number beyond doubles": '{"a": 1e999}',
    "a negative number beyond doubles": '{"a": [[-1e400]]}',
    "a key twice": '{"a": 1, "a": 1}',
    "a key twice inside": '{"b": [{"a": 1, "c": 2, "a": 3}]}',
    "a key twice in escapes": '{"a": 1, "\\u0061": 2}',
    "trailing data": '{"a": 1} {"b": 2}',
    "trailing comma": '{"a": 1,}',
    "truncated": '{"a": [1, 2',
    "truncated text": '{"a": "bc',
    "single quotes": "{'a': 1}",
    "a comment": '{"a": 1 // b\n}',
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"a": 1}',
    "null bytes": b'{"a": 1}\x00',
    "a control character": b'{"a": "\x01"}',
    "a list": "[1, 2]",
    "a number": "3",
    "text": '"abc"',
    "null": "null",
    "deep nesting": '{"a":' + "[" * 200_000 + "]" * 200_000 + "}",
    "deep objects": '{"a":' * 200_000 + "1" + "}" * 200_000,
    "a number of many digits": '{"a": ' + "9" * 5000 + "}",
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("content", DOUBTFUL.values(), ids=DOUBTFUL)
def test_doubtful_content_is_refused(tmp_path, content):
    with pytest.raises(FileProblem):
        read(tmp_path, content)


def test_the_repeated_key_is_named(tmp_path):
    with pytest.raises(FileProblem, match="'weight' appears twice"):
        read(tmp_path, '{"weight": 1, "x": 2, "weight": 3}')


def test_a_file_over_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LARGEST", 20)
    assert read(tmp_path, '{"a": 1}' + " " * 12) == {"a": 1}
    with pytest.raises(FileProblem, match="at most"):
        read(tmp_path, '{"a": 1}' + " " * 13)


def test_a_huge_file_is_refused_without_being_kept(tmp_path):
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(10 * 2**30)
    with pytest.raises(FileProblem, match="at most 64 MB"):
        files.read_json(tmp_path / "huge")


def test_an_endless_device_is_refused():
    with pytest.raises(FileProblem, match="at most 64 MB"):
        files.read_json("/dev/zero")


def test_a_pipe_can_be_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(b'{"a": 1}'))
    writer.start()
    assert files.read_json(tmp_path / "pipe") == {"a": 1}
    writer.join()


@pytest.mark.parametrize("name", ["missing", "folder", "file/inside", "a\0b", "a" * 300])
def test_what_cannot_be_opened_is_refused(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileProblem):
        files.read_json(tmp_path / name)


@given(content=st.binary(max_size=60))
def test_any_bytes_give_an_object_or_a_file_problem(tmp_path_factory, content):
    with contextlib.suppress(FileProblem):
        assert isinstance(read(tmp_path_factory.getbasetemp(), content), dict)


@given(document=st.dictionaries(st.text("ab", max_size=2), JSON, min_size=1, max_size=3), data=st.data())
def test_a_file_cut_anywhere_is_refused(tmp_path_factory, document, data):
    content = json.dumps(document).encode()
    cut = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(FileProblem):
        read(tmp_path_factory.getbasetemp(), content[:cut])
