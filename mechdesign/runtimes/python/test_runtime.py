"""The runtime on the shared vectors, without randomness, with threads and forks, and with states in files."""

import os
import struct
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import mechdesign_runtime as runtime
from replay import first_failure

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
TABLES = {
    path.stem: runtime.Table.read(path.read_text(encoding="ascii"))
    for path in sorted(VECTORS.glob("*.json"))
    if not path.stem.endswith("_device") and path.stem != "collection"
}


def device_of(name):
    tables = [table for key, table in TABLES.items() if key in (name, f"{name}_again")]
    return runtime.Device.read((VECTORS / f"{name}_device.json").read_bytes(), *tables)


DEVICES = {path.stem[: -len("_device")]: None for path in sorted(VECTORS.glob("*_device.json"))}
DEVICES = {name: device_of(name) for name in DEVICES}


def typical(table):
    return table.input_labels[0] if table.input_labels else 0 if table.items else table.ends[0]


def fails(count):
    raise OSError("broken")


class Vectors(unittest.TestCase):
    def replay(self, name, *read):
        self.assertIsNone(first_failure(runtime, VECTORS / name, *read), name)

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

    def test_a_device_needs_its_tables(self):
        content = (VECTORS / "labels_device.json").read_bytes()
        with self.assertRaises(runtime.NotReadable):
            runtime.Device.read(content, TABLES["labels"])
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
    def test_a_child_of_a_fork_begins_without_bytes(self):
        pool = runtime.Pool(16)
        pool.take()
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.write(writing, struct.pack("<I", len(pool.pieces)))
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(struct.unpack("<I", os.read(reading, 4)), (0,))
        os.close(reading)
        os.close(writing)
        self.assertGreater(len(pool.pieces), 0)


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
        with self.assertRaises(runtime.StateRefused) as found:
            call(*said)
        return found.exception.reason

    def test_a_state_in_a_file_is_created_spent_counted_and_used_by_one(self):
        for device in DEVICES.values():
            x = typical(device.first)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "state"
                with runtime.FileStorage(path) as storage:
                    self.assertEqual(self.refused(device.report, storage, x, 20), "missing")
                    device.create(storage, 20, 1)
                    self.assertEqual(self.refused(device.create, storage, 20), "present")
                    report = device.report(storage, x, 20)
                    self.assertEqual(device.envelope(report, 1)[5:8], b"\2\0\0")
                    self.assertEqual(self.refused(device.report, storage, x, 20), "exhausted")
                    self.assertEqual(self.refused(runtime.FileStorage(path).__enter__), "busy")
                with runtime.FileStorage(path) as storage:
                    self.assertEqual(device.serial(storage), 2)
                    self.assertEqual(self.refused(device.serial, storage, 3), "rolled-back")
                self.assertEqual(self.refused(storage.load), "busy")
                self.assertEqual(path.stat().st_mode & 0o077, 0)

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
