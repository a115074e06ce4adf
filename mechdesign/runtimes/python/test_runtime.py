"""The runtime on the shared vectors, without randomness, with threads and forks, and with states in files."""

import contextlib
import ctypes
import json
import os
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import mechdesign_runtime as runtime
from mechdesign_runtime import device as devices
from replay import first_failure

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
TABLES = {
    path.stem: runtime.Table.read(path.read_text(encoding="ascii"))
    for path in sorted(VECTORS.glob("*.json"))
    if not path.stem.endswith("_device") and path.stem != "collection"
}


def device_of(name):
    tables = [table for key, table in TABLES.items() if key in (name, f"{name}_again")]
    return devices.Device.read((VECTORS / f"{name}_device.json").read_bytes(), *tables)


DEVICES = {path.stem[: -len("_device")]: None for path in sorted(VECTORS.glob("*_device.json"))}
DEVICES = {name: device_of(name) for name in DEVICES}


def typical(table):
    return table.input_labels[0] if table.input_labels else 0 if table.items else table.ends[0]


def fails(count):
    raise OSError("broken")


NO_LAWS = (
    ("response", ["bits"], 8),  # with which every report would be true
    ("response", ["law", "own"], 1),
    ("response", ["law", "other"], 0),
    ("response", ["domain", "count"], 70_000),
    ("response", ["sha256"], "00"),
    ("hadamard", ["law", "blocks"], 3),
    ("hashing", ["law", "hashes"], 1),
    ("subset", ["law", "subset"], 0),
    ("unary", ["law", "own_bit", 0], 1),
    ("sketch", ["law", "other_bit", 1], 1),
    ("sketch", ["law", "functions"], 2048),
    ("labels", ["law", "rows", 0, 0], 1),
    ("labels", ["law", "rows", 0], []),
    ("labels", ["labels", "inputs"], ["z"]),
    ("window", ["law", "base", 0], 0),
    ("window", ["law", "starts", 0], -1),
    ("window", ["law", "thresholds"], []),
    ("window", ["domain", "lower"], "2"),
    ("unbiased", ["law", "means", 0], 2**62),
    ("unbiased", ["law", "offset"], "NaN"),
    ("pieces", ["law", "inside"], 0),
    ("pieces", ["law", "scale"], "1e300"),
    ("circle", ["law", "weight"], 2**62),
    ("additive", ["law", "weights", 0], 0),
    ("additive", ["law", "tail"], 0),
    ("additive", ["law", "shift"], 2000),
    ("clamped_noise", ["law", "clamp"], ["0"]),
    ("clamped_noise", ["law", "clamp"], ["1", "0"]),
)
OTHERS = (None, "", [], -1, 0, 1, 2**31, 2**62, 10**30, "NaN", "Infinity", " 1 ", "abc", True, 1.5, [None], [[1]])


def changed(document, place, value):
    *way, last = place
    holder = document
    for key in way:
        holder = holder[key]
    holder[last] = value
    return document


def places(holder):
    """Where values are: of lists at the first two places."""
    for key in list(holder) if isinstance(holder, dict) else range(min(2, len(holder))):
        yield holder, key
        if isinstance(holder[key], (dict, list)):
            yield from places(holder[key])


def typical_code(table):
    return 0 if table.items else table.ends[0]


def limited(left):
    """Random bytes, which end."""

    def read(count):
        nonlocal left
        left -= count or 1
        if left < 0:
            raise EOFError
        return os.urandom(count)

    return read


class Vectors(unittest.TestCase):
    def replay(self, name, *read):
        self.assertIsNone(first_failure(devices, VECTORS / name, *read), name)

    def test_tables(self):
        for name, table in TABLES.items():
            self.replay(f"{name}.txt", table)

    def test_states_of_devices(self):
        for name, device in DEVICES.items():
            self.replay(f"{name}_device.txt", device)

    def test_envelopes_of_tables_devices_and_a_collection(self):
        for name, table in TABLES.items():
            self.replay(f"{name}_envelopes.txt", table)
        for name, device in DEVICES.items():
            self.replay(f"{name}_device_envelopes.txt", device)
        tables = runtime.read_collection((VECTORS / "collection.json").read_bytes())
        for number, table in enumerate(tables.values()):
            self.replay(f"collection_{number}_envelopes.txt", table)


class Reading(unittest.TestCase):
    def test_what_is_no_table_is_refused(self):
        good = (VECTORS / "window.json").read_text(encoding="ascii")
        others = ["", "[]", "nothing", "1", good.replace('"version":2', '"version":1'), good.replace("window", "w", 1)]
        for text in [*others, good.replace('"law"', '"lore"'), good.replace('"lower":"0"', '"lower":"low"')]:
            with self.assertRaises(runtime.NotReadable):
                runtime.Table.read(text)

    def test_a_law_that_is_none_of_its_kind_is_refused(self):
        for name, place, value in NO_LAWS:
            content = (VECTORS / f"{name}.json").read_text(encoding="ascii")
            runtime.Table.read(content)
            with self.subTest(name=name, place=place), self.assertRaises(runtime.NotReadable):
                runtime.Table(changed(json.loads(content), place, value))

    def test_noise_that_hardly_ever_ends_is_refused(self):
        said = json.loads((VECTORS / "additive.json").read_text(encoding="ascii"))
        said["law"]["weights"] = [count << 16 for count in said["law"]["weights"]]
        said["law"]["tail"], said["bits"] = 2**32 - 2**16, 32
        runtime.Table(said)
        said["law"]["tail"] += 1
        with self.assertRaises(runtime.NotReadable):
            runtime.Table(said)

    def test_a_changed_table_is_refused_or_draws(self):
        """What is drawn ends, and an input is refused as one: no changed file leads to another error."""
        for name in TABLES:
            document = json.loads((VECTORS / f"{name}.json").read_text(encoding="ascii"))
            for holder, key in places({key: document[key] for key in ("domain", "law", "labels")}):
                kept = holder[key]
                for holder[key] in OTHERS:
                    with self.subTest(name=name, key=key, value=holder[key]):
                        self.draw_or_refuse(document)
                holder[key] = kept

    def draw_or_refuse(self, document):
        try:
            table = runtime.Table(document)
        except runtime.NotReadable:
            return
        with contextlib.suppress(EOFError):
            table.sample_code(typical_code(table), limited(1 << 16))

    def test_a_changed_device_or_collection_is_refused(self):
        content = json.loads((VECTORS / "labels_device.json").read_text(encoding="ascii"))
        tables = [TABLES["labels"], TABLES["labels_again"]]
        others = {"values": (-1, 4097, 1.5, "1", 0), "reports": (0, 10_001, True, None), "sha256": ("", None, "0" * 63)}
        for key, values in {**others, "table": (None, [], "0"), "again": ([], "0", TABLES["unary"].sha256)}.items():
            for value in values:
                with self.subTest(key=key, value=value), self.assertRaises(runtime.NotReadable):
                    devices.Device({**content, key: value}, *tables, TABLES["unary"])
            with self.assertRaises(runtime.NotReadable):
                devices.Device({other: content[other] for other in content if other != key}, *tables)
        said = json.loads((VECTORS / "collection.json").read_text(encoding="ascii"))
        twice = said["attributes"][:1] * 2
        for more in ({"attributes": None}, {"attributes": [1]}, {"attributes": twice}, {"sha256": "0"}):
            with self.assertRaises(runtime.NotReadable):
                runtime.read_collection(json.dumps({**said, **more}))

    def test_a_device_needs_its_tables(self):
        content = (VECTORS / "labels_device.json").read_bytes()
        with self.assertRaises(runtime.NotReadable):
            devices.Device.read(content, TABLES["labels"])
        with self.assertRaises(runtime.NotReadable):
            runtime.Table.read(content)


class Sampling(unittest.TestCase):
    def test_what_is_no_input_is_refused(self):
        for table in TABLES.values():
            for x in (None, True, b"1", [1], "no such label", *([0.5] if table.items else [])):
                with self.assertRaises((TypeError, ValueError)):
                    table.sample(x)
            with self.assertRaises((TypeError, ValueError)):
                table.sample_code("0")
            with self.assertRaises(ValueError):
                table.sample_code(10**400)

    def test_labels_go_in_and_come_out(self):
        table = TABLES["labels"]
        for label in table.input_labels:
            self.assertIn(table.sample(label), table.output_labels)

    def test_a_label_is_the_code_at_its_place(self):
        for name in ("labels", "response"):
            table = TABLES[name]
            for place, label in enumerate(table.input_labels):
                content = os.urandom(1 << 12)
                code = place if table.items else table.points[place]
                report = table.named(table.sample_code(code, stream(content)))
                self.assertEqual(table.sample(label, stream(content)), report)

    def test_without_randomness_there_is_an_error_and_no_report(self):
        for table in TABLES.values():
            table.pool.pieces.clear()
            with mock.patch.object(os, "urandom", fails), self.assertRaises(runtime.NoRandomness):
                table.sample(typical(table))
            with self.assertRaises(runtime.NoRandomness):
                table.sample(typical(table), lambda count: b"")
            table.sample(typical(table))

    def test_a_report_takes_one_piece_whatever_the_input(self):
        """But for a chance of 2^-64; where numbers of a set's members are refused, it is by numbers of their own."""
        for table in TABLES.values():
            every = range(table.items) if table.items else table.points or table.ends
            for x in [x for x in every for _ in range(20) if table.kind != "subset"]:
                with mock.patch.object(table.pool, "take", wraps=table.pool.take) as take:
                    table.sample_code(x)
                self.assertEqual(take.call_count, 1)

    def test_no_two_threads_get_the_same_bytes(self):
        pool, found = runtime.Pool(16), []

        def take():
            found.extend(pool.take() for _ in range(5000))

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(found)), 20_000)

    @unittest.skipUnless(hasattr(os, "fork"), "needs os.fork")
    def test_a_child_of_a_fork_repeats_no_bytes_whoever_forked(self):
        for fork in (os.fork, ctypes.PyDLL(None).fork):  # of the second Python is told nothing
            pool = runtime.Pool(16)
            pool.take()
            reading, writing = os.pipe()
            child = fork()
            if not child:
                os.write(writing, pool.take())
                os._exit(0)
            os.waitpid(child, 0)
            self.assertNotEqual(os.read(reading, 16), pool.take())
            os.close(reading)
            os.close(writing)


def stream(content):
    place = 0

    def read(count):
        nonlocal place
        place += count
        return content[place - count : place]

    return read


class Envelopes(unittest.TestCase):
    def test_without_randomness_there_is_no_envelope_and_nonces_differ(self):
        table = TABLES["labels"]
        report = table.sample(typical(table))
        with mock.patch.object(os, "urandom", fails), self.assertRaises(runtime.NoRandomness):
            table.envelope(report, 1)
        with self.assertRaises(runtime.NoRandomness):
            table.envelope(report, 1, lambda count: b"too few")
        self.assertNotEqual(table.envelope(report, 1), table.envelope(report, 1))

    def test_days_and_reports_that_cannot_be_are_refused(self):
        for table in TABLES.values():
            report = table.sample(typical(table))
            for day in (-1, True, 1.0, "1", runtime.LAST_DAY + 1):
                with self.assertRaises(ValueError):
                    table.envelope(report, day)
            for wrong in (None, True, b"", "no report"):
                with self.assertRaises(ValueError):
                    table.envelope(wrong, 1)


class Devices(unittest.TestCase):
    def refused(self, call, *said):
        with self.assertRaises(devices.StateRefused) as found:
            call(*said)
        return found.exception.reason

    def test_a_state_in_a_file_is_created_spent_counted_and_used_by_one(self):
        for device in DEVICES.values():
            x = typical(device.first)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "state"
                with devices.FileStorage(path) as storage:
                    self.assertEqual(self.refused(device.report, storage, x, 20), "missing")
                    device.create(storage, 20, 1)
                    self.assertEqual(self.refused(device.create, storage, 20), "present")
                    report = device.report(storage, x, 20)
                    self.assertEqual(device.envelope(report, 1)[5:8], b"\2\0\0")
                    self.assertEqual(self.refused(device.report, storage, x, 20), "exhausted")
                    self.assertEqual(self.refused(devices.FileStorage(path).__enter__), "busy")
                with devices.FileStorage(path) as storage:
                    self.assertEqual(device.serial(storage), 2)
                    self.assertEqual(self.refused(device.serial, storage, 3), "rolled-back")
                self.assertEqual(self.refused(storage.load), "busy")
                self.assertEqual(path.stat().st_mode & 0o077, 0)

    def test_threads_on_one_storage_spend_no_more_than_a_period_has(self):
        class Slow:
            def load(self):
                content = self.content
                time.sleep(0.01)
                return content

            def store(self, content):
                self.content = content

        device, storage, spent = DEVICES["labels"], Slow(), []
        storage.content = device.written(1, 20, 0, [])

        def report():
            try:
                device.report(storage, typical(device.first), 20)
            except devices.StateRefused as refused:
                spent.append(refused.reason)

        threads = [threading.Thread(target=report) for _ in range(device.reports + 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(spent, ["exhausted"] * 3)

    def test_what_is_not_stored_is_not_reported(self):
        class Full:
            def load(self):
                return self.content

            def store(self, content):
                raise OSError("no space")

        device, storage = DEVICES["labels"], Full()
        storage.content = device.written(1, 20, 0, [])
        with self.assertRaises(OSError):
            device.report(storage, typical(device.first), 20)

    def test_counts_that_are_none_are_refused(self):
        device = DEVICES["labels"]
        for period in (True, 1.0, "1"):
            self.assertRaises(TypeError, device.create, None, period)
        for said in ((-1,), (1, 99), (1, 0, -1), (2**31,)):
            self.assertRaises(ValueError, device.create, None, *said)


if __name__ == "__main__":
    unittest.main()
