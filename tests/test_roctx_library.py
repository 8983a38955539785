# SPDX-License-Identifier: MIT
"""Test our libroctx64.so.4, which works like ROCm's, even without ROCm, and whose calls gputap
records."""

import csv
import io
import json
import sqlite3
import subprocess

import pytest

from consumers import perfetto

PRINTED = "4.1 0 1 1 1 1 1 1 0 -1 0 1 1".split()


@pytest.fixture(scope="session")
def marks(tmp_path_factory, repo, build):
    folder = tmp_path_factory.mktemp("roctx")
    subprocess.run([
        "cc", "-O1", "-Wall", f"-I{repo}/include", repo / "tests/rocm/marks.c", "-o",
        folder / "marks", f"-L{build}/src/compat/roctx", "-l:libroctx64.so.4", "-lpthread"
    ],
                   check=True)
    return folder / "marks"


@pytest.fixture
def environment(build):
    return {"LD_LIBRARY_PATH": build / "src/compat/roctx"}


@pytest.fixture
def trace(tap, marks, environment, work):
    def run(*words):
        result = tap("run", "-f", "-o", "a.gputap", "--", marks, *words, env=environment)
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        rows = [
            r for r in csv.DictReader(io.StringIO((work / "a.csv").read_text()))
            if r["kind"] == "call"
        ]
        return result, sorted(rows, key=lambda r: int(r["start_ns"]))
    return run


def test_levels_and_ids_are_right_without_gputap(run, marks, environment):
    assert run([marks], env=environment).out.split() == PRINTED


def test_the_program_sees_the_same_levels_under_gputap(trace):
    assert trace()[0].out.split() == PRINTED


def test_every_mark_is_recorded_with_its_message(trace):
    rows = trace()[1]
    log = [(r["operation"], r["arguments"]) for r in rows if r["operation"] != "roctxGetThreadId"]
    assert log[:4] == [("roctxRangePushA", 'message="outer"'),
                        ("roctxRangePushA", 'message="step"'), ("roctxMarkA", 'message="now"'),
                        ("roctxRangePop", "")]
    assert len(rows) == 19
    started = [r for r in rows if r["operation"] == "roctxRangeStartA"]
    stopped = [r for r in rows if r["operation"] == "roctxRangeStop"]
    assert len(started) == len(stopped) == 1 and started[0]["tid"] != stopped[0]["tid"]


def test_a_paused_program_is_not_recorded_until_it_resumes(trace):
    assert [r["operation"] for r in trace("pause")[1]] == [
        "roctxMarkA", "roctxProfilerPause", "roctxProfilerResume", "roctxMarkA"
    ]


def test_pausing_works_also_where_pauses_are_not_recorded(tap, marks, environment, work):
    tap("run",
        "-o",
        "a.gputap",
        "--ops",
        "roctxMarkA",
        "--no-device",
        "--",
        marks,
        "pause",
        env=environment)
    tap("export", "a.gputap", "-o", "a.csv")
    text = (work / "a.csv").read_text()
    assert "before" in text and "after" in text and "between" not in text


def test_the_library_exports_what_rocms_does_and_links_libc_only(run, build):
    library = build / "src/compat/roctx/libroctx64.so.4"
    names = run(["nm", "-D", "--defined-only", library]).out
    for name in ("roctxMarkA", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA",
                 "roctxRangeStop", "roctx_version_major", "roctx_version_minor"):
        assert f"{name}@@ROCTX_4.1" in names  # programs linked with ROCm's library need these
    dynamic = run(["readelf", "-d", library]).out
    needed = [line for line in dynamic.splitlines() if "NEEDED" in line]
    assert "[libroctx64.so.4]" in dynamic and all("libc.so" in line for line in needed)


def test_another_library_with_the_functions_is_called_and_may_report_its_own(
        run, tmp_path, build, repo):
    """Another library that is loaded after ours, such as librocprofiler-sdk-roctx, returns the
    levels."""
    (tmp_path / "real.c").write_text(
        "int roctxRangePushA(const char *m) { return 7; }\nint roctxRangePop(void) { return 7; }\n"
        "int roctxProfilerPause(unsigned long t) { return 0; }\n")
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "compat/roctx/roctx.h"\n'
        'int main(void) { printf("%d\\n", roctxRangePushA("x")); return 0; }\n')
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "real.c", "-o", tmp_path / "libreal.so"],
                   check=True)
    subprocess.run([
        "cc", f"-I{repo}/include", tmp_path / "main.c", "-o", tmp_path / "main",
        f"-L{build}/src/compat/roctx", "-l:libroctx64.so.4", "-Wl,--no-as-needed",
        tmp_path / "libreal.so"
    ],
                   check=True)
    assert run([tmp_path / "main"],
               env={"LD_LIBRARY_PATH": build / "src/compat/roctx"}).out == "7\n"


# Choice of the ROCTx library ---------------------------------------------------

@pytest.fixture(scope="session")
def theirs(tmp_path_factory):
    """Build a library with the exports of roctracer's library. It calls its own exports and starts
    levels at 100. Also build programs that use the library."""
    folder = tmp_path_factory.mktemp("theirs")
    (folder / "real.c").write_text("""
static __thread int level = 100;
unsigned roctx_version_major(void) { return 4; }
unsigned roctx_version_minor(void) { return 1; }
int roctxRangePushA(const char *m) { return level++; }
int roctxRangePop(void) { return --level; }
void roctxMarkA(const char *m) { roctxRangePushA(m); roctxRangePop(); }
unsigned long roctxRangeStartA(const char *m) { return 7; }
void roctxRangeStop(unsigned long id) {}
""")
    (folder / "map").write_text("ROCTX_4.1 { global: roctx*; local: *; };")
    (folder / "main.c").write_text("""
#include <dlfcn.h>
#include <stdio.h>
int roctxRangePushA(const char *), roctxRangePop(void);
void roctxMarkA(const char *);
int main(int argc, char **argv)
{
	void *h = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*push)(const char *) =
		h ? (int (*)(const char *))dlsym(h, "roctxRangePushA") : roctxRangePushA;
	int (*pop)(void) = h ? (int (*)(void))dlsym(h, "roctxRangePop") : roctxRangePop;
	void (*mark)(const char *) =
		h ? (void (*)(const char *))dlsym(h, "roctxMarkA") : roctxMarkA;
	printf("%d", push("a"));
	mark("m");
	printf(" %d\\n", pop());
	return 0;
}
""")
    subprocess.run([
        "cc", "-w", "-shared", "-fPIC", folder / "real.c", "-o", folder / "libroctx64.so.4",
        "-Wl,-soname,libroctx64.so.4", f"-Wl,--version-script={folder}/map"
    ],
                   check=True)
    subprocess.run(
        ["cc", "-w", folder / "main.c", "-o", folder / "main", folder / "libroctx64.so.4"],
        check=True)
    (folder / "user").mkdir()
    subprocess.run([
        "cc", "-w", folder / "main.c", "-o", folder / "user/runpath", folder / "libroctx64.so.4",
        "-Wl,--enable-new-dtags,-rpath,$ORIGIN/.."
    ],
                   check=True)
    return folder


@pytest.fixture
def log(tap, work):
    def run(*words, **env):
        out = tap("run", "-q", "-f", "-o", "a.gputap", "--", *words, env=env).out
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        rows = [
            r for r in csv.DictReader(io.StringIO((work / "a.csv").read_text()))
            if r["kind"] == "call"
        ]
        runtimes = json.loads(tap("info", "--json", "a.gputap").out)["runtimes"]
        return out, [r["operation"] for r in sorted(rows, key=lambda r: int(r["start_ns"]))
                     ], [(r["method"], r["path"]) for r in runtimes]
    return run


CALLS = ["roctxRangePushA", "roctxMarkA", "roctxRangePop"]


def test_a_library_of_rocm_5_is_interposed_and_its_own_calls_are_nobody_s(log, theirs):
    out, calls, runtimes = log(theirs / "main", LD_LIBRARY_PATH=theirs)
    assert out == "100 100\n" and calls == CALLS
    assert runtimes == [("interposition", str(theirs / "libroctx64.so.4"))]


def test_a_library_that_the_program_knows_the_way_to_is_preferred_to_ours(log, theirs):
    out, calls, runtimes = log(theirs / "user/runpath")
    assert out == "100 100\n" and calls == CALLS and runtimes[0][0] == "interposition"


@pytest.mark.parametrize(
    "name", [None, "libroctx64.so", "librocprofiler-sdk-roctx.so.1", "librocprofiler-sdk-roctx.so"])
def test_a_program_that_finds_no_roctx_gets_ours(log, theirs, build, name):
    out, calls, runtimes = log(theirs / "main", *([name] if name else []))
    assert out == "0 0\n" and calls == CALLS
    library = "librocprofiler-sdk-roctx.so.1" if name and "sdk" in name else "libroctx64.so.4"
    assert runtimes == [("rocprofiler-register",
                         str((build / "src/compat/roctx" / library).resolve()))]


def test_without_gputap_the_program_still_finds_none(run, theirs):
    assert "libroctx64.so.4: cannot open shared object file" in run([theirs / "main"],
                                                                    status=127).err


@pytest.mark.parametrize("ours_first", [True, False])
def test_calls_through_ours_into_another_library_are_recorded_once(log, theirs, environment,
                                                                   ours_first, tmp_path, build):
    """Both libraries are preloaded into the program, in either order."""
    ours = build / "src/compat/roctx/libroctx64.so.4"
    (tmp_path / "libother.so").write_bytes((theirs / "libroctx64.so.4").read_bytes())
    order = [ours, tmp_path / "libother.so"] if ours_first else [tmp_path / "libother.so", ours]
    out, calls, runtimes = log(theirs / "main",
                                LD_PRELOAD=":".join(map(str, order)),
                                LD_LIBRARY_PATH=theirs)
    assert out == "100 100\n"  # levels of the other library
    assert calls == CALLS and [method for method, _ in runtimes].count("rocprofiler-register") == 0


def test_the_library_of_rocm_6_s_name_has_the_same_functions_without_versions(run, build):
    library = build / "src/compat/roctx/librocprofiler-sdk-roctx.so.1"
    names = {
        line.split()[-1] for line in run(["nm", "-D", "--defined-only", library]).out.splitlines()
    }
    older = {
        line.split()[-1].split("@")[0]
        for line in run(["nm", "-D", "--defined-only", build /
                         "src/compat/roctx/libroctx64.so.4"]).out.splitlines()
    }
    assert names == older - {"ROCTX_4.1"} and "roctxNameHipStream" in names
    assert "[librocprofiler-sdk-roctx.so.1]" in run(["readelf", "-d", library]).out


# ROCTx in exports ----------------------------------------------------------------

@pytest.fixture
def exported(tap, marks, environment, work):
    def make(name):
        tap("run", "-f", "-o", "a.gputap", "--", marks, env=environment)
        tap("export", "-f", "a.gputap", "-o", name)
        return work / name
    return make


NAMES = sorted([
    "outer", "step", "step", "step", "now", "now", "now", "in the helper", 'across "threads"',
    "never popped"
])


def test_ranges_are_annotations_in_chrome_json(exported):
    events = json.loads(exported("a.json").read_text())["traceEvents"]
    ranges = [
        e for e in events if e.get("cat") == "user_annotation" and e["ph"] == "X"
        and not e["name"].startswith("roctx")
    ]
    assert sorted(e["name"] for e in ranges) == NAMES
    outer = next(e for e in ranges if e["name"] == "outer")
    for step in (e for e in ranges if e["name"] == "step"):
        assert outer["ts"] <= step["ts"] and step["ts"] + step["dur"] <= outer["ts"] + outer["dur"]
    assert not [
        e for e in events if e["name"] in ("roctxRangePushA", "roctxRangePop", "roctxMarkA")
    ]


def test_a_range_that_another_thread_ends_belongs_to_the_one_that_began_it(exported):
    events = json.loads(exported("a.json").read_text())["traceEvents"]
    by_name = {e["name"]: e for e in events if e.get("cat") == "user_annotation"}
    across, helper = by_name['across "threads"'], by_name["in the helper"]
    assert across["tid"] == by_name["outer"]["tid"] != helper["tid"]
    assert across["ts"] <= helper["ts"] <= across["ts"] + across["dur"]


def test_ranges_are_user_markers_in_rpd(exported):
    db = sqlite3.connect(exported("a.rpd"))
    rows = db.execute(
        "SELECT args, \"end\" - start FROM api WHERE apiName = 'UserMarker'").fetchall()
    assert sorted(name for name, _ in rows) == [name.replace('"', "'") for name in NAMES]
    assert all(ns == 0 for name, ns in rows if name == "now")
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


# ROCTx in the report ---------------------------------------------------------------

@pytest.fixture
def report(tap, marks, environment):
    tap("run", "-f", "-o", "a.gputap", "--", marks, env=environment)
    return lambda *words: tap("report", "a.gputap", *words).out


def ranges(text):
    return {r["name"]: r for r in json.loads(text)["ranges"]}


def test_the_report_counts_each_range_with_what_is_nested_in_it(report):
    rows = ranges(report("--json"))
    assert {name: (r["count"], r["markers"]) for name, r in rows.items()} == {
        "outer": (1, 0), "step": (3, 0), "now": (0, 3), "in the helper": (1, 0),
        'across "threads"': (1, 0), "never popped": (1, 0)
    }
    assert rows["outer"]["total_ns"] >= rows["step"]["total_ns"] >= 3 * rows["step"]["min_ns"] > 0
    assert rows["step"]["min_ns"] <= rows["step"]["p50_ns"] <= rows["step"]["p99_ns"] <= rows[
        "step"]["max_ns"]
    assert rows["now"]["total_ns"] == 0 and rows["now"]["mean_ns"] is None
    assert all(0 <= r["share"] <= 1 for r in rows.values())


def test_ranges_are_reported_by_the_thread_that_began_them(report):
    rows = json.loads(report("--json", "--table", "ranges", "--by", "thread,name"))["ranges"]
    tids = {r["name"]: r["tid"] for r in rows}
    assert tids["outer"] == tids['across "threads"'] != tids["in the helper"]
    assert sum(r["count"] for r in json.loads(report("--json", "--by", "thread"))["ranges"]) == 7


def test_ranges_are_sorted_filtered_and_written_as_other_tables(report):
    rows = list(
        csv.DictReader(
            io.StringIO(
                report("--csv", "--table", "ranges", "--sort", "name", "--where", "name~^[ns]"))))
    assert [(r["name"], r["count"], r["markers"]) for r in rows] == [("never popped", "1", "0"),
                                                                   ("now", "0", "3"),
                                                                   ("step", "3", "0")]
    assert "0 of them, 3 ranges and markers of the program" in report("--where", "name=step")
    text = report("--table", "ranges", "--top", "1")
    assert "Ranges: host time" in text and "and 5 more" in text


# ROCTx in Perfetto ------------------------------------------------------------------

SAID = """
select s.ts, s.dur, s.name, s.depth, s.track_id, t.name as track, th.tid
from slice s left join thread_track t on s.track_id = t.id
left join thread th using (utid) where s.category = 'user_annotation' order by s.ts, s.id"""


@pytest.fixture(scope="session")
def overlapping(tmp_path_factory, repo, build):
    """Run a program with overlapping started ranges, one of which is never stopped."""
    folder = tmp_path_factory.mktemp("overlapping")
    (folder / "main.c").write_text("""#include <unistd.h>
#include "compat/roctx/roctx.h"
int main(void)
{
	roctx_range_id_t a = roctxRangeStartA("a"), b = roctxRangeStartA("b");
	roctxRangePushA("pushed");
	usleep(1000);
	roctxRangeStop(a);
	usleep(1000);
	roctxRangeStop(b);
	a = roctxRangeStartA("c");
	roctxRangePop();
	roctxRangePop();
	return a == b;
}
""")
    subprocess.run(["cc", f"-I{repo}/include", folder / "main.c", "-o", folder / "overlapping",
                    f"-L{build}/src/compat/roctx", "-l:libroctx64.so.4"], check=True)
    return folder / "overlapping"


@pytest.fixture
def seen(tap, environment, work):
    def make(*words):
        tap("run", "-f", "-o", "a.gputap", "--", *words, env=environment)
        tap("export", "-f", "a.gputap", "-o", "a.pftrace")
        answer = perfetto.ask(work / "a.pftrace",
                              said=SAID,
                              complaints=perfetto.COMPLAINTS,
                              slices=perfetto.SLICES)
        assert answer["complaints"] == []
        assert not [
            s for s in answer["slices"] if s["name"].startswith(("roctxMark", "roctxRange"))
        ]
        return answer["said"]
    return make


def test_perfetto_has_ranges_nested_in_a_track_of_their_thread(seen, marks):
    said = seen(marks)
    assert sorted(s["name"] for s in said) == NAMES and {s["track"] for s in said} == {"ranges"}
    outer = next(s for s in said if s["name"] == "outer")
    inside = [s for s in said if s["name"] in ("step", "now")]
    assert (
        outer["depth"] == 0
        and sorted((s["name"], s["depth"], s["dur"] > 0) for s in inside)
        == [("now", 2, False)] * 3 + [("step", 1, True)] * 3
    )
    assert all(
        outer["ts"] <= s["ts"] and s["ts"] + s["dur"] <= outer["ts"] + outer["dur"] for s in inside)
    by_name = {s["name"]: s for s in said}
    assert by_name["outer"]["tid"] == by_name['across "threads"']["tid"] != by_name[
        "in the helper"]["tid"]
    assert by_name["never popped"]["dur"] >= 0


def test_perfetto_has_started_ranges_that_overlap_in_track_rows(seen, overlapping):
    said = {s["name"]: s for s in seen(overlapping)}
    assert set(said) == {"a", "b", "c", "pushed"} and all(s["depth"] == 0 and s["dur"] >= 0
                                                          for s in said.values())
    assert len({said[name]["track_id"] for name in ("a", "b", "pushed")
                }) == 3 and said["c"]["track_id"] in (said["a"]["track_id"], said["b"]["track_id"])
    assert said["a"]["ts"] <= said["b"][
        "ts"] <= said["a"]["ts"] + said["a"]["dur"] <= said["b"]["ts"] + said["b"]["dur"]
    assert len({s["tid"] for s in said.values()}) == 1
