# SPDX-License-Identifier: MIT
"""Test gputap run --mode, --kernels, RTL_MODE and RTL_OUTPUT on a real OpenCL runtime: the records
of each mode, and the report on records that were not requested."""

import json
import re
import sqlite3

import pytest

DEMO = ["examples/demo"]


@pytest.fixture
def traced(run, gputap, build, work):
    def go(*options, env=None, status=0):
        run([gputap, "run", "-q", "-f", "-o", "out.gputap", *options, build / "examples/demo"],
            env=env,
            status=status)
        info = json.loads(run([gputap, "info", "--json", "out.gputap"]).out)
        report = json.loads(run([gputap, "report", "--json", "out.gputap"]).out)
        return info, report
    return go


def kernels(report):
    return {row["name"] for row in report["kernels"]}


def test_lite_records_kernels_and_nothing_else(traced):
    info, report = traced("--mode", "lite")
    assert info["mode"] == "lite" and info["calls"] == 0 and info["activities"] > 0
    assert kernels(report) and not report["copies"]
    assert info["complete"] and info["dropped"] == 0 and not info["linked_asked"]


def test_standard_records_all_device_work_and_no_call(traced):
    everything, _ = traced()
    info, report = traced("--mode", "standard")
    assert info["mode"] == "standard" and info["calls"] == 0
    assert info["activities"] == everything["activities"] and report["copies"]
    assert info["complete"] and info["call_lost"] == 0


def test_without_calls_linked_is_not_asked_instead_of_nothing(traced, run, gputap):
    traced("--mode", "standard")
    text = run([gputap, "info", "out.gputap"]).out
    assert "not requested: mode standard records no calls" in text
    assert not re.search(r"linked +\d", text)
    assert "calls not recorded" in run([gputap, "report", "--all", "out.gputap"]).out


def test_the_mode_of_another_runtime_records_no_calls_of_this_one(traced):
    """--mode hip records all GPU activities, but only the calls of HIP. --domains selects other
    calls."""
    everything, _ = traced()
    info, report = traced("--mode", "hip")
    assert not report["operations"] and info["activities"] == everything["activities"] > 0
    assert info["complete"] and info["call_lost"] == 0 and not info["linked_asked"]
    info, report = traced("--mode", "hip", "--domains", "opencl")
    assert report["operations"] and info["linked"] == info["activities"]


@pytest.mark.parametrize("mode", ["default", "hsa", "cudart", "sycl"])
def test_modes_with_calls_link_all_device_work(traced, mode):
    info, _ = traced("--mode", mode)
    assert info["calls"] > 0 and info["linked"] == info["activities"] > 0 and info["linked_asked"]


def test_operations_replace_the_calls_of_a_mode_and_leave_its_device_work(traced):
    info, report = traced("--mode", "standard", "--ops", "clBuildProgram")
    assert {row["name"] for row in report["operations"]} == {"clBuildProgram"}
    assert info["activities"] > 0 and info["linked"] == 0 and info["call_lost"] == 0


def test_rtl_mode_stands_for_mode_and_the_option_wins(traced):
    assert traced(env={"RTL_MODE": "lite"})[0]["mode"] == "lite"
    assert traced(env={"RTL_MODE": "full"})[0]["mode"] == "standard"
    assert traced("--mode", "hip", env={"RTL_MODE": "lite"})[0]["mode"] == "hip"


def test_rtl_output_names_one_file_for_all_processes(run, gputap, build, work):
    run([gputap, "run", "-q", build / "examples/demo"], env={"RTL_OUTPUT": "trace_%p.gputap"})
    files = list(work.glob("trace_*.gputap"))
    assert len(files) == 1 and files[0].stem.removeprefix("trace_").isdigit()
    run([gputap, "run", "-q", "-o", "mine.gputap", build / "examples/demo"],
        env={"RTL_OUTPUT": "theirs.gputap"})
    assert (work / "mine.gputap").exists() and not (work / "theirs.gputap").exists()
    run([gputap, "run", "-q", build / "examples/demo"], env={"RTL_OUTPUT": "theirs.db"})
    with sqlite3.connect("theirs.db") as database:  # rocm-trace-lite writes RPD files
        assert database.execute("select count(*) from rocpd_op").fetchone()[0]
    database.close()


def test_kernels_chooses_by_name_and_the_others_count_as_nothing(traced):
    _, everything = traced()
    names = sorted(kernels(everything))
    assert len(names) > 1
    info, report = traced("--kernels", f"^{names[0]}$")
    assert kernels(report) == {names[0]} and report["copies"]
    assert info["complete"] and info["dropped"] == 0


@pytest.mark.parametrize("arguments, said", [
    (["--mode", "lit"], "did you mean 'lite'"),
    (["--mode", "everything"], "default, lite, standard, hip, hsa"),
    (["--mode", "hips"], "did you mean 'hip'"),
    (["--kernels", "scale("], r"to match it literally, use 'scale\('"),
    (["--kernels", ""], "extended regular expression"),
])
def test_a_wrong_mode_or_expression_gets_a_sentence_with_the_right_one(
        run, gputap, work, arguments, said):
    result = run([gputap, "run", *arguments, "true"], status=2)
    assert said in result.err and len(result.err.splitlines()) <= 2 and not list(work.iterdir())


def test_a_wrong_rtl_mode_is_reported_by_its_name(run, gputap, work):
    assert "RTL_MODE" in run([gputap, "run", "true"], status=2, env={"RTL_MODE": "light"}).err


def test_a_mode_that_is_said_stands_in_exports(traced, run, gputap, work):
    traced("--mode", "lite")
    run([gputap, "export", "-o", "out.json", "out.gputap"])
    assert "mode=lite" in json.loads((work / "out.json").read_text())["gputap"]["options"]
