# SPDX-License-Identifier: MIT
"""Test tools without `gputap run`. OpenCL calls are reported once, and activities with their times,
for every way to call OpenCL and with every loader."""

import json
import re
import signal
import subprocess

import pytest

from conftest import REPO
from test_interception_opencl import WAYS, command, system_loader
from test_tool_examples import tool  # noqa: F401 (a fixture)
from test_tool_activity import DEVICE, QUEUE, WRITE, Log

LOADERS = ["layer", "interposition", "shim"]


def loader(build, method):
    """Return the environment that selects a libOpenCL.so.1: Debian's (supports layers), ours (does
    not), or a shim in front of Debian's."""
    return {
        "layer": {}, "interposition": {"LD_LIBRARY_PATH": build / "tests/interception"},
        "shim": {
            "LD_LIBRARY_PATH": build / "tests/interception/shim",
            "SHIM_LOADER": system_loader()
        }
    }[method]


@pytest.fixture
def log_without(build, run, work):
    """Return a function: log_without(method, command, words, preload) returns the notifications of
    activity_tool.c, and the output."""
    def run_it(method, command, words, preload=(), by="GPUTAP_TOOLS"):
        library = build / "tests/tool/libwork_tool.so"
        preload = [*preload, build / "libgputap.so.0" if by == "GPUTAP_TOOLS" else library]
        env = {
            **loader(build, method), "LD_PRELOAD": ":".join(map(str, preload)), "WORK_TOOL": words,
            "WORK_TOOL_OUT": work / "told"
        }
        out = run(command, env={**env, **({by: library} if by == "GPUTAP_TOOLS" else {})}).out
        return Log(work / "told"), out
    return run_it


def check_work(found):
    items = found.items()
    assert [[t["phase"] for t in item] for item in items] == [["enter", "exit", "complete"]]
    enter, _, complete = items[0]
    assert complete["type"] == WRITE and complete["bytes"] == 4096 and complete["status"] == 0
    assert enter["now"] <= complete["start"] < complete["end"] <= complete["now"]


@pytest.mark.parametrize("method", LOADERS)
@pytest.mark.parametrize("way", WAYS)
def test_calls_are_reported_once_and_work_with_its_times(build, log_without, way, method):
    found, out = log_without(method, command(build, way), "opencl,work,objects")
    made = [line for line in out.splitlines() if line.startswith("cl")]
    assert len(made) >= 11 and [t["name"] for t in found.of("call", "enter")] == made
    check_work(found)
    assert [t["number"] for t in found.of("object", "load", type=QUEUE)] == list(
        range(1,
              len(made) // 11 + 1))
    assert [t["number"] for t in found.of("object", "load", type=DEVICE)] == [1]


@pytest.mark.parametrize("method", LOADERS)
@pytest.mark.parametrize("words", ["work", "alone,work"],
                         ids=["a tool", "plain calls in a constructor"])
def test_work_alone_is_reported_once(build, log_without, words, method):
    check_work(log_without(method, command(build, "linked"), words, by="LD_PRELOAD")[0])


@pytest.mark.parametrize("method", ["layer", "interposition"])
def test_a_loader_that_a_librarys_constructor_has_used_is_notified_of(
        build, log_without, work, method):
    """The loader searches for layers before libgputap is initialised."""
    (work / "early.c").write_text(
        "int clGetPlatformIDs(unsigned, void *, unsigned *);\n__attribute__((constructor)) static"
        " void begin(void) { unsigned n; clGetPlatformIDs(0, 0, &n); }\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "early.c", "-o", "early.so", "-lOpenCL"],
                   cwd=work,
                   check=True)
    check_work(
        log_without(method, command(build, "linked"), "opencl,work",
                    preload=[work / "early.so"])[0])


@pytest.mark.parametrize("how", ["preloaded", "linked", "under gputap run"])
@pytest.mark.parametrize("method", LOADERS)
# noqa: F811
def test_the_examples_see_the_demos_kernels_and_calls(tool, run, build, gputap, work, method, how):
    libraries = [tool("kernel_histogram"), tool("time_operations")]
    env = {**loader(build, method), "GPUTAP_TOOLS": ":".join(map(str, libraries))}
    program = [build / "examples/demo"]
    if how == "linked":
        program = [work / "demo"]
        subprocess.run([
            "cc", "-O1", "-w", f"-I{REPO}/include", REPO / "examples/demo.c", "-o", program[0],
            "-lOpenCL", "-lm", "-Wl,--no-as-needed", f"-L{build}", "-l:libgputap.so.0",
            f"-Wl,-rpath,{build}"
        ],
                       check=True)
    elif how == "preloaded":
        env["LD_PRELOAD"] = build / "libgputap.so.0"
    else:
        program = [
            gputap, "run", "-q", "-o", "a.gputap", "--", "env",
            f"GPUTAP_TOOLS={env.pop('GPUTAP_TOOLS')}", *program
        ]
    out = run(program, env=env).err
    kernels = dict(re.findall(r"^(\w+): (\d+) launches, [\d.]+ us each$", out, re.M))
    assert kernels == {"heat_step": "1000", "row_sums": "40", "shrink": "40"}
    assert re.search(r"^clEnqueueNDRangeKernel +1080 ", out, re.M)


@pytest.mark.parametrize("how", ["preloaded", "under gputap run"])
def test_work_in_flight_at_a_fork_is_reported_to_its_end_in_the_parent_alone(
        build, log_without, gputap, how):
    """The child makes a call and ends normally. In the child, the tool is notified of this call,
    but not of the parent's activities."""
    program = [build / "tests/opencl/cl_ways_to_end", "forked"]
    found, _ = log_without(
        "layer",
        program if how == "preloaded" else [gputap, "run", "-q", "-o", "a.gputap", "--", *program],
        "opencl,work,retire")
    forked = found.of("call", "enter", name="clGetContextInfo")
    child = {t["by"] for t in forked}
    assert len(forked) == 1 and not [t for t in found.of("work") if t["by"] in child]
    items = found.items()
    assert len(items) == 100 and all(
        [t["phase"]
         for t in item] == ["enter", "exit", "complete"] and item[2]["status"] == 0
        for item in items)
    of_work = {item[0]["correlation"] for item in items}
    assert not [t for t in found.of("retired") if t["by"] in child and t["correlation"] in of_work]
    assert len([t for t in found.of("retired") if t["correlation"] in of_work]) == 100


def test_a_callback_of_work_that_crashes_ends_the_program_and_not_the_capture(
        build, run, tap, work):
    env = {
        "LD_PRELOAD": build / "tests/tool/libwork_tool.so", "WORK_TOOL": "alone,opencl,work,crash",
        "WORK_TOOL_OUT": work / "told"
    }
    run([build / "gputap", "run", "-q", "-o", "a.gputap", "--", build / "tests/opencl/cl_basic"],
        env=env,
        status=-signal.SIGABRT)
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["calls"] > 10
    found = Log(work / "told")
    # after the crash another thread may report completed activities
    assert found.of("work", "exit")[-1]["number"] == 3
