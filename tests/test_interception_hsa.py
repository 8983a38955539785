# SPDX-License-Identifier: MIT
"""Test HSA's tools library method (HSA_TOOLS_LIB) with plain HSA programs, the distribution's real
ROCr and the software GPU."""

import csv
import io
import json
import subprocess

import pytest

# calls in one round of tests/rocm/hsa_calls.c after hsa_init(), in order
ROUND = (["hsa_agent_get_info"] * 2 +
         ["hsa_iterate_agents", "hsa_agent_get_info", "hsa_signal_create"] +
         ["hsa_signal_store_relaxed"] * 5 + [
             "hsa_signal_load_relaxed", "hsa_amd_agent_iterate_memory_pools",
             "hsa_amd_memory_pool_allocate", "hsa_amd_memory_pool_free", "hsa_amd_memory_pool_free",
             "hsa_signal_destroy"
         ])


@pytest.fixture(scope="session")
def program(tmp_path_factory, repo, softgpu):
    folder = tmp_path_factory.mktemp("hsa")
    subprocess.run([
        "cc", "-O1", "-Wall", repo / "tests/rocm/hsa_calls.c", "-o", folder / "hsa_calls",
        "-lhsa-runtime64"
    ],
                   check=True)
    for name, options in (("counts.so", []), ("fails.so", ["-DFAILS"]), ("with space.so", [])):
        subprocess.run([
            "cc", "-O1", "-Wall", "-shared", "-fPIC", repo / "tests/rocm/hsa_tool.c", "-o",
            folder / name, *options
        ],
                       check=True)
    return folder / "hsa_calls"


@pytest.fixture
def trace(tap, program, softgpu, work):
    """Return a function: trace("--again", env=...) returns the result of gputap run, the rows of
    calls in order, and the output of info."""
    def run(*words, env=None, options=()):
        result = tap("run",
                     "-f",
                     "-o",
                     "a.gputap",
                     "--mode",
                     "hsa",
                     *options,
                     "--",
                     program,
                     *words,
                     env={**softgpu, **(env or {})})
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        rows = [
            r for r in csv.DictReader(io.StringIO((work / "a.csv").read_text()))
            if r["kind"] == "call"
        ]
        rows.sort(key=lambda r: (int(r["start_ns"]), -int(r["end_ns"])))
        return result, rows, json.loads(tap("info", "--json", "a.gputap").out)
    return run


def names(rows):
    return [r["operation"] for r in rows]


def test_every_hsa_call_is_recorded_in_order(trace):
    _, rows, info = trace()
    # the callback's calls run inside hsa_iterate_agents()
    expected = ["hsa_iterate_agents", *ROUND[:2], *ROUND[3:], "hsa_shut_down"]
    assert names(rows) == expected
    assert (info["seen"], info["dropped"]) == (len(expected), 0)


def test_a_runtime_that_is_shut_down_and_begun_again_is_seen_again(trace):
    once, twice = trace()[1], trace("--again")[1]
    assert names(twice) == names(once) * 2


def test_a_program_that_never_shuts_hsa_down_is_recorded_whole(trace):
    _, rows, info = trace("--no-shutdown")
    assert len(rows) == len(ROUND) and info["complete"]


def test_hsa_arguments_read_as_the_program_wrote_them(trace):
    rows = trace()[1]
    by_name = {r["operation"]: r for r in rows}
    assert by_name["hsa_signal_create"]["arguments"].startswith(
        "initial_value=7, num_consumers=0, consumers=NULL, signal=0x")
    assert by_name["hsa_signal_store_relaxed"]["arguments"].endswith("value=-4")
    assert "size=4096, flags=0, ptr=0x" in by_name["hsa_amd_memory_pool_allocate"]["arguments"]
    info = [r["arguments"] for r in rows if r["operation"] == "hsa_agent_get_info"]
    assert "attribute=HSA_AGENT_INFO_DEVICE" in info[0] and "attribute=HSA_AGENT_INFO_NAME" in info[
        -1]


def test_a_failed_hsa_call_is_reported_by_its_status_name(trace, tap):
    trace()
    report = tap("report", "--all", "a.gputap").out
    assert "HSA_STATUS_ERROR_INVALID_ALLOCATION" in report and "hsa_amd_memory_pool_free" in report


def test_a_call_of_an_iteration_callback_has_the_iteration_as_its_parent(trace):
    rows = trace()[1]
    assert [r["depth"] for r in rows if r["operation"] == "hsa_agent_get_info"] == ["1", "1", "0"]


def test_the_library_that_is_really_mapped_is_reported_with_its_method(trace, tap):
    trace()
    text = tap("info", "a.gputap").out
    methods = {"HSA_TOOLS_LIB", "rocprofiler-register"}  # the second needs a ROCr built for it
    assert len([method for method in methods if method in text]) == 1
    assert "libhsa-runtime64.so.1" in text


def test_hsa_output_is_the_same_with_and_without_gputap(trace, run, program, softgpu):
    assert trace("--again")[0].out == run([program, "--again"], env=softgpu).out


@pytest.mark.parametrize("order", ["{0}", '"{1}"', "{2} {0}", "gone.so {0}"])
def test_the_users_own_tool_sees_what_it_sees_without_gputap(trace, run, program, softgpu, order):
    tools = order.format(*(program.parent / name
                           for name in ("counts.so", "with space.so", "fails.so")))
    result, rows, _ = trace("--no-shutdown", env={"HSA_TOOLS_LIB": tools})
    assert names(rows).count("hsa_signal_store_relaxed") == 5
    if "{2}" not in order:  # ROCr 5 looks up OnUnload() in a tool after unmapping it
        result, rows, _ = trace("--again", env={"HSA_TOOLS_LIB": tools})
        alone = run([program, "--again"], env={**softgpu, "HSA_TOOLS_LIB": tools})
        assert result.err.count("tool: 5 stores") == alone.err.count("tool: 5 stores")
        assert "tool: " in alone.err and "tool: 5 stores" in result.err
        assert names(rows).count("hsa_signal_store_relaxed") == 10


@pytest.mark.parametrize("tool", ["fails.so", "gone.so"])
def test_a_tool_library_that_fails_is_said_and_the_program_runs(trace, tap, program, tool, rocr):
    result, rows, _ = trace("--no-shutdown", env={"HSA_TOOLS_LIB": program.parent / tool})
    assert result.out == "gfx906 -4\n" and len(rows) == len(ROUND)
    if tool == "fails.so" or rocr >= 13:  # ROCr 5 does not report a missing tool
        assert tool in tap("info", "a.gputap").out
        assert "Events   tool failed: " in result.err and tool in result.err, result


def test_only_operations_that_were_asked_for_are_recorded(trace):
    assert names(
        trace(options=["--ops", "hsa_signal_store*"])[1]) == ["hsa_signal_store_relaxed"] * 5


@pytest.mark.parametrize(
    "clean", [["env", "-i"], ["env", "-u", "HSA_TOOLS_LIB"], ["env", "HSA_TOOLS_LIB=mine.so"]])
def test_a_child_whose_environment_was_cleaned_is_seen(tap, program, softgpu, work, clean):
    """A child is also traced if only HSA_TOOLS_LIB is missing or has another value."""
    variables = [f"{name}={value}" for name, value in softgpu.items()]
    tap("run",
        "-o",
        "a.gputap",
        "--mode",
        "hsa",
        "--",
        *clean,
        *variables,
        program,
        "--no-shutdown",
        env=softgpu)
    assert json.loads(tap("info", "--json", "a.gputap").out)["calls"] == len(ROUND)
