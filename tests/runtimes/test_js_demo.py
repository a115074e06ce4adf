"""The demo pages of npm packages in a real browser: answered, collected and read by the package's own commands."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from scipy import stats

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Labels, Table, make_table
from mechdesign.tables.device import Device
from mechdesign.tables.export.folder import export_package
from mechdesign.tables.reports import Collector, Envelope, Intake, Store, Subject
from mechdesign.words.domains import Finite
from tests.oracles.device_reports import LABELS, response

CLICKS = 300
TABLES = {"smokes": response(2.0, 3, LABELS), "again": response(1.0, 3, LABELS)}
DEVICE = Device(TABLES["smokes"], TABLES["again"], values=2, reports=5)
ANSWERING = f"""
<script type="module">
  const wait = (time) => new Promise((wake) => setTimeout(wake, time));
  while (document.body.dataset.ready !== "yes") await wait(10);
  const answered = async (table, value) => {{
    const form = document.querySelector(`form[data-table=${{table}}]`), output = form.querySelector("output");
    form.elements.x.value = value;
    output.textContent = "";
    form.querySelector("button").click();
    while (output.textContent === "") await wait(1);
    return output.textContent;
  }};
  for (let person = 0; person < {CLICKS}; person++) {{
    localStorage.clear();
    await answered("smokes", "rather not");
  }}
  const first = await answered("smokes", "yes"), second = await answered("smokes", "yes");
  const done = document.createElement("p");
  done.textContent = `kept: ${{first === second}}; mood: ${{await answered("mood", "0.5")}}`;
  await answered("fruit", "3");
  document.body.append(done);
</script>
"""
WITHOUT = '<script>Object.defineProperty(globalThis, "crypto", { value: undefined });</script>'


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    labels = Labels(("no", "rather not", "yes"), ("n", '"r", or so', "y"))
    return {
        "smokes": make_table(catalogue.randomised_response(1.3, Finite((0, 1, 2))), labels=labels),
        "mood": make_table(catalogue.pm(1.0)),
        "fruit": protocol_table("oue", 1.0, 12),
    }


@contextmanager
def collecting(folder: Path) -> Iterator[str]:
    """Where the collector of a folder's package runs, at a free port; it keeps envelopes in a folder beside."""
    (folder / "kept").mkdir()
    command = ["node", str(folder / "survey" / "demo" / "collect.mjs"), "0"]
    with subprocess.Popen(command, cwd=folder / "kept", stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        yield program.stdout.readline().strip()
        program.terminate()


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


@pytest.fixture
def address(tables: dict[str, Table], tmp_path: Path) -> Iterator[str]:
    needs("node")
    export_package(tables, "typescript", "survey", tmp_path / "survey", cases=0)
    with collecting(tmp_path) as address:
        yield address


def shown(address: str, folder: Path) -> str:
    """The page as the browser has it in the end."""
    needs("chromium")
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}")
    command = ["chromium", *options, "--virtual-time-budget=60000", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def kept(folder: Path) -> list[Envelope]:
    with (folder / "kept" / "envelopes.txt").open("rb") as lines:
        return [Envelope.of_line(line) for line in lines]


def taken_in(tables: dict[str, Table], folder: Path) -> Intake:
    with Store(folder / "store", new=True) as store:
        return Collector(store, tables.values()).take_file(folder / "kept" / "envelopes.txt")


@pytest.mark.slow
def test_reports_of_the_page_have_the_law_of_the_table(tables: dict[str, Table], address: str, tmp_path: Path) -> None:
    """Chi-square, n = 300: false alarms with probability 1e-6; a share of the truth 1.5 times too large is noticed."""
    page = tmp_path / "survey" / "demo" / "index.html"
    page.write_text(page.read_text().replace("</html>", f"{ANSWERING}</html>"))
    said = shown(address, tmp_path)
    assert "kept: true; mood: Sent was: " in said
    envelopes = kept(tmp_path)
    assert {envelope.expires for envelope in envelopes} == {date(2099, 12, 31)}
    smokes = [one.report for one in envelopes if one.subject.sha256 == tables["smokes"].sha256]
    counts = Counter(smokes[:CLICKS])
    row = tables["smokes"].law.rows[1]
    observed = [counts[bytes([place])] for place in range(3)]
    assert sum(observed) == CLICKS
    assert stats.chisquare(observed, [CLICKS * count / sum(row) for count in row]).pvalue > 1e-6
    found = taken_in(tables, tmp_path)
    # the last person clicked three times and sent one envelope
    assert len(set(envelopes[CLICKS - 1 : CLICKS + 2])) == 1
    assert (found.accepted, found.refused["repeated"], sum(found.refused.values())) == (CLICKS + 2, 2, 2)


@pytest.mark.slow
def test_a_browser_without_secure_randomness_is_told_and_sends_nothing(address: str, tmp_path: Path) -> None:
    page = tmp_path / "survey" / "demo" / "index.html"
    page.write_text(page.read_text().replace("<title>", f"{WITHOUT}<title>"))
    said = shown(address, tmp_path)
    assert "This browser has no secure randomness" in said
    assert said.count("disabled") >= 2
    assert not (tmp_path / "kept" / "envelopes.txt").exists()


POSTS = """
import { envelopes, fruit, mood, smokes } from "./survey/index.mjs";
const address = new URL("/envelopes", process.argv[2]);
const good = envelopes.smokes("y", 20000), changed = (place) => good.map((byte, i) => (i === place ? byte ^ 1 : byte));
const bodies = ["", "null", '{"table":"smokes","report":"y"}', good.subarray(1), good.subarray(0, 60),
  new Uint8Array([...good, 0]), new Uint8Array(100000), changed(0), changed(4), changed(5), changed(6), changed(12),
  changed(43), good, envelopes.mood(mood.sample(0.5), 20000), envelopes.fruit(fruit.sample(3), 20000)];
const said = [];
for (const body of bodies) said.push((await fetch(address, { method: "POST", body })).status);
const paths = ["/", "/index.mjs", "/data.mjs", "/demo/page.mjs", "/src/table.mjs", "/package.json",
  "/demo/../package.json", "/tables/mood.json", "/demo/collect.mjs", "/reports"];
for (const path of paths)
  said.push((await fetch(new URL(path, address))).status);
console.log(said.join(" "));
"""


def test_the_collector_keeps_envelopes_of_its_tables_only_and_serves_its_pages_only(
    tables: dict[str, Table], address: str, tmp_path: Path
) -> None:
    (tmp_path / "posts.mjs").write_text(POSTS)
    done = subprocess.run(
        ["node", "posts.mjs", address], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == [*["400"] * 13, *["204"] * 3, *["200"] * 5, *["404"] * 5]
    assert [one.subject.sha256 for one in kept(tmp_path)] == [table.sha256 for table in tables.values()]
    assert taken_in(tables, tmp_path).refused["expired"] == 3


def test_a_page_that_is_not_there_and_a_body_that_breaks_off_do_not_end_the_collector(address: str) -> None:
    place = urlsplit(address)
    assert place.hostname is not None
    with socket.create_connection((place.hostname, place.port or 80)) as broken:
        broken.sendall(b"POST /envelopes HTTP/1.1\r\nHost: here\r\nContent-Length: 50\r\n\r\nhalf")
        broken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closed by a reset
    with pytest.raises(HTTPError, match="404"):
        urlopen(f"http://{place.netloc}/src/nothing.mjs")
    with urlopen(f"http://{place.netloc}/index.mjs") as page:
        assert page.status == 200


# -- a page whose device remembers -------------------------------------------------------------------------------------

PAGE = """
<script type="module">
  const wait = (time) => new Promise((wake) => setTimeout(wake, time));
  while (document.body.dataset.ready !== "yes") await wait(10);
  const { smokes_device: device } = await import("../index.mjs");
  const { withState } = await import("../browser.mjs");
  const form = document.querySelector("form"), output = form.querySelector("output");
  form.elements.x.value = "rather not";
  output.textContent = "";
  form.querySelector("button").click();
  while (output.textContent === "") await wait(1);
  const today = Math.floor(Date.now() / 86400000);
  // many at once: they wait for each other, and no more than the period has are made
  const asked = Array.from({ length: 9 }, () => withState((storage) => device.report(storage, "rather not", today)));
  const made = (await Promise.allSettled(asked)).map((one) => one.reason?.reason ?? one.status);
  // what fails stores nothing
  await withState((storage) => { storage.store(new Uint8Array(3)); throw new Error("no"); }).catch(() => 0);
  const serial = await withState((storage) => device.serial(storage));
  const done = `first: ${output.textContent}; made: ${made.join(" ")}; serial: ${serial}.`;
  await fetch("LISTENER", { method: "POST", mode: "no-cors", body: done });
</script>
"""


class Heard(BaseHTTPRequestHandler):
    """What pages say in the end."""

    said: Queue[str] = Queue()

    def do_POST(self) -> None:
        self.said.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def listener() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Heard) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def remembering(listener: str, tmp_path: Path) -> Iterator[str]:
    """Where the collector of a package with a device runs."""
    needs("node", "chromium")
    export_package(TABLES, "typescript", "survey", tmp_path / "survey", cases=0, device=DEVICE)
    page = tmp_path / "survey" / "demo" / "index.html"
    page.write_text(page.read_text().replace("</html>", PAGE.replace("LISTENER", listener) + "</html>"))
    with collecting(tmp_path) as address:
        yield address


def heard(address: str, folder: Path) -> str:
    """What the page says in the end; the browser is killed as soon as it has."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}")
    command = ["chromium", *options, "--remote-debugging-port=0", address]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
        try:
            return Heard.said.get(timeout=100)
        finally:
            browser.kill()


@pytest.mark.slow
def test_a_page_makes_as_many_reports_as_a_period_has_and_knows_them_after_the_browser_was_killed(
    remembering: str, tmp_path: Path
) -> None:
    said = heard(remembering, tmp_path)
    assert "first: Sent was: " in said
    assert f"made: {' '.join(['fulfilled'] * 4 + ['exhausted'] * 5)}; serial: 6." in said
    again = heard(remembering, tmp_path)
    assert "first: No report is left for today." in again
    assert f"made: {' '.join(['exhausted'] * 9)}; serial: 6." in again
    (line,) = (tmp_path / "kept" / "envelopes.txt").read_bytes().splitlines(keepends=True)
    assert Envelope.of_line(line).subject == Subject(DEVICE.sha256, is_device=True)
