# SPDX-License-Identifier: MIT
"""Test that pauses and the evicted parts of a flight recorder are never drawn as idle time."""

import json
import re
import time

import pytest

import test_control
import test_report_html
from consumers import perfetto


program = test_control.program
session = test_control.session
control = test_control.control
status = test_control.status
browser = test_report_html.browser


@pytest.fixture
def paused(session, work):
    """Record a program that launches kernels before and after a long pause."""
    s = session()
    s.tell("run a 3", "run a 3", "pause")
    time.sleep(0.4)
    s.tell("resume", "run b 3")
    s.end()
    return work / "w.gputap"


SLICES = """select s.name, s.dur, t.name as track from slice s join process_track t
    on s.track_id = t.id where s.category = 'not_recorded'"""


def picture(tap, path, *words):
    return json.loads(tap("report", path, "--timeline", "--json", *words).out)


def windows(tap, path):
    return json.loads(tap("info", "--json", path).out)["windows"]


def data_of(path):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>',
                                path.read_text(encoding="utf-8"), re.S)[1])


def test_each_row_says_when_it_was_not_recorded(tap, paused):
    rows = picture(tap, paused)["rows"]
    assert {r["kind"] for r in rows} == {"queue", "thread"} or {r["kind"] for r in rows} == {
        "device", "thread"}
    wanted = [w for w in windows(tap, paused) if w["state"] == "paused"]
    for r in rows:
        (pause,) = r["unrecorded"]
        assert pause["why"] == "not recorded: paused by the program"
        assert pause["end_ns"] - pause["start_ns"] == wanted[0]["to_ns"] - wanted[0]["from_ns"]
        assert r["unrecorded_ns"] == pause["end_ns"] - pause["start_ns"] > 300e6


def test_the_terminal_has_a_sign_and_a_legend_for_it(tap, paused):
    text = tap("report", paused, "--timeline", env={"COLUMNS": 80, "LC_ALL": "C.UTF-8"}).out
    bars = [line for line in text.splitlines() if line.startswith("  ") and "%" in line[:24]]
    assert len(bars) == 2
    for bar in bars:  # the pause takes most of the bar, but not all
        assert bar.count("╱") > 40 and bar[24:].strip("╱")
    assert re.search(r"Recorded: .* of .*, in 2 windows\.", text)
    assert "╱: not recorded: paused by the program." in text
    assert max(map(len, text.splitlines())) <= 80
    plain = tap("report", paused, "--timeline", env={"COLUMNS": 80, "LC_ALL": "C"}).out
    assert plain.count("/") > 80 and plain.isascii()


def test_shares_are_of_the_time_that_was_recorded(tap, paused):
    text = tap("report", paused, "--timeline", env={"COLUMNS": 80, "LC_ALL": "C.UTF-8"}).out
    data = picture(tap, paused)
    thread = next(r for r in data["rows"] if r["kind"] == "thread")
    known = data["end_ns"] - data["start_ns"] - thread["unrecorded_ns"]
    share = int(re.search(r" (\d+)% ", next(
        line for line in text.splitlines() if line.startswith("  ") and
        re.search(rf"^  {re.escape(thread['label'][:10])}", line)))[1])
    assert share == pytest.approx(100 * thread["busy_ns"] / known, abs=2)
    assert share > 2 * 100 * thread["busy_ns"] / (data["end_ns"] - data["start_ns"])


def test_the_page_shades_it(tap, paused, work):
    tap("report", paused, "-o", "w.html")
    drawn = data_of(work / "w.html")["time"]
    for row in drawn["rows"]:
        ((start, length, why),) = drawn["pauses"][row["pauses"]]
        assert drawn["start"] < start and length > 300e6
        assert drawn["names"][why] == "not recorded: paused by the program"
        assert row["known"] <= drawn["end"] - drawn["start"] - length + row["busy"]


def test_perfetto_has_a_track_of_it_and_chrome_an_instant(tap, paused):
    tap("export", paused, "-o", "w.pftrace")
    tap("export", paused, "-o", "w.json")
    wanted = [w for w in windows(tap, paused) if w["state"] == "paused"]
    slices = perfetto.ask("w.pftrace", rows=SLICES)["rows"]
    assert [(s["name"], s["track"], int(s["dur"])) for s in slices] == [
        ("not recorded: paused by the program", "not recorded", w["to_ns"] - w["from_ns"])
        for w in wanted]
    with open("w.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    assert [(e["ph"], e["args"]["ns"]) for e in events if e["name"].startswith("not recorded")] == [
        ("i", w["to_ns"] - w["from_ns"]) for w in wanted]


def test_a_window_of_the_session_says_which_option(session, status, tap):
    s = session("--delay", "200ms", "--duration", "200ms")
    s.tell("run a 1")
    test_control.wait_until(
        lambda: status(s)["why"] == "duration" and status(s)["not_following"] == 0)
    s.tell("run c 1")
    s.end()
    tap("export", "w.gputap", "-o", "w.pftrace")
    slices = perfetto.ask("w.pftrace", rows=f"{SLICES} order by ts")["rows"]
    # on a slow machine the program starts after the delay has passed
    assert [r["name"] for r in slices][-1] == "not recorded: --duration has passed"
    assert {r["name"] for r in slices} <= {"not recorded: --delay",
                                           "not recorded: --duration has passed"}
    text = tap("report", "w.gputap", "--timeline", env={"LC_ALL": "C.UTF-8"}).out
    assert text.count("not recorded: ") <= 1  # the reasons follow this heading


def test_a_run_that_was_paused_throughout_says_so(session, tap, work):
    s = session("--paused")
    s.tell("run a 3")
    s.end()
    text = tap("report", "w.gputap", "--timeline").out
    assert "paused throughout" in text.replace("\n  ", " ")
    assert "No record has a time" in text
    assert "else paused" not in tap("report", "--all", "w.gputap").out
    tap("report", "w.gputap", "-o", "w.html")
    assert data_of(work / "w.html")["time"]["rows"] == []


def test_what_a_flight_recorder_did_not_keep_is_said(session, status, tap):
    s = session("--keep", "100ms")
    s.tell("begin outer")
    for written in (2000, 4000, 6000):  # write calls and activities in three separate windows
        s.tell("run a 1000")
        test_control.wait_until(lambda written=written: status(s)["recorded"] > written)
        time.sleep(0.3)
    s.tell("run b 3", "end")
    s.end()
    tap("export", "w.gputap", "-o", "w.pftrace")
    slices = perfetto.ask("w.pftrace", rows=SLICES)["rows"]
    assert [r["name"] for r in slices] == ["evicted: older than the window"]
    text = tap("report", "w.gputap", "--timeline").out
    # a range that was open when the window started is drawn from the start of the range
    assert "Retained: the last" in text and "evicted: older than the window" in text


def test_what_lies_around_a_slice_is_said(tap, run, build, work):
    run([build / "tests/synth/synth", "--calls", "20000", "-o", "s.gputap"])
    whole = picture(tap, "s.gputap")
    third = (whole["end_ns"] - whole["start_ns"]) // 3
    tap("export", "s.gputap", "-o", "c.gputap", "--where",
        f"at={whole['start_ns'] + third}ns..{whole['start_ns'] + 2 * third}ns")
    tap("export", "c.gputap", "-o", "c.pftrace")
    rows = perfetto.ask("c.pftrace", rows=f"{SLICES} order by ts")["rows"]
    assert [r["name"] for r in rows] == ["evicted: outside the part"] * 2
    assert all(r["dur"] > third / 2 for r in rows)


def test_a_browser_hatches_a_pause_and_says_what_it_is(tap, paused, browser, work):
    tap("report", paused, "-o", "w.html")
    test_report_html.show(browser, work / "w.html")
    seen = browser.evaluate(test_report_html.PIXELS)["seen"]
    assert seen.get("aab3bf", 0) > 100
    assert "not recorded" in browser.evaluate("document.querySelector('.bar').innerText")
    # point at the middle of the first row, which is mostly the pause
    browser.evaluate("""document.getElementById('timeline').dispatchEvent(new PointerEvent(
        'pointermove', {clientX: document.getElementById('timeline').getBoundingClientRect().left +
        document.getElementById('timeline').clientWidth * 0.6,
        clientY: document.getElementById('timeline').getBoundingClientRect().top + 60}))""")
    assert "not recorded: paused by the program, for" in browser.evaluate(
        "document.querySelector('.tip').innerText")
    assert browser.evaluate("complaints") == []
