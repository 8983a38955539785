# SPDX-License-Identifier: MIT
"""Test that reports and exports show the calls of a HIP program, compiled with hipcc and run on the
real HIP and software GPUs."""

import csv
import gzip
import json
import os
import shutil
import sqlite3
import subprocess

import pytest

from conftest import run_command


@pytest.fixture(scope="session")
def program(tmp_path_factory, repo, hip_headers):
    """Return the command of tests/hip/launches.hip: the program, and the same source built as a
    module."""
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    folder, source = tmp_path_factory.mktemp("hip"), repo / "tests/hip/launches.hip"
    options = ["--offload-arch=gfx906", "-O1", "-w", source]
    subprocess.run(["hipcc", *options, "-o", folder / "launches"], check=True)
    subprocess.run(["hipcc", "--genco", *options, "-o", folder / "module.co"], check=True)
    return [folder / "launches", folder / "module.co"]


@pytest.fixture(scope="session")
def traced(program, softgpu, gputap, tmp_path_factory):
    """Return the capture and the program's output of one run."""
    folder = tmp_path_factory.mktemp("traced")
    result = run_command([gputap, "run", "-q", "-o", folder / "a.gputap", "--", *program],
                         env=softgpu)
    return folder / "a.gputap", result.out


@pytest.fixture(scope="session")
def rows(traced, gputap):
    run_command([gputap, "export", traced[0], "-o", traced[0].parent / "a.csv"])
    with open(traced[0].parent / "a.csv", newline="") as f:
        return [row for row in csv.DictReader(f) if row["kind"] == "call"]


def test_a_traced_program_prints_what_it_prints_untraced(program, softgpu, traced):
    assert run_command(program, env=softgpu).out == traced[1]


def test_every_call_that_the_program_makes_is_there_once_in_its_order(rows, traced):
    """Compilers add calls before and after main() that register and unregister the program's
    code."""
    begin, end = ["__hipRegisterFatBinary", "__hipRegisterFunction"], ["__hipUnregisterFatBinary"]
    assert [row["operation"]
            for row in rows
            if row["domain"].startswith("hip")] == begin + traced[1].split() + end
    assert all(row["parent"] == "" for row in rows if row["domain"].startswith("hip"))


def test_launches_say_what_they_launch(rows):
    def shown(operation):
        return [row["arguments"] for row in rows if row["operation"] == operation]
    for name in ("hipLaunchKernel", "hipExtLaunchKernel"):
        assert all("numBlocks={x=16, y=1, z=1}, dimBlocks={x=64, y=1, z=1}" in text
                   for text in shown(name)), name
    assert "gridDimX=16, gridDimY=1, gridDimZ=1, blockDimX=64" in shown("hipModuleLaunchKernel")[0]
    # HIP exports this function under a C++ name
    assert "globalWorkSizeX=1024" in shown("hipExtModuleLaunchKernel")[0]
    assert 'kname="add"' in shown("hipModuleGetFunction")[1]
    assert "mode=hipStreamCaptureModeGlobal" in shown("hipStreamBeginCapture")[0]
    assert "sizeBytes=4096, kind=hipMemcpyDeviceToHost" in shown("hipMemcpy")[0]
    assert 'deviceName="add"' in shown("__hipRegisterFunction")[0]


def test_out_arguments_are_what_the_call_gave(rows):
    def value(row, name):
        return dict(part.split("=", 1) for part in row["arguments"].split(", "))[name]
    made = next(row for row in rows if row["operation"] == "hipStreamCreate")
    used = next(row for row in rows if row["operation"] == "hipMemsetAsync")
    assert value(made, "stream") == value(used, "stream") != "NULL"
    made = next(row for row in rows if row["operation"] == "hipGraphInstantiate")
    used = [row for row in rows if row["operation"] == "hipGraphLaunch"]
    assert {value(row, "graphExec") for row in used} == {value(made, "pGraphExec")}


def test_a_failed_call_has_its_error_s_name_everywhere(rows, traced, tap, tmp_path):
    failed = [row for row in rows if row["error"]]
    assert [(row["operation"], row["status"], row["error"])
            for row in failed] == [("hipModuleGetFunction", "500", "hipErrorNotFound"),
                                   ("hipFree", "1", "hipErrorInvalidValue")]
    assert 'kname="sub"' in failed[0]["arguments"]
    report = tap("report", "--all", traced[0]).out
    assert "hipErrorInvalidValue" in report
    tap("export", traced[0], "-o", tmp_path / "a.json.gz")
    events = json.loads(gzip.open(tmp_path / "a.json.gz").read())["traceEvents"]
    assert [e["args"]["error"] for e in events if "error" in e.get("args", {})] == [
        "hipErrorNotFound (500)", "hipErrorInvalidValue (1)"]
    tap("export", traced[0], "-o", tmp_path / "a.rpd")
    with sqlite3.connect(tmp_path / "a.rpd") as db:
        found = db.execute(
            "select apiName, args from api where args like '%status=hipErrorInvalidValue%'"
        ).fetchall()
    assert [name for name, _ in found] == ["hipFree"]


def test_operations_of_hip_are_listed_and_chosen(program, softgpu, tap, work):
    assert "hipLaunchKernel" in tap("list", "operations", "--domain", "hip").out
    assert "interposition" in tap("list", "methods").out
    tap("run", "-q", "-o", "a.gputap", "--ops", "hipMem*", "--", *program, env=softgpu)
    tap("export", "a.gputap", "-o", "a.csv")
    with open("a.csv", newline="") as f:
        assert {row["operation"] for row in csv.DictReader(f) if row["kind"] == "call"} == {
            "hipMemsetAsync", "hipMemcpy"
        }


def test_doctor_knows_the_hip_library(hip_headers, tap):
    findings = json.loads(tap("doctor", "--json", status=None).out)["findings"]
    runtime = [f for f in findings if f["area"] == "hip" and f["what"] == "runtime"]
    assert runtime and "libamdhip64.so" in runtime[0]["text"], findings


@pytest.mark.parametrize("ask, status, failure",
                         [([], 100, "1 x hipGetDeviceCount hipErrorNoDevice"),
                          (["0"], 101, "1 x hipGetDeviceProperties hipErrorInvalidDevice")])
def test_a_program_without_a_gpu_is_traced_as_far_as_it_goes_and_one_in_software_is_named(
        hip_headers, tap, work, ask, status, failure):
    if os.path.exists("/dev/kfd"):
        pytest.skip("there is an AMD GPU here")
    (work / "p.c").write_text(
        "int hipGetDeviceCount(int *), hipGetDeviceProperties(void *, int); char p[4096];\nint"
        " main(int c, char **v) { int n; return c > 1 ? hipGetDeviceProperties(p, 0) :"
        " hipGetDeviceCount(&n); }\n"
    )
    subprocess.run(["cc", "p.c", "-o", "p", "-lamdhip64"], check=True)
    told = tap("run", "-f", "-o", "c.gputap", "./p", *ask, status=status).err
    assert failure in told
    assert (
        "no AMD GPU here; to use one in software: gputap run -- gputap soft amdgpu -- PROGRAM"
        in told
    )
