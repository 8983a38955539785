# SPDX-License-Identifier: MIT
"""Test call stacks of launches and of slow calls: `gputap run --stacks`, `gputap report -t
stacks`."""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

BUILDS = {
    "frame pointers": ["-O1", "-fno-omit-frame-pointer"],
    "no frame pointers": ["-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"],
    "as C++": ["-O2", "-xc++", "-fexceptions", "-D_Alignas=alignas"],
}


@pytest.fixture
def program(run, repo, work):
    """Return a function: program("-O2") compiles the test's program with these options."""
    def compiled(*options):
        # frames show only functions of the program itself, including static functions
        run(["gcc", "-g", "-w", *options, repo / "tests/stacks/stacks_program.c",
             "-o", "stacks_program", "-lOpenCL", "-pthread"])
        return work / "stacks_program"
    return compiled


@pytest.fixture
def stacks(tap, work):
    """Return a function: traced() returns the rows of table stacks for a traced command."""
    def traced(*command, options=("--stacks",), name="s.gputap", **how):
        tap("run", "-q", "-f", *options, "-o", name, *command, **how)
        return json.loads(tap("report", name, "-t", "stacks", "--json").out)["stacks"]
    return traced


def functions(row):
    return [re.match(r"\(.*|[\w.+~:]+", frame)[0] for frame in row["stack"]]


def fills(rows):
    return [row for row in rows if row["name"] == "memset" and row["device_ns"] is not None]


@pytest.mark.parametrize("how", BUILDS)
def test_each_launch_has_the_stack_that_it_was_made_from(program, stacks, how):
    rows = fills(stacks(program(*BUILDS[how]), "plain", 5))
    got = {tuple(functions(row)[:4]): row["count"] for row in rows}
    assert got == {("launch_fill", "middle", "outer", "main"): 5,
                   ("launch_fill", "middle", "other", "main"): 5}
    assert all(len(row["stack"]) == 4 for row in rows)


def test_frames_that_are_aligned_or_of_any_size_are_walked(program, stacks):
    rows = fills(stacks(program("-O2", "-fomit-frame-pointer"), "aligned", 7))
    assert [functions(row) for row in rows] == [["launch_fill", "aligned", "main"]]


def test_a_thread_s_stack_ends_with_its_first_function(program, stacks):
    rows = fills(stacks(program("-O2"), "threads", 8))
    assert [(row["count"], functions(row)) for row in rows] == [
        (8, ["launch_fill", "middle", "other", "thread_main"])]


def test_a_stack_goes_on_below_a_signal_handler_on_a_stack_of_its_own(program, stacks):
    names = functions(fills(stacks(program("-O2"), "signal"))[0])
    assert names[:2] == ["launch_fill", "on_signal"]
    assert names.index("raise_signal") > 1 and names[-1] == "main"


def test_a_coroutine_s_stack_is_its_own(program, stacks):
    """gputap does not read memory beyond the end of the coroutine's stack, because that would
    fault."""
    rows = [functions(row) for row in fills(stacks(program("-O2"), "fiber"))]
    assert sorted(row[3] for row in rows) == ["fiber_main", "run_fiber"]
    assert all(row[:3] == ["launch_fill", "middle", "outer"] for row in rows)


def test_a_thread_with_the_smallest_stack_there_is_has_stacks(program, stacks):
    """libc, the runtime and a recorded call use most of the 16 KiB. The dynamic linker must not run
    on this stack, because it saves vector registers there."""
    rows = stacks(program("-O2"), "small", options=["--stacks=slow:0"], env={"LD_BIND_NOW": 1})
    calls = [functions(row) for row in rows
             if row["name"] in ("clRetainMemObject", "clReleaseMemObject")]
    assert calls == [["retain_and_release", "small_main"]] * 2


def test_a_deep_stack_is_cut_and_says_so(program, stacks):
    row, = fills(stacks(program("-O2", "-fno-optimize-sibling-calls"), "deep", 1000))
    assert len(row["stack"]) > 120 and row["stack"][-1] == "(more frames)"
    assert set(functions(row)[1:-1]) == {"recurse"}


def test_ten_thousand_different_stacks_are_told_apart(program, stacks, tap):
    rows = fills(stacks(program("-O1", "-fno-crossjumping", "-fno-if-conversion",
                                "-fno-tree-tail-merge"), "many", 10000))
    assert sum(row["count"] for row in rows) == 10000
    assert all(functions(row)[0] == "launch_fill" for row in rows)
    assert len(rows) == 10000


def test_slow_calls_have_stacks_where_that_is_asked(program, stacks):
    rows = stacks(program("-O2"), "plain", 1, options=["--stacks=slow:0"])
    waits = [row for row in rows if row["name"] == "clFinish"]
    assert [functions(row)[:2] for row in waits] == [["wait_long", "main"]]
    assert waits[0]["call_ns"] > 0 and waits[0]["device_ns"] is None
    rows = stacks(program("-O2"), "plain", 1, options=["--stacks=slow:1000s"])
    assert [row["stack"] for row in rows] == [["(no stack was recorded)"]] * len(rows)


def test_the_table_is_about_the_work_that_where_chooses(program, stacks, tap):
    stacks(program("-O2"), "plain", 3)
    text = tap("report", "s.gputap", "-t", "stacks", "--where", "name=mems*",
               env={"COLUMNS": 80}).out
    assert "launch_fill" in text and max(map(len, text.splitlines())) <= 80
    assert "launch_fill" not in tap("report", "s.gputap", "-t", "stacks", "--where",
                                    "name=nothing", status=None).out


def test_without_the_option_nothing_is_recorded(program, stacks, tap):
    assert stacks(program("-O2"), "plain", 1, options=[]) == []
    assert "gputap run --stacks" in tap("report", "s.gputap", "-t", "stacks").out


def test_a_fork_s_child_begins_anew(program, stacks, tap):
    rows = fills(stacks(program("-O2"), "fork", options=["--stacks=launch,slow:0"]))
    assert [functions(row)[:3] for row in rows] == [["launch_fill", "middle", "outer"]]
    rows = json.loads(tap("report", "s.gputap", "-t", "stacks", "--json").out)["stacks"]
    inherited = [row for row in rows if row["name"] == "clGetPlatformIDs"]
    assert len({row["pid"] for row in inherited}) == 2
    assert all(functions(row)[-1] == "main" for row in inherited)


def test_a_program_that_was_replaced_since_has_no_wrong_names(program, stacks, tap, run):
    stacks(program("-O2"), "plain", 1, options=["--stacks=no-names"])
    program("-O1", "-DOTHER", "-Wl,--build-id=sha1", "-fno-inline")
    rows = json.loads(tap("report", "s.gputap", "-t", "stacks", "--json").out)["stacks"]
    assert all(row["stack"][0].startswith("stacks_program+0x") for row in fills(rows))


def test_merged_captures_keep_their_stacks(program, stacks, tap):
    stacks(program("-O2"), "plain", 2, name="a.gputap")
    stacks(program("-O2"), "plain", 3, name="b.gputap")
    tap("merge", "a.gputap", "b.gputap", "-o", "c.gputap")
    rows = fills(json.loads(tap("report", "c.gputap", "-t", "stacks", "--json").out)["stacks"])
    assert sorted(row["count"] for row in rows) == [2, 2, 3, 3]
    assert {functions(row)[2] for row in rows} == {"outer", "other"}


@pytest.mark.parametrize("option, words", [
    ("--stacks=all", "launch"),
    ("--stacks=no,launch", "combined"), ("--stacks=gaps:x", "gaps:"),
    ("--stacks=slow:x", "slow:"), ("--stacks=", "launch"),
])
def test_a_wrong_list_is_refused(tap, option, words):
    assert words in tap("run", option, "true", status=2).err


@pytest.mark.parametrize("mode", ["lite", "standard"])
def test_modes_without_calls_have_no_stacks(tap, mode):
    assert "--stacks" in tap("run", "--stacks", "-m", mode, "true", status=2).err


def has_libdw():
    try:
        ctypes.CDLL("libdw.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_libdw(), reason="libdw is not here")
@pytest.mark.parametrize("how", ["no frame pointers", "as C++"])
def test_inlined_functions_are_frames_with_lines(program, stacks, repo, how):
    row, = fills(stacks(program(*BUILDS[how]), "inlined"))
    assert [frame.split(" at ")[0].split("(")[0] for frame in row["stack"]] == [
        "launch_fill", "inlined_helper", "around", "main"]
    lines = (repo / "tests/stacks/stacks_program.c").read_text().splitlines()
    at = [int(frame.rsplit(":", 1)[1]) for frame in row["stack"]]
    assert all("stacks_program.c:" in frame for frame in row["stack"])
    assert "launch_fill();" in lines[at[1] - 1] and "inlined_helper();" in lines[at[2] - 1]
    assert "around(n);" in lines[at[3] - 1]


def test_a_library_in_the_place_of_one_that_was_closed_has_its_own_names(program, stacks, run):
    for name in ("first", "other"):  # names of equal length give the same layout
        run(["gcc", "-xc", "-", "-O1", "-shared", "-fPIC", "-o", f"lib{name}.so"],
            stdin=f"__attribute__((noinline)) void work_{name}(void (*f)(void)) {{ f(); "
                  '__asm__ volatile("" ::: "memory"); }\n'
                  f"void enter_library(void (*f)(void)) {{ work_{name}(f); "
                  '__asm__ volatile("" ::: "memory"); }')
    command = [program("-O2"), "libraries", "./libfirst.so", "./libother.so", "./libfirst.so"]
    rows = fills(stacks(*command))
    assert {tuple(functions(row)[:2]) for row in rows} == {
        ("launch_fill", "work_first"), ("launch_fill", "work_other")}


def test_folded_stacks_have_the_functions_that_launch(program, stacks, tap):
    stacks(program("-O2"), "plain", 2)
    tap("export", "s.gputap", "-o", "s.folded")
    lines = [re.sub(r" (in|at) [^;]*", "", line).split(";")
             for line in open("s.folded").read().splitlines()]
    ways = [line[1:] for line in lines if "launch_fill" in line]
    assert sorted(way[:5] for way in ways) == [
        ["main", "other", "middle", "launch_fill", "clEnqueueFillBuffer"],
        ["main", "outer", "middle", "launch_fill", "clEnqueueFillBuffer"]]
    assert all(way[5].startswith("memset ") for way in ways)


def test_chrome_json_and_perfetto_have_the_functions_as_arguments(program, stacks, tap):
    stacks(program("-O2"), "plain", 1)
    tap("export", "s.gputap", "-o", "s.json")
    events = json.load(open("s.json"))["traceEvents"]
    launches = [e["args"]["from"] for e in events if e["name"] == "clEnqueueFillBuffer"
                and e["ph"] == "X"]
    assert sorted(re.match(r"\w+", each[2])[0] for each in launches) == ["other", "outer"]
    assert all(each[0].startswith("launch_fill ") for each in launches)
    assert not any("from" in e.get("args", {}) for e in events if e["name"] == "clFinish")
    tap("export", "s.gputap", "-o", "s.pftrace")
    data = open("s.pftrace", "rb").read()
    # the idle track may name the line as well
    assert data.count(b"launch_fill ") >= 2 and b"from 2" in data


# Gaps -------------------------------------------------------------------------------------------

def stacks_of_calls(tap):
    """Return (operation, functions) of each call that has a stack."""
    tap("export", "s.gputap", "-f", "-o", "s.json")
    return [(e["name"], [frame.split(" ")[0] for frame in e["args"]["from"]])
            for e in json.load(open("s.json"))["traceEvents"]
            if e["ph"] == "X" and "from" in e.get("args", {})]


def test_calls_that_end_gaps_have_stacks_where_that_is_asked(program, stacks, tap):
    rows = stacks(program("-O2", "-fno-optimize-sibling-calls"), "gaps", 5,
                  options=["--stacks=gaps:10ms"])
    assert rows == []  # table stacks is about launches and slow calls
    calls = stacks_of_calls(tap)
    ends = [(name, functions[0], functions[-1]) for name, functions in calls
            if "after_pause" in functions]
    assert ends == [("clFlush", "after_pause", "main")] * 5
    stacks("./stacks_program", "gaps", 5, options=["--stacks=gaps:1000s"])
    assert not any("after_pause" in functions for _, functions in stacks_of_calls(tap))


def test_without_a_list_launches_and_ends_of_gaps_have_stacks(program, stacks, tap):
    rows = stacks(program("-O2", "-fno-optimize-sibling-calls"), "gaps", 2)
    assert {functions(row)[0] for row in rows if row["device_ns"] is not None} == {"launch_fill"}
    assert {name for name, functions in stacks_of_calls(tap) if "after_pause" in functions} == {
        "clFlush"}


def test_stacks_can_be_left_out(program, stacks, tap):
    stacks(program("-O2"), "gaps", 2, options=["--stacks=no"])
    assert stacks_of_calls(tap) == []


# Python -----------------------------------------------------------------------------------------

def line_of(repo, comment):
    """Return the number of the line that ends with this comment."""
    lines = (repo / "tests/stacks/launches.py").read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith("# " + comment))


@pytest.fixture(params=["", "3.12", "3.13", "3.14"])
def python(request, repo, stacks):
    """Return a function: traced() returns (count, Python frames) per stack of the program's fills.
    For a version other than that of the tests, the command is python3.12 (or 3.13, 3.14), or that
    in GPUTAP_PYTHON_3_12."""
    command = os.environ.get("GPUTAP_PYTHON_" + request.param.replace(".", "_"), "").split()
    if not request.param:
        command = [sys.executable]
        if not (3, 11) <= sys.version_info < (3, 15):
            pytest.skip("this Python's frames are not known")
    elif not command:
        command = [shutil.which(f"python{request.param}") or "/nonexistent"]
        if subprocess.run(["sh", "-c", "exec $0 -c 0 2>&1", *command], stdout=subprocess.DEVNULL,
                          check=False).returncode:
            pytest.skip(f"no Python {request.param} here")

    def traced(*way):
        rows = fills(stacks(*command, repo / "tests/stacks/launches.py", *way))
        assert not any("libc" in row["stack"][-1] for row in rows)
        return [(row["count"], [f for f in row["stack"] if ".py:" in f or "made" in f])
                for row in rows]
    return traced


def test_frames_of_python_have_names_files_and_lines(python, repo):
    rows = python()
    assert len({tuple(frames) for _, frames in rows}) == 1
    count, frames = sum(count for count, _ in rows), rows[0][1]
    assert count == 3
    assert frames[1:3] == [f"Model.forward at launches.py:{line_of(repo, 'forward')}",
                           f"main at launches.py:{line_of(repo, 'main')}"]
    assert frames[0].startswith("launch at launches.py:")
    assert frames[3].startswith("<module> at launches.py:") and len(frames) == 4


def test_frames_of_python_stand_where_native_code_runs_them(python, stacks):
    """Frames of the interpreter itself are not shown."""
    (_, frames), = python("native")
    assert [frame.split(" at ")[0] for frame in frames] == [
        "launch", "Model.forward", "through_native.<locals>.<lambda>", "through_native", "main",
        "<module>"]
    whole = json.dumps(stacks(sys.executable, "-c", "pass"))
    assert "_PyEval" not in whole


@pytest.mark.parametrize("way, name", [
    ("generator", "generate"), ("letters", "Model.gr\u00fc\u00dfe"), ("thread", "Model.forward"),
])
def test_generators_letters_and_threads_are_frames_as_any(python, way, name):
    frames = python(way)[0][1]
    assert frames[1].split(" at ")[0] == name


def test_code_objects_that_come_and_go_are_not_mixed_up(python):
    """Each code object has its own file and line, and reuses memory of earlier objects."""
    got = python("made")
    assert len(got) == 300
    assert {frames[1] for _, frames in got} == {
        f"made at made{number}:{number + 1}" for number in range(300)}
