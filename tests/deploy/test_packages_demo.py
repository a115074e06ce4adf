"""The demo page of an npm package in a real browser: answered, collected and read by the package's own commands."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from scipy import stats

from mechdesign.collect import protocol_table
from mechdesign.deploy import Labels, Table, export_package, make_table
from mechdesign.deploy.reports import Collector, Envelope, Intake, Store
from mechdesign.domains import Finite
from mechdesign.mechanisms import catalogue

CLICKS = 300
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


@pytest.fixture
def address(tables: dict[str, Table], tmp_path: Path) -> Iterator[str]:
    """Where the package's own collector runs, at a free port, in a folder of its own."""
    for tool in ("node", "chromium"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    export_package(tables, "typescript", "survey", tmp_path / "survey", cases=0)
    (tmp_path / "kept").mkdir()
    command = ["node", str(tmp_path / "survey" / "demo" / "collect.mjs"), "0"]
    program = subprocess.Popen(command, cwd=tmp_path / "kept", stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    yield program.stdout.readline().strip()
    program.terminate()
    program.wait()
    program.stdout.close()


def shown(address: str, folder: Path) -> str:
    """The page as the browser has it in the end."""
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
const paths = ["/", "/index.mjs", "/envelopes.mjs", "/package.json", "/demo/../package.json", "/tables/mood.json",
  "/demo/collect.mjs", "/reports"];
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
    assert done.stdout.split() == [*["400"] * 13, *["204"] * 3, *["200"] * 3, *["404"] * 5]
    assert [one.subject.sha256 for one in kept(tmp_path)] == [table.sha256 for table in tables.values()]
    assert taken_in(tables, tmp_path).refused["expired"] == 3
