"""How long the page takes: 5,000 traces are verified and made into a page. Chromium opens it, searches it, shows one.

    python -m studies.bench.page DATA [--out docs/page.json]

The traces are variants of the reference traces in the folder DATA. Times in the browser are those of its own clock,
from the start of navigation; CPU times are the main thread's. Each is the median of five openings, each in a new
window.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, sync_playwright

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.report.page import page
from studies.bench.traces import reference_traces, rollouts

TRACES = 5000
SHOWN = 4000
OPENINGS = 5


def make(folder: Path, out: Path) -> tuple[dict[str, float], str]:
    """Write the page; how long that took, how large it is, and the address in it of a trace with a graph."""
    base = reference_traces(folder)
    samples = rollouts(base, 0, each=12)[:TRACES]
    numbers: Counter[str] = Counter()
    completions = []
    for sample in samples:
        name = sample.problem.id
        completions.append(Completion(problem_id=name, sample=numbers[name], completion=sample.completion))
        numbers[name] += 1
    problems = {sample.problem.id: sample.problem for sample in samples}
    verifier = Verifier()
    start = time.process_time()
    html = page(verifier, problems, completions)
    out.write_bytes(html)
    drawn = next(one for one in completions[SHOWN:] if read_completion(one.completion).parsed)
    made = {
        "traces": len(completions),
        "problems": len(problems),
        "cpu_s": round(time.process_time() - start, 2),
        "megabytes": round(len(html) / 1e6, 2),
    }
    return made, f"#/trace/{quote(drawn.problem_id, safe='')}/{drawn.sample}"


def opened(browser: Browser, url: str, trace: str) -> dict[str, float]:
    """Milliseconds until the list is painted and the document read, and for a search and for a trace after that."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    window = context.new_page()
    devtools = context.new_cdp_session(window)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    window.goto(url)
    window.wait_for_selector(".rows a")
    metrics = {entry["name"]: entry["value"] for entry in devtools.send("Performance.getMetrics")["metrics"]}
    found: dict[str, float] = window.evaluate(
        """async (trace) => {
            const entry = performance.getEntriesByType("navigation")[0];
            const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            const until = async (holds) => {
                const start = performance.now();
                while (!holds()) await frame();
                return performance.now() - start;
            };
            const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now();
            const search = document.querySelector("input[type=search]");
            search.value = "heart";
            search.dispatchEvent(new Event("input", { bubbles: true }));
            const searched = await until(() => document.querySelector(".count").textContent.includes(" of "));
            location.hash = trace;
            const shown = await until(() => document.querySelector(".graph .node") !== null);
            return { painted: paint, read: entry.domContentLoadedEventEnd, searched, shown };
        }""",
        trace,
    )
    context.close()
    return {**found, "main_thread_cpu": 1000 * metrics["TaskDuration"]}


def main() -> None:
    """Measure, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("there is no Chromium on PATH")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        file = Path(folder) / "report.html"
        made, trace = make(arguments.data, file)
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        times = [opened(browser, file.as_uri(), trace) for _ in range(OPENINGS)]
        version = browser.version
        browser.close()
    median = {name: round(statistics.median(each[name] for each in times)) for name in times[0]}
    best = {name: round(min(each[name] for each in times)) for name in times[0]}
    result = {"made": made, "chromium": version, "milliseconds": median, "fastest_milliseconds": best}
    text = json.dumps(result, indent=2) + "\n"
    sys.stdout.write(text)
    if arguments.out is not None:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
