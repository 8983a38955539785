# SPDX-License-Identifier: MIT
"""Test `gputap report -o t.html`, which writes a report as one file for a browser without a
network."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import time

import pytest

from consumers import perfetto_picture

# unescaped, this text would act as markup or end an element
WORDS = '</script><script>document.title="broken"</script><img src=x onerror=alert(1)>&amp;\\u003c'

PROGRAM = """
#include "gputap/gputap.h"
int main(void)
{
	gputap_range_push(WORDS);
	gputap_range_push("inner");
	gputap_range_pop();
	gputap_range_pop();
	return 0;
}
"""


def data_of(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text,
                                re.S)[1])


@pytest.fixture
def page(tap, run, build, work):
    """Return a function: page(...) writes s.gputap and its report s.html."""
    def make(*words, report=()):
        run([build / "tests/synth/synth", *words, "-o", "s.gputap"])
        tap("report", "s.gputap", "-f", "-o", "s.html", *report)
        return work / "s.html"
    return make


@pytest.fixture
def hostile(tap, repo, build, work):
    """Return the page of a program whose range is named WORDS."""
    (work / "hostile.c").write_text(PROGRAM)
    subprocess.run([
        "cc", f"-DWORDS={json.dumps(WORDS)}", f"-I{repo}/include", "hostile.c", "-o", "hostile",
        f"-L{build}", "-l:libgputap.so.0", f"-Wl,-rpath,{build}"
    ], check=True)
    tap("run", "-q", "-o", "h.gputap", "--", work / "hostile")
    tap("report", "h.gputap", "-o", "h.html")
    return work / "h.html"


def test_the_page_needs_nothing_from_elsewhere(page):
    text = page("--calls", "300").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy and "http" not in policy
    assert not re.search(r"(src|href)\s*=\s*[\"']?(?!#)\w", text.split("<script>")[0])
    assert not re.search(r"https?://|//\w+\.\w+/|@import|url\(|fetch\(|XMLHttp", text)


def test_it_says_of_how_many_captures_it_is(tap, run, build, work):
    for rank in range(3):
        run([build / "tests/synth/synth", "--rank", str(rank), "-o", f"{rank}.gputap"])
    tap("report", "0.gputap", "1.gputap", "2.gputap", "-o", "job.html")
    assert "<title>0.gputap and 2 more</title>" in (work / "job.html").read_text()
    tap("report", "0.gputap", "-o", "one.html")
    assert "<title>0.gputap</title>" in (work / "one.html").read_text()


def test_its_tables_are_the_reports(tap, page):
    data = data_of(page("--calls", "2000", "--threads", "2", "--devices", "2", "--failed",
                        "--waits"))
    report = json.loads(tap("report", "s.gputap", "--json").out)
    tables = {t["name"]: t for t in data["tables"]}
    assert set(tables) == {name for name in tables if report[name]} and len(tables) > 8
    for name, table in tables.items():
        assert table["total"] == len(report[name]) == len(table["rows"])
        keys = [c["key"] for c in table["columns"]]
        for row, wanted in zip(table["rows"], report[name], strict=True):
            for key, value in zip(keys, row, strict=True):
                if key in wanted and value is not None and not isinstance(value, float):
                    assert wanted[key] == value, (name, key)
    assert data["head"].startswith("s.gputap: ")


def test_its_timeline_is_the_one_of_the_terminal(tap, page):
    data = data_of(page("--calls", "500", "--threads", "2", "--overlap"))["time"]
    rows = json.loads(tap("report", "s.gputap", "--timeline", "--json").out)["rows"]
    assert [(r["kind"], r["group"], r["label"], r["count"], r.get("busy", 0)) for r in data["rows"]
            ] == [(r["kind"], r["group"], r["label"], r["count"], r["busy_ns"]) for r in rows]
    for row in data["rows"]:
        assert len(row["bins"]) == 2000 and max(row["bins"]) <= 1000
        if row["kind"] != "device":
            assert len(row["slices"]) == row["count"]
    assert data["notes"] == []


def test_of_many_records_the_longest_are_slices_and_the_page_says_so(page):
    path = page("--calls", "150000", "--threads", "2")
    time_ = data_of(path)["time"]
    slices = [s for row in time_["rows"] for s in row.get("slices", [])]
    assert 20000 < len(slices) <= 60000
    assert re.match(r"[\d,]+ calls and GPU activities of .* or more are drawn individually; the",
                    time_["notes"][0])
    assert path.stat().st_size < 6 << 20
    # the shading still covers all activities of the device
    device = next(row for row in time_["rows"] if row["kind"] == "device")
    assert device["busy"] > sum(s[1] for row in time_["rows"] if row["kind"] == "queue"
                                for s in row["slices"]) / 2


def test_memory_in_use_is_a_row_with_its_peak(tap, run, gputap, repo, work):
    """Runs on the software CUDA driver, as tests/test_export_memory.py does."""
    for name, source, *options in (("kernels.so", "driver_kernels.c", "-shared", "-fPIC"),
                                   ("program", "driver_program.c", "-lpthread")):
        run(["cc", "-O1", f"-I{repo}", repo / "tests/cuda" / source, "-o", name, *options])
    tap("run", "-q", "-o", "m.gputap", "--", gputap, "soft", "cuda", "--", work / "program",
        work / "kernels.so", "10", "3", "symbols")
    tap("report", "m.gputap", "-o", "m.html")
    report = json.loads(tap("report", "--json", "-t", "memory", "m.gputap").out)["memory"]
    rows = [r for r in data_of("m.html")["time"]["rows"] if r["kind"] == "memory"]
    assert {r["label"]: r["most"] for r in rows} == {
        f"{r['memory']} memory ({r['domain']})" +
        (f", device {r['device']}" if r["device"] is not None else ""): r["peak_bytes"]
        for r in report
    }
    for r in rows:
        assert r["points"][::2] == sorted(r["points"][::2]) and max(r["points"][1::2]) == r["most"]


@pytest.fixture
def stacks(tap, build, work):
    """Return the page of a program that records launches with their call stacks."""
    tap("run", "-q", "--stacks", "-o", "s.gputap", "--", build / "bench/opencl_loop", "",
        "kernels:100", "3")
    tap("report", "s.gputap", "-o", "s.html")
    return work / "s.html"


def test_a_stack_is_a_cell_of_several_lines(stacks):
    table = next(t for t in data_of(stacks)["tables"] if t["name"] == "stacks")
    column = next(i for i, c in enumerate(table["columns"]) if c["type"] == "lines")
    assert any("main at opencl_loop.c" in row[column] for row in table["rows"])


def test_what_a_page_lacks_is_said_where_it_is_made(tap, run, build, work):
    run([build / "tests/synth/synth", "--calls", "100", "--cut", "-o", "s.gputap"])
    assert "s.html is incomplete" in tap("report", "s.gputap", "-o", "s.html", status=1).err


def test_where_and_table_choose_what_is_in_it(page):
    data = data_of(page("--calls", "500", report=["--where", "kind=kernel", "-t", "kernels"]))
    assert [t["name"] for t in data["tables"]] == ["kernels"]
    assert {row["kind"] for row in data["time"]["rows"]} == {"device", "queue"}
    assert "Only where kind=kernel" in data["head"]


def test_the_file_is_whole_private_and_never_replaced_unasked(tap, page, work):
    path = page("--calls", "10")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "s.html exists: -f replaces it" in tap("report", "s.gputap", "-o", "s.html",
                                                  status=1).err
    os.umask(0o022)
    tap("report", "s.gputap", "-o", "shared.html", "--share")
    assert stat.S_IMODE((work / "shared.html").stat().st_mode) == 0o644
    assert tap("report", "s.gputap", "--html").out == path.read_text()
    assert sorted(p.name for p in work.iterdir()) == ["s.gputap", "s.html", "shared.html"]


@pytest.mark.parametrize("words, sentence", [
    (["-o", "t.xml"], "-o t.xml: no format has this extension; choose .txt, .json, .csv or .html"),
    (["-o", "t"], "choose .txt, .json, .csv or .html"),
    (["-o", "t.md"], "choose .txt, .json, .csv or .html"),
    (["-o", "t.csv", "--json"], "--json and --csv: choose one"),
    (["-o", "t.pftrace"], "use 'gputap export' to write t.pftrace"),
    (["-o", "t.html", "--json"], "--html and --json: choose one"),
    (["--html", "--timeline"], "--html and --timeline: choose one"),
])
def test_what_is_no_page_is_refused(tap, page, words, sentence):
    page("--calls", "10")
    assert sentence in tap("report", "s.gputap", *words, status=2).err


def test_what_the_program_says_is_data_and_never_markup(hostile):
    text = hostile.read_text()
    assert text.count("<script") == 2 and "<img" not in text
    assert WORDS in data_of(hostile)["time"]["names"]


# In a browser --------------------------------------------------------------------------------

@pytest.fixture
def browser():
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("needs Chromium: apt install chromium")
    b = perfetto_picture.Browser((1200, 900))
    b.open("about:blank", (1200, 900))
    b.call("Page.enable")
    b.call("Page.addScriptToEvaluateOnNewDocument", source="""
        window.complaints = [];
        for (const what of ["securitypolicyviolation", "error"])
            addEventListener(what, e => complaints.push(`${what}: ${e.message || e.blockedURI}`),
                             true);""")
    yield b
    b.close()


def show(browser, path):
    browser.call("Page.navigate", url=path.as_uri())
    deadline = time.monotonic() + 60
    while not browser.evaluate("document.readyState === 'complete' && location.protocol === 'file:'"
                               " && document.querySelectorAll('table').length > 0"):
        assert time.monotonic() < deadline, browser.evaluate("document.body.innerText")[:2000]
        time.sleep(0.1)


def keys(browser, text):
    for key in text:
        browser.evaluate("document.getElementById('timeline').dispatchEvent("
                         f"new KeyboardEvent('keydown', {{key: {json.dumps(key)}}}))")


PIXELS = """new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
    const c = document.getElementById('timeline'), g = c.getContext('2d');
    const d = g.getImageData(0, 0, c.width, c.height).data, seen = {};
    let h = 0;
    for (let i = 0; i < d.length; i += 4) {
        const k = (d[i] << 16 | d[i + 1] << 8 | d[i + 2]).toString(16).padStart(6, '0');
        seen[k] = (seen[k] || 0) + 1;
        h = (h * 31 + d[i] + d[i + 2]) | 0;
    }
    done({seen, hash: h, width: c.width, height: c.height});
})))"""


def test_a_browser_draws_tables_and_timeline(browser, page):
    path = page("--calls", "400", "--threads", "2", "--devices", "2", "--waits")
    show(browser, path)
    data = data_of(path)
    assert browser.evaluate("document.querySelectorAll('section[id^=table-] table').length"
                            ) == len(data["tables"])
    assert browser.evaluate("complaints") == []
    first = browser.evaluate(PIXELS)
    # colours of kernels and of waiting calls
    assert first["seen"].get("2f72d9", 0) > 100 and first["seen"].get("d4a514", 0) > 100
    keys(browser, "+++")
    zoomed = browser.evaluate(PIXELS)
    assert zoomed["hash"] != first["hash"]
    keys(browser, "0")
    assert browser.evaluate(PIXELS)["hash"] == first["hash"]
    keys(browser, "n")
    assert "device 0: Synthetic device" in browser.evaluate(
        "document.querySelector('.tip').innerText")
    assert browser.evaluate("complaints") == []


TEXTS = """new Promise(done => {
    const texts = [], fillText = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function(text, x, y) {
        texts.push([text, x, x + this.measureText(text).width]);
        fillText.call(this, text, x, y);
    };
    document.getElementById("timeline").dispatchEvent(new KeyboardEvent("keydown", {key: "0"}));
    requestAnimationFrame(() => requestAnimationFrame(() => done(texts)));
})"""


def test_a_browser_cuts_no_text_of_the_timeline_in_the_middle_of_a_letter(browser, tap, build,
                                                                          work):
    """The thread's name is too long for its label, and time labels lie close to the right edge."""
    shutil.copy(build / "tests/opencl/cl_basic", work / "WWWWWWWWWWWWWWW")
    tap("run", "-q", "-o", "w.gputap", "--", work / "WWWWWWWWWWWWWWW", "2")
    tap("report", "w.gputap", "-o", "w.html")
    show(browser, work / "w.html")
    texts = browser.evaluate(TEXTS)
    width = browser.evaluate("document.getElementById('timeline').clientWidth")
    assert any(re.fullmatch(r"W+\.\.", text) for text, *_ in texts), texts
    assert any(re.search(r"\d m?s$", text) for text, *_ in texts), texts
    assert all(end <= (182 if begin == 14 else width) for _, begin, end in texts), texts


def test_a_browser_writes_numbers_as_the_tables_of_the_terminal_do(browser, page):
    show(browser, page("--calls", "10"))
    assert browser.evaluate("[rate(2940000), rate(15.34e9), rate(999.6), rate(12),"
                            " duration(999700), duration(9996), bytes(1048100), bytes(1023)]") == [
        "2.94 MB/s", "15.3 GB/s", "1.00 kB/s", "12 B/s", "1.00 ms", "10.0 us", "1.00 MiB", "1023 B"]


def test_a_browser_draws_a_stack_line_by_line(browser, stacks):
    show(browser, stacks)
    assert browser.evaluate("complaints") == []
    cell = browser.evaluate("document.querySelector('#table-stacks td.lines').innerText")
    assert len(cell.splitlines()) > 2 and "main at opencl_loop.c" in cell


def test_a_browser_sorts_and_filters_tables(browser, page):
    show(browser, page("--calls", "400", "--kernels", "6"))

    def column(n):
        return browser.evaluate(f"""[...document.querySelectorAll(
            '#table-kernels tbody tr td:nth-child({n})')].map(cell => cell.innerText)""")

    title = "[...document.querySelectorAll('#table-kernels th button')]"
    names = 1 + browser.evaluate(f"{title}.findIndex(b => b.innerText === 'name')")
    browser.evaluate(f"{title}.find(b => b.innerText === 'name').click()")
    sorted_names = column(names)
    assert sorted_names == sorted(sorted_names) and len(sorted_names) == 6
    browser.evaluate(f"{title}.find(b => b.innerText.startsWith('name')).click()")
    assert column(names) == sorted_names[::-1]
    assert browser.evaluate("document.querySelectorAll('input').length") == 1

    def filter_rows(text):
        browser.evaluate(f"""(() => {{
            const f = document.getElementById('filter');
            f.value = {json.dumps(text)};
            f.dispatchEvent(new Event('input'));
        }})()""")
        return browser.evaluate("""[...document.querySelectorAll('section[id^=table-]')].filter(
            s => !s.hidden).map(s => s.id.slice(6))""")

    everything = filter_rows("")
    found = filter_rows(sorted_names[2].upper())
    assert column(names) == [sorted_names[2]] and "kernels" in found and "copies" not in found
    assert "1 of 6 rows" in browser.evaluate(
        "document.querySelector('#table-kernels .note').innerText")
    assert filter_rows("in no row") == [] and len(everything) > 5
    assert "no row matches" in browser.evaluate("document.querySelector('.filter').innerText")
    assert filter_rows("") == everything


def test_there_is_no_filter_without_rows_to_filter(browser, page):
    show(browser, page("--calls", "100", "--kernels", "1", report=["-t", "kernels"]))
    assert browser.evaluate("document.querySelectorAll('input').length") == 0


def test_the_page_starts_with_the_first_screen_of_the_terminal(browser, tap, page):
    path = page("--calls", "2000", "--threads", "2", "--devices", "2", "--failed", "--waits")
    show(browser, path)
    shown = browser.evaluate("document.getElementById('overview').innerText")
    terminal = tap("report", "s.gputap", env={"COLUMNS": 500}).out
    words = re.sub(r"%", " %", terminal.split("nothing lost\n")[1].split("Next ")[0]).split()
    title = ["time", "share", "count", "x", "mean"]
    at = words.index("time")
    assert words[at:at + 5] == title
    del words[at:at + 5]
    # compare words only: kernels have one row each, but copies of two devices do not
    expected = [w for w in words if re.match(r"[A-Za-z_]{4,}", w)]
    assert not [w for w in expected if w.rstrip(",:;()") not in shown]
    assert browser.evaluate("""document.getElementById('overview').compareDocumentPosition(
        document.getElementById('timeline'))""") == 4  # 4 means that the timeline follows
    labels = browser.evaluate(
        "[...document.querySelectorAll('#overview h3')].map(h => h.innerText)")
    assert labels[:5] == ["GPU 0", "GPU 1", "Kernels", "Copies", "Idle"]
    assert browser.evaluate("document.querySelectorAll('#overview .bad').length") == 1


def test_a_page_of_chosen_tables_has_no_first_screen(page):
    assert data_of(page("--calls", "100", report=["-t", "kernels"]))["overview"] == ""
    assert "Kernels" in data_of(page("--calls", "100", report=["-f"]))["overview"]


@pytest.mark.parametrize("width", [1000, 420])
def test_the_page_itself_never_scrolls_sideways(browser, tap, build, run, work, width):
    """Tables scroll inside the page. The name column stays in view."""
    run([build / "tests/synth/synth", "--calls", "2000", "--devices", "2", "--failed", "--waits",
         "--names", "tricky", "-o", "s.gputap"])
    tap("report", "s.gputap", "-o", "s.html")
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=width < 600)
    show(browser, work / "s.html")
    assert browser.evaluate("innerWidth") == width
    assert browser.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    scrolls = browser.evaluate("""[...document.querySelectorAll('.scroll')].map(
        s => s.scrollWidth > s.clientWidth)""")
    assert any(scrolls)
    left = browser.evaluate("""(() => {
        const s = document.querySelector('#table-kernels .scroll');
        s.scrollLeft = 10000;
        return s.querySelector('td').getBoundingClientRect().left -
            s.getBoundingClientRect().left;
    })()""")
    assert abs(left) < 2
    assert browser.evaluate("complaints") == []


def test_kinds_of_time_have_a_colour_each(browser, page):
    show(browser, page("--calls", "500", "--devices", "2"))
    colors = browser.evaluate("""Object.fromEntries(['kernels', 'copies', 'operations'].map(
        name => [name, getComputedStyle(document.querySelector(
            `#table-${name} td .share i`)).backgroundColor]))""")
    assert len(set(colors.values())) == 3 and colors["kernels"] == "rgb(47, 114, 217)"
    assert browser.evaluate("""getComputedStyle(document.querySelector(
        '#overview .share i')).backgroundColor""") == "rgb(47, 114, 217)"


def test_a_browser_takes_what_the_program_says_as_text(browser, hostile):
    show(browser, hostile)
    assert browser.evaluate("document.title") == "h.gputap"
    assert browser.evaluate("document.querySelectorAll('img, script').length") == 2
    assert WORDS in browser.evaluate("document.getElementById('table-ranges').innerText")
    assert browser.evaluate("complaints") == []


def test_the_page_is_light_or_dark_and_prints(browser, page):
    path = page("--calls", "200")
    backs = set()
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": scheme}])
        show(browser, path)
        backs.add(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert browser.evaluate(PIXELS)["seen"].get(
            {"light": "ffffff", "dark": "14181f"}[scheme], 0) > 1000
    assert backs == {"rgb(255, 255, 255)", "rgb(20, 24, 31)"}
    assert len(browser.call("Page.printToPDF")["data"]) > 10000
