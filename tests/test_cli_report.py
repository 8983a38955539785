# SPDX-License-Identifier: MIT
"""Test gputap report: golden tables of synthetic captures, a traced PoCL program, options, filters,
output on terminals."""

import csv
import io
import json
import os
import pty
import re
import subprocess

import pytest

import conftest

GOLDEN = conftest.REPO / "tests" / "golden"
TABLES = [
    "operations", "ranges", "failures", "kernels", "copies", "other", "graphs", "devices", "gaps",
    "latency", "stacks", "processes", "threads", "loss", "code_objects", "kernel_symbols"
]


@pytest.fixture
def synth(run, build, work):
    """Return a function: synth(options...) writes the capture a.gputap. Equal options give equal
    captures."""
    def make(*options, out="a.gputap"):
        run([build / "tests/synth/synth", *options, "-o", out])
        return out
    return make


@pytest.fixture
def busy(synth):
    """Return a capture of two processes with two threads each, two devices, failures, losses, and
    names that are hard to print."""
    return synth("--calls", "3000", "--threads", "2", "--processes", "2", "--devices", "2",
                 "--kernels", "4", "--nested", "--failed", "--drops", "--events", "--names",
                 "tricky")


def check_golden(name, text):
    path = GOLDEN / name
    text = re.sub(r'"gputap": "[^"]*"', '"gputap": "VERSION"', text)
    if os.environ.get("GPUTAP_GOLDEN"):  # review the difference before committing
        path.write_text(text)
    assert text == path.read_text(), f"differs from {path}"


def on_terminal(command, columns=100, env=None):
    """Return the output of @command on a terminal that is @columns wide."""
    leader, follower = pty.openpty()
    subprocess.run(["stty", "cols", str(columns), "rows", "50"], stdin=follower, check=True)
    environment = {**conftest.clean_environment(), "TERM": "xterm", **(env or {})}
    if "NO_COLOR" not in (env or {}):
        environment.pop("NO_COLOR", None)
    process = subprocess.Popen([str(c) for c in command],
                               stdin=follower,
                               stdout=follower,
                               stderr=follower,
                               env=environment)
    os.close(follower)
    out = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:
            break
        if not data:
            break
        out += data
    os.close(leader)
    assert process.wait(60) == 0, out
    return out.decode().replace("\r\n", "\n")


# Golden --------------------------------------------------------------------

def test_text_is_the_golden_one(tap, busy):
    check_golden("report.txt", tap("report", "--all", busy).out)


def test_json_is_the_golden_one(tap, busy):
    check_golden("report.json", tap("report", busy, "--json", "--top", "5").out)


def test_csv_is_the_golden_one(tap, busy):
    check_golden("report.csv", tap("report", busy, "--csv", "--top", "5").out)


@pytest.mark.parametrize("columns", [80, 120])
def test_text_fits_in_columns_and_names_what_it_leaves_out(tap, busy, columns):
    text = tap("report", "--all", busy, env={"COLUMNS": columns}).out
    assert max(map(len, text.splitlines())) <= columns
    check_golden(f"report_{columns}.txt", text)


@pytest.mark.parametrize("columns", [80, 120])
def test_waits_and_launches_are_told_apart(tap, synth, columns):
    """Blocking copies and finishes wait for the activities that they name. Only these calls set
    bounds for the offset of the device's clock."""
    path = synth("--calls", "2000", "--threads", "2", "--waits", "--device-clock", "offset")
    env = {"COLUMNS": columns}
    text = tap("report", path, "--table", "operations,devices,gaps,latency,threads", env=env).out
    text += tap("report", path, "--table", "devices,gaps,latency", "--by", "queue,name",
                env=env).out
    text += tap("info", path, env=env).out.split("Devices,")[1].split("\n\n")[0] + "\n"
    check_golden(f"waits_{columns}.txt", text)


def test_parts_of_a_wait_add_up_to_the_calls_that_wait(tap, synth):
    path = synth("--calls", "2000", "--waits", "--threads", "3")
    report = json.loads(tap("report", path, "--json").out)
    waits = {o["name"]: o for o in report["operations"] if o["wait_ns"] is not None}
    parts = ("wait_ns", "transfer_ns", "runtime_ns", "unattributed_ns")
    assert set(waits) == {"clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clFinish"}
    for o in waits.values():
        assert sum(o[p] for p in parts) == o["total_ns"] and o["unattributed_ns"] == 0
    for part in parts:
        assert sum(t[part] for t in report["threads"]) == sum(o[part] for o in waits.values())
    moved = sum(c["total_ns"] for c in report["copies"])
    assert abs(sum(o["transfer_ns"]
                   for o in waits.values()) - moved) <= 10 * len(report["copies"]) * 2000 / 1000


def test_parts_of_the_way_to_a_kernel_add_up_to_the_way(tap, synth):
    path = synth("--calls", "2000", "--waits", "--threads", "3", "--overlap")
    for by in ((), ("--by", "queue"), ("--by", "name,queue"), ("--by", "thread")):
        rows = json.loads(tap("report", path, "--json", "--table", "latency", *by).out)["latency"]
        whole = [r for r in rows if r["stage"] == "call to start"]
        parts = [
            r for r in rows
            if r["stage"] == "through the runtime" or r["stage"].startswith("after")
        ]
        assert len(parts) == 3 * len(whole) and sum(r["count"] for r in whole) == 750
        total = sum(r["mean_ns"] * r["count"] for r in whole)
        # means are rounded to whole numbers
        assert abs(sum(r["mean_ns"] * r["count"] for r in parts) - total) <= 750 * 4


@pytest.mark.parametrize("columns", [80, 120])
def test_a_wait_that_cannot_be_split_has_no_parts(tap, synth, columns):
    """Without arguments, the report cannot identify calls that wait. Lost activities may have been
    wait targets."""
    path = synth("--calls", "400", "--waits", "--plain")
    report = json.loads(tap("report", path, "--json").out)
    read = next(o for o in report["operations"] if o["name"] == "clEnqueueReadBuffer")
    assert read["unattributed_ns"] == read["total_ns"]
    assert read["wait_ns"] is read["transfer_ns"] is read["runtime_ns"] is None
    text = ""
    for options in (("--plain", ), ("--drops", )):
        path = synth("--calls", "400", "--waits", *options)
        text += tap("report", path, "--table", "operations,threads", env={"COLUMNS": columns}).out
    assert " unattributed  " in text
    check_golden(f"not_split_{columns}.txt", text)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name, options", [
    ("busy", [
        "--calls", "3000", "--threads", "2", "--processes", "2", "--devices", "2", "--nested",
        "--failed", "--drops", "--events"
    ]),
    ("waits", ["--calls", "2000", "--threads", "2", "--waits"]),
    ("unsplit", ["--calls", "400", "--waits", "--plain"]),
    ("death", ["--calls", "300", "--crash", "--events"]),
])
def test_the_first_screen_is_the_golden_one(tap, synth, name, options, columns):
    path, env = synth(*options), {"COLUMNS": columns}
    text = tap("report", path, env=env).out
    if name == "death":  # the heads of `report --all` and info also report the death
        text += "\n" + tap("report", "--all", path, env=env, status=None).out.split("\n\n")[0]
        text += "\n\n" + tap("info", path, env=env, status=None).out.split("\n\n")[0] + "\n"
    assert max(map(len, text.splitlines())) <= columns
    assert len(text.splitlines()) <= 40 or name == "death" or columns < 100
    check_golden(f"overview_{name}_{columns}.txt", text)


@pytest.mark.parametrize("part", ["cut", "filter"])
def test_of_a_part_of_a_run_nothing_is_claimed_of_the_rest(tap, synth, part):
    path = synth("--calls", "3000", "--threads", "2", "--devices", "2")
    assert "no activity in the last" in tap("report", path).out
    if part == "cut":
        tap("export", path, "--where", "at=5ms..20ms", "-o", "part.gputap")
        text = tap("report", "part.gputap").out
    else:
        text = tap("report", path, "--where", "at=5ms..20ms").out
    assert re.search(r"^GPU 0 +busy \S+ ms of \S+ ms from its first activity to its last", text,
                     re.M)
    assert "first activity after" not in text and "no activity in the last" not in text


def test_all_tables_and_some_of_them_exclude_each_other(tap, synth):
    path = synth("--calls", "100")
    assert "--all and --table: choose one" in tap("report", "--all", "-t", "kernels", path,
                                                  status=2).err


def test_no_line_begins_with_the_comma_of_the_one_before(tap, synth):
    path = synth("--calls", "400", "--waits", "--nested", "--failed")
    for columns in range(60, 130, 3):
        for options in ((), ("--all", ), ("--by", "queue,name")):
            text = tap("report", path, *options, env={"COLUMNS": columns}).out
            assert not re.search(r"^\s*,", text, re.M), (columns, options)


def test_sums_of_the_report_are_those_of_the_records(tap, busy, run):
    """Compare the report with sums over the CSV export, which has one row per record."""
    run([conftest.BUILD / "gputap", "export", busy, "-o", "a.csv"])
    report = json.loads(tap("report", busy, "--json").out)
    rows = list(csv.DictReader(open("a.csv", newline="")))
    assert report["calls"] + report["activities"] == len(rows)
    assert report["seen"] == report["calls"] + report["activities"] + report["dropped"]
    calls = sum(o["calls"] for o in report["operations"])
    work = sum(o["count"] for table in ("kernels", "copies", "other") for o in report[table])
    assert (calls, work) == (report["calls"], report["activities"])
    assert sum(o["failed"] for o in report["operations"]) == sum(
        f["count"] for f in report["failures"] if f["on"] == "call")


def test_several_files_are_summed_up(tap, synth):
    one = synth("--calls", "500")
    two = synth("--calls", "700", out="b.gputap")
    sums = [
        json.loads(tap("report", *files, "--json").out) for files in ((one, ), (two, ), (one, two))
    ]
    assert sums[0]["calls"] + sums[1]["calls"] == sums[2]["calls"]
    assert len(sums[2]["files"]) == 2
    counts = [{o["name"]: o["calls"] for o in s["operations"]} for s in sums]
    assert counts[2]["clFinish"] == counts[0]["clFinish"] + counts[1]["clFinish"]


def test_times_inside_other_calls_are_not_counted_twice(tap, synth):
    report = json.loads(tap("report", synth("--calls", "1000", "--nested"), "--json").out)
    operations = {o["name"]: o for o in report["operations"]}
    assert operations["clBuildProgram"]["self_ns"] < operations["clBuildProgram"]["total_ns"]
    assert sum(o["share"] for o in report["operations"]) == pytest.approx(1, abs=1e-4)
    assert sum(o["self_ns"] for o in report["operations"]) == sum(
        t["call_ns"] for t in report["threads"])


def test_shares_of_the_first_screen_count_time_once(tap, synth):
    """Calls of one runtime contain calls of a second runtime, which contain calls of the first
    runtime."""
    path = synth("--calls", "1000", "--nested", "--layered")
    text = tap("report", path).out
    calls = text[text.index("\nCalls"):].split("\n", 1)[1].split("\nWaits")[0]
    shares = {name: float(share) for share, name in
              re.findall(r"^.{9} *\S+ \w+ +(\S+)% .* (\w+)$", "\n" + calls, re.M)}
    operations = {o["name"]: o for o in json.loads(tap("report", path, "--json").out)["operations"]}
    inner, outer = operations["clFinish"], operations["urQueueFinish"]
    assert outer["self_ns"] == 200 * outer["calls"] and inner["calls"] == outer["calls"]
    whole = sum(o["self_ns"] for o in operations.values())
    assert shares and all(
        share == pytest.approx(100 * operations[name]["self_ns"] / whole, abs=0.06)
        for name, share in shares.items()), calls
    # If nested calls take much time, the report shows the self time next to the share, because the
    # share is that of the self time.
    heads = [line.split()[:3] for line in tap("report", path, "-t", "operations").out.splitlines()
             if line.split()[:1] == ["total"]]
    assert ["total", "self", "share"] in heads, heads


# Options -------------------------------------------------------------------

def table(tap, capture, name, *options):
    return json.loads(tap("report", capture, "--json", "--table", name, *options).out)[name]


@pytest.mark.parametrize("name", TABLES)
def test_each_table_can_be_asked_for_alone(tap, busy, name):
    report = json.loads(tap("report", busy, "--json", "-t", name).out)
    assert [t for t in TABLES if t in report] == [name]
    header = tap("report", busy, "--csv", "-t", name).out.splitlines()[0]
    if report[name]:
        assert header.split(",") == list(report[name][0])


def test_rows_are_sorted_as_asked(tap, busy):
    means = [o["mean_ns"] for o in table(tap, busy, "operations", "--sort", "mean_ns")]
    assert means == sorted(means, reverse=True) and len(set(means)) > 1
    assert [o["mean_ns"]
            for o in table(tap, busy, "operations", "--sort", "mean", "--reverse")] == sorted(means)
    names = [o["name"] for o in table(tap, busy, "operations", "--sort", "name")]
    assert names == sorted(names)


def test_top_limits_rows_and_says_how_many_are_left(tap, busy):
    assert len(table(tap, busy, "operations", "--top", "2")) == 2
    assert len(table(tap, busy, "operations", "--top", "0")) == 9
    out = tap("report", busy, "-t", "operations", "--top", "2").out
    assert ".. and 7 more (--top 0 shows all)" in out


@pytest.mark.parametrize("key, column, count", [("process", "pid", 2), ("thread", "tid", 4),
                                                ("name", "name", 9)])
def test_calls_have_a_row_for_each_key(tap, busy, key, column, count):
    rows = table(tap, busy, "operations", "--by", key)
    assert len({r[column] for r in rows}) == len(rows) == count
    assert sum(r["calls"] for r in rows) == 13504


@pytest.mark.parametrize("key, column", [("device", "device"), ("process", "pid"),
                                         ("thread", "tid"), ("name", "name")])
def test_kernels_have_a_row_for_each_key(tap, busy, key, column):
    rows = table(tap, busy, "kernels", "--by", key)
    assert len({r[column] for r in rows}) == len(rows)
    assert sum(r["count"] for r in rows) == 1331


def test_queues_are_told_apart_by_process(tap, busy):
    rows = table(tap, busy, "copies", "--by", "queue")
    assert len({(r["pid"], r["device"], r["queue"], r["operation"])
                for r in rows}) == len(rows) == 8


def test_keys_can_be_joined(tap, busy):
    rows = table(tap, busy, "operations", "--by", "name,process")
    assert len({(r["name"], r["pid"]) for r in rows}) == len(rows) == 18


@pytest.mark.parametrize("expression, keeps", [
    ("failed", lambda o: o["failed"] == o["calls"]),
    ("name=clFinish", lambda o: o["name"] == "clFinish"),
    ("name~^clEnqueue(Read|Write)", lambda o: o["name"] in
     ("clEnqueueReadBuffer", "clEnqueueWriteBuffer")),
    ("kind=memcpy and process=4000", lambda o: "Buffer" in o["name"]),
    ("duration>30us", lambda o: o["min_ns"] > 30000),
    ("domain=hip", lambda o: False),
    ("device=0", lambda o: False),
])
def test_where_keeps_what_holds(tap, busy, expression, keeps):
    rows = table(tap, busy, "operations", "--where", expression)
    assert all(keeps(o) for o in rows)
    assert bool(rows) == (expression not in ("domain=hip", "device=0"))


def test_where_splits_the_records_in_two(tap, busy):
    for expression in ("failed", "device=1", "duration<10us", "thread=4001", "bytes>=64K",
                       "queue=1"):
        matched = [json.loads(tap("report", busy, "--json", "-t", "loss", "-w", e).out)["matched"]
                   for e in (expression, f"not ({expression})")]
        assert sum(matched) == 13504 + 4331 and min(matched) > 0, expression


def test_a_wrong_expression_is_reported_with_a_caret(tap, busy):
    result = tap("report", "--all", busy, "--where", "duration>10us adn failed", status=2)
    lines = result.err.splitlines()
    assert "expected 'and' or 'or'" in lines[0]
    assert lines[2].index("^") == lines[1].index("adn")
    assert result.out == ""


def test_an_expression_may_have_as_many_conditions_as_a_command_takes(tap, busy):
    for word, matched in (("or", 13504 + 4331), ("and", 0)):
        where = f" {word} ".join(["name=cl*", "not name=cl*"] + ["failed"] * 10000)
        assert json.loads(tap("report", busy, "--json", "-t", "loss", "-w", where).out)["matched"] \
            == matched


# Terminals -----------------------------------------------------------------

def test_no_escape_codes_into_a_pipe(tap, busy):
    for options in ([], ["--csv"], ["--json"]):
        assert "\x1b" not in tap("report", busy, *options, env={"NO_COLOR": None,
                                                                "TERM": "xterm"}).out


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_lines_of_tables_fit_the_terminal(gputap, busy, columns):
    out = on_terminal([gputap, "report", busy, "-t", "operations,kernels,copies,gaps,threads"],
                      columns)
    assert "\x1b[1m" in out
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", out)
    tables = plain[plain.index("\nOperations"):]
    rows = [line for line in tables.splitlines() if re.match(r" +[0-9.,]+ ", line)]
    assert len(rows) > 15 and max(map(len, rows)) <= columns


def test_no_color_is_heard(gputap, busy):
    assert "\x1b" not in on_terminal([gputap, "report", "--all", busy], env={"NO_COLOR": "1"})
    assert "\x1b" not in on_terminal([gputap, "report", "--all", busy], env={"TERM": "dumb"})


def test_percentiles_are_explained_where_there_are_some(tap, busy):
    for table, there in (("kernels", True), ("devices", True), ("processes", False)):
        assert ("Percentiles are exact" in tap("report", busy, "-t", table).out) == there


def test_names_cannot_send_escape_codes(gputap, tap, run, build, work):
    run([build / "tests/synth/synth", "--names", "tricky", "-o", "a\x1b[31m.gputap"])
    for options in ([], ["--csv"], ["--json"]):
        assert "\x1b" not in tap("report", "a\x1b[31m.gputap", *options).out
    os.rename("a\x1b[31m.gputap", "a\u202eb.gputap")  # U+202E reverses the text after it
    assert "a?b.gputap: " in tap("report", "a\u202eb.gputap",
                                 env={"LC_ALL": "C.UTF-8"}).out


# A real program --------------------------------------------------------------

@pytest.fixture
def real(tap, build, work):
    result = tap("run", "-o", "real.gputap", build / "tests/opencl/cl_basic", "5")
    return result, "real.gputap"


def test_a_traced_program_has_a_report(tap, real):
    report = json.loads(tap("report", real[1], "--json").out)
    assert report["complete"] and report["linked"] == report["activities"] > 0
    assert report["seen"] == report["calls"] + report["activities"]
    ends = [p["end"] for p in report["processes"]]
    # PoCL starts a linker if its kernel cache is empty
    assert ends.count("exit 0") == 1 and set(ends) <= {"exit 0", "ended"}
    device = report["devices"][0]
    assert 0 < device["busy_ns"] <= device["span_ns"]
    assert device["busy_ns"] + device["idle_ns"] == device["span_ns"]
    assert device["starved_ns"] <= device["idle_ns"]
    stages = {s["stage"]: s for s in report["latency"]}
    assert stages["call to start"]["count"] == sum(k["count"] for k in report["kernels"])
    assert all(k["total_ns"] > 0 and k["min_ns"] <= k["p50_ns"] <= k["p99_ns"] <= k["max_ns"]
               for k in report["kernels"])


def test_a_blocking_read_behind_kernels_waits_and_moves_little(tap, build, work):
    result = tap("run", "-o", "waits.gputap", build / "tests/opencl/cl_waits", "300000")
    report = json.loads(tap("report", "waits.gputap", "--json").out)
    operations = {o["name"]: o for o in report["operations"]}
    read, write = operations["clEnqueueReadBuffer"], operations["clEnqueueWriteBuffer"]
    assert read["wait_ns"] > 10 * read["transfer_ns"] > 0 and read["unattributed_ns"] == 0
    assert write["transfer_ns"] > write["wait_ns"]  # the queue has no pending work
    finish = operations["clFinish"]
    assert finish["wait_ns"] > 0 and finish["wait_ns"] + finish["runtime_ns"] == finish["total_ns"]
    events = operations["clWaitForEvents"]
    assert events["total_ns"] == sum(
        events[p] for p in ("wait_ns", "transfer_ns", "runtime_ns", "unattributed_ns"))
    stages = {s["stage"]: s for s in report["latency"]}
    assert stages["call to start"]["early"] == 0
    assert stages["after its own queue's activities"]["max_ns"] > 0
    assert stages["through the runtime"]["count"] == 36
    assert re.search(r"^Waits +\S+ [mun]?s for earlier GPU activity ", result.err, re.M)


def test_run_ends_with_the_first_screen(real):
    lines = real[0].err.splitlines()
    assert lines[0].startswith("gputap: ") and lines[0].endswith("nothing lost")
    assert 5 <= len(lines) <= 40
    labels = {line.split()[0] for line in lines if line[:1].isupper()}
    assert {"CPU", "Kernels", "Calls"} <= labels
    assert lines[-1] == "gputap: wrote real.gputap; 'gputap report real.gputap' shows more"


@pytest.mark.parametrize("name, options", [
    ("a.json", ["--json"]), ("a.csv", ["--csv"]), ("a.html", ["--html"]), ("a.txt", []),
    ("a.json", ["--json", "-t", "kernels"]), ("a.txt", ["--all"]),
    ("a.json", ["--json", "--timeline"]), ("a.txt", ["--timeline"])])
def test_the_extension_of_the_output_chooses_the_format(tap, run, build, work, name, options):
    run([build / "tests/synth/synth", "--calls", "300", "-o", "s.gputap"])
    chosen = [o for o in options if o not in ("--json", "--csv", "--html")]
    assert tap("report", "s.gputap", "-o", name, *chosen).out == ""
    assert (work / name).read_text() == tap("report", "s.gputap", *options).out
    assert (work / name).stat().st_mode & 0o777 == 0o600
    assert f"{name} exists: -f replaces it" in tap("report", "s.gputap", "-o", name, *chosen,
                                                   status=1).err


# A range that differs from its siblings ------------------------------------------------

def odd_range(out):
    found = re.search(r"^Ranges +(\S+): #(\d+) took (.*), the median of (\d+) is (.*)$", out, re.M)
    return found and found.groups()


# sleeps in 12 ranges, longest in one of them, so that the load of the machine has little effect
SLEEPER = """
#include <stdlib.h>
#include <unistd.h>
#include "gputap/gputap.h"
int main(int argc, char **argv)
{
	for (int i = 1; i <= 12; i++) {
		gputap_range_push("step");
		usleep(i == atoi(argv[argc - 1]) ? 500000 : 80000);
		gputap_range_pop();
	}
	return 0;
}
"""


@pytest.fixture
def sleeper(run, repo, build, work):
    (work / "sleeper.c").write_text(SLEEPER)
    run(["cc", f"-I{repo}/include", "sleeper.c", "-o", "sleeper", f"-L{build}",
         "-l:libgputap.so.0", f"-Wl,-rpath,{build}"])
    return work / "sleeper"


@pytest.mark.parametrize("slow", [7, 1])
def test_a_range_that_took_longer_than_its_siblings_is_named(tap, sleeper, slow):
    """A range that takes longer than its siblings is named, even if it is the first range."""
    tap("run", "-q", "-o", "odd.gputap", "--", sleeper, slow)
    out = tap("report", "odd.gputap").out
    name, number, took, count, median = odd_range(out)
    assert (name, int(number), count) == ("step", slow, "12")
    assert 500 <= float(took.split()[0]) < 1000 and 80 <= float(median.split()[0]) < 200
    assert f"gputap report odd.gputap --where 'range=step#{slow}'" in out
    one, = json.loads(tap("report", "odd.gputap", "--json", "--where",
                          f"range=step#{slow}").out)["ranges"]
    assert one["count"] == 1 and one["max_ns"] > 500e6


def test_of_several_processes_the_one_of_the_range_is_named(tap, sleeper):
    tap("run", "-q", "-o", "two.gputap", "--", "sh", "-c", f"{sleeper} 7; {sleeper} 0")
    out = tap("report", "two.gputap").out
    number, pid = re.search(r"^Ranges +step: #(\d+) of process (\d+) took", out, re.M).groups()
    where = f"range=step#{number} and process={pid}"
    assert number == "7" and f"gputap report two.gputap --where '{where}'" in out
    one, = json.loads(tap("report", "two.gputap", "--json", "--where", where).out)["ranges"]
    assert one["count"] == 1 and one["max_ns"] > 500e6


@pytest.mark.parametrize("words", [
    ["--steps", "40"],  # equal ranges
    ["--steps", "40", "--noise", "30"],  # noise
    ["--steps", "700", "--slow", "1:900:1400"],  # too few ranges
    ["--steps", "40", "--slow", "1:900:1400"]])  # half of the ranges are slow
def test_ranges_that_differ_by_noise_or_together_are_not_named(tap, run, build, work, words):
    run([build / "tests/synth/synth", "--calls", "3200", *words, "-o", "alike.gputap"])
    assert odd_range(tap("report", "alike.gputap").out) is None
