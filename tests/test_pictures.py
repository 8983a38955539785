# SPDX-License-Identifier: MIT
"""Test that `gputap report --timeline`, which draws rows over time in a terminal, draws every
column correctly."""

import csv
import json
import os
import pty
import re
import subprocess

import pytest


@pytest.fixture
def synth(run, build, work):
    """Return a function: synth(...) writes s.gputap."""
    def make(*words, name="s.gputap"):
        run([build / "tests/synth/synth", *words, "-o", name])
        return name
    return make


@pytest.fixture(scope="module")
def steps(gputap, build, tmp_path_factory):
    """Record examples/steps, whose third step of five is slow."""
    capture = tmp_path_factory.mktemp("steps") / "steps.gputap"
    subprocess.run([gputap, "run", "-q", "-o", capture, "--", build / "examples/steps", "5", "3"],
                   check=True, timeout=600, stdout=subprocess.DEVNULL)
    return capture


def timeline(tap, capture, *words, columns=80, **env):
    return tap("report", capture, "--timeline", *words, env={"COLUMNS": columns, **env}).out


def rows_of(tap, capture, *words):
    """Return the timeline's JSON."""
    return json.loads(timeline(tap, capture, "--json", *words))


PICTURES = {
    "timeline_80": (["--calls", "3000", "--threads", "2", "--devices", "2", "--overlap"], 80,
                    "C.UTF-8"),
    "timeline_120": (["--calls", "3000", "--threads", "2", "--devices", "2", "--overlap"], 120,
                     "C.UTF-8"),
    "timeline_ascii": (["--calls", "400", "--waits"], 80, "C"),
}


def test_a_capture_of_centuries_has_a_picture(tap, synth):
    """Absurd time stamps, which damaged captures contain, still give a picture."""
    out = timeline(tap, synth("--calls", "24", "--graphs", "--late", "--device-clock", "slow"))
    assert "18446744073 s, from" in out


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_the_golden_one(tap, synth, repo, name):
    """GPUTAP_GOLDEN=1 rewrites the golden file."""
    words, columns, locale = PICTURES[name]
    text = timeline(tap, synth(*words), columns=columns, LC_ALL=locale)
    path = repo / f"tests/golden/{name}.txt"
    if os.environ.get("GPUTAP_GOLDEN"):  # review the difference before committing it
        path.write_text(text)
    assert text == path.read_text(), f"differs from {path}"
    assert max(map(len, text.splitlines())) <= columns


def cut(intervals, start, end, columns):
    """Split the time into equal parts, and return the time that the union of intervals covers in
    each part."""
    busy, at = [0] * columns, 0
    edges = [start + -(-(end - start) * i // columns) for i in range(columns + 1)]
    for a, b in sorted(intervals):
        a, at = max(a, at), max(b, at)
        for i in range(columns):
            busy[i] += max(0, min(b, edges[i + 1]) - max(a, edges[i]))
    return busy


def test_each_column_has_the_busy_time_of_its_part_once(tap, synth):
    capture = synth("--calls", "600", "--threads", "2", "--devices", "2", "--overlap", "--nested",
                    "--waits")
    tap("export", capture, "-o", "s.csv")
    with open("s.csv", newline="", encoding="utf-8") as file:
        records = [r for r in csv.DictReader(file) if r["start_ns"]]
    picture = rows_of(tap, capture)
    zero = min(int(r["start_ns"]) for r in records) - picture["start_ns"]
    start, end = zero + picture["start_ns"], zero + picture["end_ns"]
    assert end == max(int(r["end_ns"]) for r in records)

    def busy(wanted):
        return cut([(int(r["start_ns"]), int(r["end_ns"])) for r in records if wanted(r)], start,
                   end, picture["columns"])

    want = {}
    for kind, key in (("device", "device"), ("device", "queue"), ("call", "tid")):
        for r in records:
            if r["kind"] == kind and r["operation"] not in ("marker", "barrier"):
                device = r["device"] if kind == "device" else ""
                want.setdefault((key, device, r[key]), busy(
                    lambda s, kind=kind, device=device, key=key, r=r: s["kind"] == kind and
                    s["operation"] not in ("marker", "barrier") and
                    (not device or s["device"] == device) and s[key] == r[key]))
    have = {}
    for row in picture["rows"]:
        device = re.search(r"^device (\d+)", row["group"])
        number = re.search(r"\d+$", row["label"])
        have["tid" if row["kind"] == "thread" else row["kind"], device[1] if device else "",
             number[0] if number else device[1]] = row["busy"]
        assert sum(row["busy"]) == row["busy_ns"]
        assert all(w <= b for w, b in zip(row.get("wait", []), row["busy"]))
    assert have == want and len(have) == 2 + 4 + 2


def test_the_devices_shares_are_those_of_the_report(tap, synth):
    capture = synth("--calls", "2000", "--devices", "2", "--overlap")
    devices = list(csv.DictReader(tap("report", capture, "-t", "devices", "--csv")
                                  .out.splitlines()))
    rows = [r for r in rows_of(tap, capture)["rows"] if r["kind"] == "device"]
    assert [r["busy_ns"] for r in rows] == [int(d["busy_ns"]) for d in devices]


def test_ranges_stand_above_their_thread_one_in_another(tap, steps):
    picture = rows_of(tap, steps)
    ranges = [r for r in picture["rows"] if r["kind"] == "ranges"]
    assert [r["depth"] for r in ranges] == [0, 1]
    assert [r["name"] for r in ranges[0]["ranges"]] == ["step"] * 5
    inner = [r["name"] for r in ranges[1]["ranges"]]
    assert inner.count("load") == 5
    slow = ranges[0]["ranges"][2]  # this step sleeps for 31 ms; others may take longer
    assert slow["end_ns"] - slow["start_ns"] >= 31e6
    for r in ranges[1]["ranges"]:
        assert any(s["start_ns"] <= r["start_ns"] and r["end_ns"] <= s["end_ns"]
                   for s in ranges[0]["ranges"])
    lines = timeline(tap, steps, columns=200).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  ranges"))
    assert re.search(r"\[step-+[][]", lines[at]) and "[load" in lines[at + 1]
    assert re.match(r"  steps \d+ +\d+% ", lines[at + 2])
    assert max(map(len, lines)) <= 200


def test_no_name_moves_the_cursor_and_no_line_ends_in_blanks(tap, build, repo, work):
    """U+009B starts an escape sequence as ESC [ does. U+202E reverses the text after it."""
    (work / "a.c").write_text(r"""
#include "gputap/gputap.h"
#include <unistd.h>
int main(void)
{
	gputap_range_push("a\xc2\x9b" "31mb\xe2\x80\xae" "c");
	usleep(100000);
	gputap_range_pop();
	usleep(1000);
	gputap_range_push("short");
	gputap_range_pop();
	return 0;
}
""")
    subprocess.run(["cc", f"-I{repo}/include", "a.c", "-o", "a", f"-L{build}",
                    "-l:libgputap.so.0", f"-Wl,-rpath,{build}"], check=True)
    tap("run", "-q", "-o", "a.gputap", "--", work / "a")
    text = tap("report", "a.gputap", "--timeline", env={"LC_ALL": "C.UTF-8"}).out
    assert "[a?31mb?c-" in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_where_slices_the_time_too(tap, steps):
    whole, part = rows_of(tap, steps), rows_of(tap, steps, "--where", "range=load")
    assert whole["start_ns"] < part["start_ns"] < part["end_ns"] < whole["end_ns"]
    assert {r["name"] for row in part["rows"] for r in row.get("ranges", [])} == {"load"}
    assert "  Only where range=load.\n" in timeline(tap, steps, "--where", "range=load")
    assert "No matching record has a time" in timeline(tap, steps, "--where", "name=none")


def test_many_threads_are_those_with_the_most_time(tap, synth):
    text = timeline(tap, synth("--calls", "3000", "--threads", "40", "--queues", "40"))
    assert len(re.findall(r"^  \S.* \d+% ", text, re.M)) <= 24 + 24 + 1
    assert "Not shown: 16 queues and 16 threads that were busy for less time." in text


def test_a_capture_without_records_has_no_rows(tap, work):
    tap("run", "-q", "-o", "a.gputap", "--", "true")
    assert "No record has a time." in timeline(tap, "a.gputap")
    assert rows_of(tap, "a.gputap")["rows"] == []


def on_terminal(command, env):
    """Return the command's output on a terminal of 100 columns."""
    pid, terminal = pty.fork()
    if not pid:
        subprocess.run(["stty", "cols", "100"], check=False)
        os.execvpe(command[0], [str(c) for c in command],
                   {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **env})
    out = b""
    try:
        while data := os.read(terminal, 65536):
            out += data
    except OSError:  # the command has ended
        pass
    os.close(terminal)
    os.waitpid(pid, 0)
    return out.decode()


def test_colours_and_width_are_the_terminals(gputap, synth):
    command = [gputap, "report", synth("--calls", "300"), "--timeline"]
    env = {k: "" for k in ("NO_COLOR", "COLUMNS")}
    coloured = on_terminal(command, env)
    plain = on_terminal(command, {**env, "NO_COLOR": "1"})
    assert "\x1b[32m" in coloured and "\x1b" not in plain
    bare = re.sub("\x1b\\[[0-9;]*m", "", coloured)
    assert bare == plain and max(map(len, plain.split("\r\n"))) == 100


@pytest.mark.parametrize("words", [["-t", "kernels"], ["--csv"], ["--by", "name"], ["--top", "3"]])
def test_what_is_of_tables_does_not_go_with_it(tap, synth, words):
    err = tap("report", synth("--calls", "10"), "--timeline", *words, status=2).err
    assert "--timeline replaces tables" in err
