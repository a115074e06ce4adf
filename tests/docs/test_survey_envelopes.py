"""A survey end to end: tables, collection, package, a form in a real browser, envelopes, collector, estimate.

Form and server are those of the page `docs/howto/web.md`. The form stands in a frame of a page that fills it in for
many people and clicks; the browser is Chromium without a window. What each person answers is known, so it is known what
must be estimated, what is sent again, and what must not count.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mechdesign.cli import main
from mechdesign.tables import load_table
from mechdesign.tables.reports import Envelope, load_collection, payload_of

HOWTO = Path(__file__).parents[2] / "docs" / "howto" / "web.md"
PEOPLE = 420
AGAIN = 5
"""Every fifth person sends twice."""

CONFIDENCE = 1 - 1e-7
EXPIRED, UNKNOWN, MALFORMED, NOT_OF_TABLE = 7, 5, 3, 2
TRUTH = {"smokes": {"no": 0.75, "yes": 0.25}, "mood": 0.3, "fruit": {"apple": 0.6, "pear": 0.4, "plum": 0.0}}

CLICKING = f"""\
<!doctype html>
<iframe id="frame" src="index.html"></iframe>
<p id="done"></p>
<script type="module">
  import {{ envelopes, smokes }} from "./survey/index.mjs";
  const frame = document.getElementById("frame"), wait = (time) => new Promise((wake) => setTimeout(wake, time));
  while (frame.contentDocument?.readyState !== "complete") await wait(10);
  const page = frame.contentDocument, form = page.querySelector("form"), output = form.querySelector("output");
  const click = async () => {{
    output.textContent = "";
    form.querySelector("button").click();
    while (output.textContent === "") await wait(1);
    if (output.textContent !== "Thank you.") throw new Error(output.textContent);
  }};
  const answer = async (smokes, mood, fruit) => {{
    form.elements.smokes.value = smokes;
    form.elements.mood.value = mood;
    form.elements.fruit.value = fruit;
    await click();
  }};
  const line = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) + "\\n";
  const sent = async (bytes) => (await fetch("/envelopes", {{ method: "POST", body: line(bytes) }})).status;
  const drawn = (lastDay) => envelopes.smokes(smokes.sample("yes"), lastDay);
  const changed = (place, by) => drawn(47000).map((byte, i) => (i === place ? byte ^ by : byte));
  const refused = [];
  try {{
    for (let person = 0; person < {PEOPLE}; person++) {{
      localStorage.clear();
      const mood = [-0.5, 0.5, 0.9][person % 3], fruit = person % 5 < 3 ? "apple" : "pear";
      await answer(person % 4 === 0 ? "yes" : "no", mood, fruit);
      if (person % {AGAIN} === 0) await answer("no", 0, "plum"); // what is kept goes again, whatever is said now
    }}
    for (let i = 0; i < {EXPIRED}; i++) refused.push(await sent(drawn(i)));
    for (let i = 0; i < {UNKNOWN}; i++) refused.push(await sent(changed(12 + i, 1)));
    for (let i = 0; i < {MALFORMED}; i++) refused.push(await sent(changed(i, 1)));
    for (let i = 0; i < {NOT_OF_TABLE}; i++) refused.push(await sent(changed(60, 64 << i)));
    refused.push((await fetch("/envelopes", {{ method: "POST", body: "yes\\n" }})).status);
    document.getElementById("done").textContent = `refused at once: ${{refused.filter((status) => status !== 204)}}`;
  }} catch (error) {{
    document.getElementById("done").textContent = `failed: ${{error.message}}`;
  }}
</script>
"""
TABLES = {
    "smokes": ("--mechanism", "grr", "--labels", "no,yes"),
    "mood": ("--mechanism", "pm", "--domain=-1,1"),
    "fruit": ("--protocol", "oue", "--labels", "apple,pear,plum"),
}


def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("documentation_pages", Path(__file__).with_name("test_pages.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert not stop.value.code


def answer_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    run(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the page's own form and server run, with its package: in the current folder, at a free port."""
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    monkeypatch.chdir(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, options in TABLES.items():
        run("table", "--eps", "1", *options, "--out", f"{name}.json")
    run("collection", *(f"{name}={name}.json" for name in TABLES), "--name", "health", "--out", "health.json")
    run("export", "health.json", "--to", "typescript", "--package", "survey", "--out", "form/survey")
    for block in pages().blocks_of(HOWTO.read_text()):
        if block.caption in ("form/index.html", "receive.py"):
            Path(block.caption).write_text(block.body.replace("8723", str(port)))
    Path("form/clicking.html").write_text(CLICKING)
    program = subprocess.Popen([sys.executable, "receive.py"])
    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/index.html", timeout=5).close()
            break
        except OSError:
            time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    program.terminate()
    program.wait()


def shown(address: str, folder: Path) -> str:
    """The page as the browser has it in the end."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}")
    command = ["chromium", *options, "--virtual-time-budget=120000", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=True).stdout


def truths_inside(told: list[dict[str, Any]]) -> list[bool]:
    found = []
    for one in told:
        truth = TRUTH[one["attribute"]]
        if isinstance(truth, dict):
            found += [row["lower"] <= truth[row["item"]] <= row["upper"] for row in one["items"]]
        else:
            found.append(one["lower"] <= truth <= one["upper"])
    return found


@pytest.mark.slow
def test_answers_clicked_in_a_browser_are_estimated_and_what_must_not_count_is_refused(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """n = 420 people, randomness of the system, six intervals of confidence 1 - 1e-7: false-positive rate below 1e-6.

    Half-widths are about 0.28 (smokers), 0.6 (mood) and 0.57 (fruit). Power: a yes taken for a no moves the share of
    smokers by 0.5, and is noticed but for a chance of 1e-5. The numbers themselves are compared below, without chance.
    """
    assert '<p id="done">refused at once: 400</p>' in shown(f"{address}/clicking.html", tmp_path)

    collect = ("collect-reports", "envelopes.txt", "--of", "health.json", "--store", "seen.db", "--out", "reports")
    more = ("--estimate", "people", "--confidence", str(CONFIDENCE))
    answer = answer_of(capsys, *collect, "--new-store", *more)
    assert answer["accepted"] == 3 * PEOPLE
    assert answer["refused"] == {
        "malformed": MALFORMED,
        "unknown": UNKNOWN,
        "expired": EXPIRED,
        "of an unknown device": 0,
        "too unlikely": 0,
        "not of its table": NOT_OF_TABLE,
        "repeated": 3 * PEOPLE // AGAIN,
    }
    assert [(one["attribute"], one["count"]) for one in answer["estimates"]] == [(name, PEOPLE) for name in TABLES]
    assert truths_inside(answer["estimates"]) == [True] * 6

    again = answer_of(capsys, *collect)
    assert (again["accepted"], again["refused"]["repeated"]) == (0, 3 * PEOPLE * (AGAIN + 1) // AGAIN)

    # the same from the envelopes themselves, each once, without collector and files of reports
    whole, smokes = load_collection("health.json"), load_table("smokes.json")
    lines = set(Path("envelopes.txt").read_bytes().splitlines())
    good = [base64.b64decode(one) for one in lines if base64.b64decode(one)[:4] == b"mdre"]
    counted = [one for one in map(Envelope.read, good) if one.subject == whole.subject(0) and one.expires.year == 2099]
    assert len(counted) == PEOPLE
    yes = sum(payload_of(smokes).read(one.report, smokes) == smokes.law.outputs[1] for one in counted)
    kept = smokes.law.rows[1][1] / sum(smokes.law.rows[1])
    share = (yes / PEOPLE - (1 - kept)) / (2 * kept - 1)
    assert answer["estimates"][0]["items"][1]["estimate"] == pytest.approx(share, abs=1e-9)
    batch = next(one for one in answer["batches"] if one["attribute"] == "smokes")
    told = answer_of(capsys, "estimate", "smokes.json", "--in", batch["file"], "--column", "report")
    assert told["estimates"][1] == pytest.approx(share, abs=1e-9)
