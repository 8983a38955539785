# SPDX-License-Identifier: MIT
"""Test selections: the head of each report shows the selection and names the parts that matched
nothing, and unknown names are refused."""

import json
import re
import textwrap

import pytest

import conftest
from test_cli_report import check_golden

DIES = textwrap.dedent("""
    import ctypes, os, sys, threading
    cl = ctypes.CDLL("libOpenCL.so.1")
    pointer, count = ctypes.c_void_p, ctypes.c_uint32
    platform, device, context, program = pointer(), pointer(), pointer(), pointer()
    cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
    cl.clGetDeviceIDs(platform, ctypes.c_uint64(0xffffffff), 1, ctypes.byref(device), None)
    cl.clCreateContext.restype = cl.clCreateProgramWithSource.restype = pointer
    context = pointer(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, None))
    text = ctypes.c_char_p(b"kernel void nothing(void) { }")
    # For compile_inside().
    program = pointer(cl.clCreateProgramWithSource(context, 1, ctypes.byref(text), None, None))
    kill, callback = lambda: os.kill(os.getpid(), 9), ctypes.CFUNCTYPE(None, pointer, pointer)
    inside, ready = [], threading.Event()

    def build(action):
        inside.append(callback(lambda *_: action()))
        program = pointer(cl.clCreateProgramWithSource(context, 1, ctypes.byref(text), None, None))
        cl.clBuildProgram(program, 1, ctypes.byref(device), None, inside[-1], None)

    def compile_inside():
        inside.append(callback(lambda *_: kill()))
        cl.clCompileProgram(program, 1, ctypes.byref(device), None, 0, None, None, inside[-1], None)

    def returned_inside():
        cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
        kill()

    def wait():
        ready.set()
        threading.Event().wait()

    def in_thread():
        threading.Thread(target=build, args=[wait]).start()
        ready.wait()
        print(threading.enumerate()[-1].native_id)

    ends = {"kill": kill, "abort": ctypes.CDLL(None).abort, "exit": lambda: os._exit(3),
            "compile": compile_inside, "returned": returned_inside,
            "fault": lambda: ctypes.CDLL(None).memset(None, 0, 1)}
    if sys.argv[1] in ends:
        build(ends[sys.argv[1]])
    in_thread()
    if sys.argv[1] == "threads":
        build(kill)
    cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
    sys.stdout.flush()
    kill()
""")


@pytest.fixture
def traced(tap, build, work):
    """Return a function: traced(options...) traces an OpenCL program and returns the summary of the
    run, the head of its report, and the output of info, by default at 80 columns."""
    def go(*options, columns=80, program=build / "tests/opencl/cl_golden"):
        env = {"COLUMNS": columns}
        short = tap("run", "-f", "-o", "a.gputap", *options, program, env=env).err
        head = tap("report", "--all", "a.gputap", env=env).out.split("\n\n")[0]
        return short, head, tap("info", "a.gputap", env=env).out
    return go


def plain(text, build):
    """Return the head of a report without the text that varies between runs."""
    text = re.sub(r"/\S*/(?=cl_golden)", "PATH/", text)
    text = re.sub(r"(?<= on )\S+(?=,)", "HOST", text)
    return re.sub(r"\b[\d.]+ (ns|us|ms|s)\b", "TIME", text)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name, options", [
    ("all", []),
    ("lite", ["--mode", "lite"]),
    ("standard", ["--mode", "standard"]),
    ("calls", ["--no-device", "--no-args"]),
    ("filters", [
        "-d", "opencl,hip", "--ops", "clFinish,clEnqueue*,clFlush", "--kernels", "^tw",
        "--no-command"
    ]),
    ("unmet", ["--kernels", "no-such-kernel", "--ops", "clSVMAlloc"]),
])
def test_head_is_the_golden_one(traced, build, name, options, columns):
    _, head, _ = traced(*options, columns=columns)
    assert max(map(len, plain(head, build).splitlines())) <= columns
    check_golden(f"head_{name}_{columns}.txt", plain(head, build) + "\n")


def test_the_first_screen_and_info_name_the_selection(traced):
    for text in (traced("--kernels", "^tw")[0], traced("--kernels", "^tw")[2]):
        assert re.search(r"^ *[rR]ecorded +only kernels matching \^tw$", text, re.M)


def test_lite_says_calls_not_recorded(traced):
    short, head, _ = traced("--mode", "lite")
    assert re.search(r"^Calls +not recorded$", short, re.M)
    assert "calls not recorded, " in head and "0 calls" not in head


def test_a_filter_that_met_nothing_warns(traced):
    short, head, _ = traced("--ops", "clFinish,clSVMAlloc", "-d", "opencl,hip")
    assert re.search(r"^Warning +nothing matched --domains hip, --ops clSVMAlloc$", short, re.M)
    assert "Warning: nothing matched --domains hip, --ops clSVMAlloc" in head
    assert "nothing matched" not in traced("--ops", "clFinish,clEnqueueND*", "-d", "opencl",
                                       "--kernels", "twice")[0]


def test_a_domain_that_the_program_did_not_use_is_named(traced):
    for program in ({}, {"program": "true"}):
        short = " ".join(traced("-d", "hip", **program)[0].split())  # join lines: a long path wraps
        assert "used none of --domains hip" in short


def test_a_report_filter_that_met_nothing_warns_in_every_format(traced, tap):
    traced()
    for form in ([], ["--json"], ["--csv"]):
        assert "matches no record" in tap("report", "a.gputap", "--where", "name=clNoSuch",
                                            *form).err


@pytest.mark.parametrize("table, key, said", [
    ("operations", "queue", "supported: name, process, thread"),
    ("failures", "name", "cannot be split"),
    ("threads", "name", "cannot be split"),
    ("kernels,operations", "device", "table operations does not support it"),
])
def test_a_key_that_a_table_does_not_know_is_refused(traced, tap, table, key, said):
    traced()
    err = tap("report", "a.gputap", "-t", table, "--by", key, status=2).err
    assert f"--by {key}" in err and said in err


def test_without_a_table_those_that_know_the_key_are_shown(traced, tap):
    traced()
    report = json.loads(tap("report", "a.gputap", "--by", "thread", "--json").out)
    assert {"operations", "kernels", "copies"
            } <= set(report) and not {"threads", "processes", "failures"} & set(report)


@pytest.mark.parametrize("way, status, said", [
    ("fault", -11, "Segmentation fault (signal 11)"),
    ("abort", -6, "Aborted (signal 6)"),
    ("kill", -9, "Killed (signal 9)"),
    ("exit", 3, "exit 3"),
])
@pytest.mark.parametrize("columns", [80, 120])
def test_a_program_that_dies_in_a_call_is_reported_in_each_report(tap, work, way, status, said,
                                                              columns):
    env, sentence = (
        {"COLUMNS": columns},
        rf"process (\d+) \(python3.*?\): {re.escape(said)}, in clBuildProgram for [\d.]+ .?s, "
        r"thread (\d+)"
        r" \(python3.*?\)",
    )
    (work / "dies.py").write_text(DIES)
    short = tap("run", "-o", "a.gputap", "python3", "dies.py", way, status=status, env=env).err
    for text in (short, tap("report", "--all", "a.gputap", env=env).out, tap("info", "a.gputap",
                                                                    env=env).out):
        found = re.search(rf"(?i)died:? {sentence}", " ".join(text.split()))
        assert found and found[1] == found[2]
        assert max(
            len(line) for line in text.splitlines() if "hread" in line or "ied" in line) <= columns


def deaths(tap, work, way, merged=False):
    """Return the calls in which the program died, according to the report."""
    (work / "dies.py").write_text(DIES)
    run = tap("run", "-o", "a.gputap", "python3", "dies.py", way, status=-9)
    if merged:
        tap("run", "-o", "b.gputap", "true")
        tap("merge", "-o", "c.gputap", "b.gputap", "a.gputap")
    report = tap("report", "--all", "c.gputap" if merged else "a.gputap", env={"COLUMNS": 1000}).out
    return re.search(r"Died: process \d+ \(python3.*?\): Killed \(signal 9\), (.*)",
                     report)[1], run.out.strip()


def test_of_calls_in_each_other_the_inner_one_is_named(tap, work):
    told = deaths(tap, work, "compile")[0]
    assert re.match(r"in clCompileProgram for [\d.]+ .?s, thread ", told)


def test_no_call_is_named_when_it_may_have_been_an_outer_one(tap, work):
    assert deaths(tap, work, "returned")[0] == "in a call of opencl"


def test_a_call_of_another_thread_is_named_with_it(tap, work):
    told, thread = deaths(tap, work, "other")
    assert re.fullmatch(rf"in clBuildProgram for [\d.]+ .?s, thread {thread} \(.*\)", told)


def test_calls_of_several_threads_are_named(tap, work):
    told, thread = deaths(tap, work, "threads")
    assert re.fullmatch(
        r"in clBuildProgram for .*, thread (\d+) \(.*\); in clBuildProgram for .*, thread (\d+)"
        r" \(.*\)",
        told) and thread in told


def test_merging_keeps_the_call_that_a_program_died_in(tap, work):
    told = deaths(tap, work, "compile", merged=True)[0]
    assert re.match(r"in clCompileProgram for [\d.]+ .?s, thread ", told)


def test_helpers_of_multiprocessing_that_still_run_are_not_reported(tap, work):
    (work / "helper.py").write_text(
        "import ctypes, subprocess\nctypes.CDLL('libOpenCL.so.1').clGetPlatformIDs(0, None, None)\n"
        "p = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\nprint(p.pid, flush=True)\n"
        "import os\nos.set_inheritable(p.stdin.fileno(), True)\nos._exit(0)\n")
    assert "still running" not in tap("run", "-o", "a.gputap", "python3", "helper.py").err


# commands with selections that are refused or match nothing, and the exit status
REFUSALS = [
    ("run -d cuda_runtim true", 2),
    ("run -m defaults true", 2),
    ("run -o a.%r.gputap true", 2),
    ("run -o a.gputap true", 1),
    ("report a.gputap -t operations --by queue", 2),
    ("report a.gputap -t kernels,threads --by name", 2),
    ("report a.gputap -t kernels --where name=none", 0),
]


@pytest.mark.parametrize("columns", [80, 120])
def test_what_is_refused_is_the_golden_one(tap, build, work, columns):
    conftest.run_command([build / "tests/synth/synth", "--calls", "100", "-o", "a.gputap"])
    text = ""
    for command, status in REFUSALS:
        rank = {"RANK": "1"} if "-o a.gputap" in command else {}
        result = tap(*command.split(), status=status, env={"COLUMNS": columns, **rank})
        text += f"$ {'RANK=1 ' if rank else ''}gputap {command}\n{result.err}\n"
    assert max(map(len, text.splitlines())) <= columns
    check_golden(f"refusals_{columns}.txt", text)
