"""The form of the survey tutorial in a real browser: clicked, collected and estimated by the package.

Buttons are clicked by a page beside the form, in a frame; the browser is Chromium without a window.
"""

from __future__ import annotations

import importlib.util
import json
import math
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from scipy import stats

from mechdesign.cli import main

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "survey.md"
CLICKS = 300
FALSE_POSITIVES = 1e-9

CLICKING = f"""\
<!doctype html>
<iframe id="frame" src="index.html"></iframe>
<p id="done"></p>
<script>
  const frame = document.getElementById("frame");
  frame.addEventListener("load", async () => {{
    const form = frame.contentDocument, button = form.querySelector("button[value=yes]");
    const thanks = form.getElementById("thanks");
    await new Promise((wake) => setTimeout(wake, 500));
    for (let person = 0; person < {CLICKS}; person++) {{
      localStorage.clear();
      thanks.hidden = true;
      button.click();
      while (thanks.hidden) await new Promise((wake) => setTimeout(wake, 2));
    }}
    const first = localStorage.getItem("smokes");
    button.click();
    await new Promise((wake) => setTimeout(wake, 200));
    const kept = localStorage.getItem("smokes") === first && form.getElementById("sent").textContent === first;
    document.getElementById("done").textContent = kept ? "the report was kept" : "a second report was drawn";
  }});
</script>
"""


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


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the tutorial's own form, sampler and collector run: in the current folder, at a free port."""
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    monkeypatch.chdir(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    run("table", "--eps", "1", "--mechanism", "grr", "--labels", "no,yes", "--out", "smokes.json")
    run("export", "smokes.json", "--to", "javascript", "--out", "web")
    (sampler,) = Path("web").glob("sampler_????????.mjs")
    shutil.copy(sampler, "web/sampler.mjs")
    for block in pages().blocks_of(TUTORIAL.read_text()):
        if block.caption in ("web/index.html", "collector.py"):
            Path(block.caption).write_text(block.body.replace("8722", str(port)))
    Path("web/clicking.html").write_text(CLICKING)
    program = subprocess.Popen([sys.executable, "collector.py"])
    for _ in range(100):
        try:
            urllib.request.urlopen(f"{address}/index.html", timeout=5).close()
            break
        except OSError:
            time.sleep(0.1)
    yield address
    program.terminate()
    program.wait()


@pytest.mark.slow
def test_a_browser_s_reports_have_the_law_of_the_table_and_are_estimated(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """n = 300 clicks on yes; the count of true reports is binomial: false-positive rate 1e-9 from each side."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}")
    shown = subprocess.run(
        ["chromium", *options, "--virtual-time-budget=60000", "--dump-dom", f"{address}/clicking.html"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    assert "the report was kept" in shown
    header, *reports = Path("reports.csv").read_text().split()
    assert header == "smokes"
    assert len(reports) == CLICKS + 1
    truth = math.e / (1 + math.e)
    low, high = stats.binom.ppf([FALSE_POSITIVES, 1 - FALSE_POSITIVES], CLICKS, truth)
    assert low <= reports[:CLICKS].count("yes") <= high
    capsys.readouterr()
    run("estimate", "smokes.json", "--in", "reports.csv", "--column", "smokes", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["count"], found["labels"]) == (CLICKS + 1, ["no", "yes"])
    share = reports.count("yes") / (CLICKS + 1)
    assert found["estimates"][1] == pytest.approx((share - (1 - truth)) / (2 * truth - 1), abs=1e-6)
