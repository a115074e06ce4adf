"""The package replays the vectors of its tables, lets randomness fail, and keeps a state in a file."""

import importlib
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from replay import first_failure  # noqa: E402

MANIFEST = json.loads((HERE.parent / "mechdesign-package.json").read_text(encoding="utf-8"))
package = importlib.import_module(MANIFEST["name"])
TABLES = {name: getattr(package, name) for name in MANIFEST["tables"]}
DEVICE = "device" in MANIFEST and f"{MANIFEST['device']['table']}_device"


def typical(table):
    return table.input_labels[0] if table.input_labels else 0 if table.items else table.ends[0]


def fails(count):
    raise OSError("broken")


class TestPackage(unittest.TestCase):
    def replay(self, name, *read):
        self.assertIsNone(first_failure(package, HERE / name, *read), name)

    def test_the_vectors_of_tables_and_their_envelopes_are_reproduced(self):
        for name, table in TABLES.items():
            self.assertEqual(table.sha256, MANIFEST["tables"][name])
            self.replay(f"{name}_vectors.txt", table)
            self.replay(f"{name}_envelopes.txt", table)

    def test_without_randomness_there_is_an_error_and_no_report(self):
        for table in TABLES.values():
            table.pool.pieces.clear()
            with mock.patch.object(os, "urandom", fails), self.assertRaises(package.NoRandomness):
                table.sample(typical(table))
            with self.assertRaises(package.NoRandomness):
                table.sample(typical(table), lambda count: b"")
            report = table.sample(typical(table))
            with mock.patch.object(os, "urandom", fails), self.assertRaises(package.NoRandomness):
                table.envelope(report, 1)
            self.assertNotEqual(table.envelope(report, 1), table.envelope(report, 1))


@unittest.skipUnless(DEVICE, "this package has no device")
class TestDevice(unittest.TestCase):
    def refused(self, call, *said):
        with self.assertRaises(package.StateRefused) as found:
            call(*said)
        return found.exception.reason

    def test_the_vectors_of_its_states_are_reproduced(self):
        self.assertIsNone(first_failure(package, HERE / f"{DEVICE}_vectors.txt", getattr(package, DEVICE)))

    def test_a_state_in_a_file_is_created_spent_counted_and_used_by_one(self):
        device = getattr(package, DEVICE)
        x = typical(device.first)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state"
            with package.FileStorage(path) as storage:
                self.assertEqual(self.refused(device.report, storage, x, 20), "missing")
                device.create(storage, 20, 1)
                self.assertEqual(self.refused(device.create, storage, 20), "present")
                device.report(storage, x, 20)
                self.assertEqual(self.refused(device.report, storage, x, 20), "exhausted")
                self.assertEqual(self.refused(package.FileStorage(path).__enter__), "busy")
            with package.FileStorage(path) as storage:
                self.assertEqual(device.serial(storage), 2)
                self.assertEqual(self.refused(device.serial, storage, 3), "rolled-back")


if __name__ == "__main__":
    unittest.main()
