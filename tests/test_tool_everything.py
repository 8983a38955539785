# SPDX-License-Identifier: MIT
"""Test a tool that uses the whole API at once. Its notifications agree with the simultaneous
recording of `gputap run` and with the program's activity."""

import json
import re
import subprocess

import pytest

from truth import Truth

TRUTH = Truth(threads=2, streams=3, launches=40, copies=2, graphs=2, nodes=5)


@pytest.fixture(scope="module")
def everything(build, repo, tmp_path_factory):
    library = tmp_path_factory.mktemp("tools") / "everything.so"
    subprocess.run([
        "cc", "-O1", "-w", "-shared", "-fPIC", f"-I{repo}/include",
        repo / "tests/tool/everything.c", "-o", library, f"-L{build}", "-l:libgputap.so.0"
    ],
                   check=True)
    return library


@pytest.fixture(params=["demo", "hip"])
def program(request, build):
    """Return the command, the environment, and the number of kernels launched through the function
    that the tool put into the table."""
    if request.param == "demo":
        return [build / "examples/demo"], {}, 1080
    hip_program, softgpu = (request.getfixturevalue(name) for name in ("hip_program", "softgpu"))
    return TRUTH.command(
        hip_program("truth")), softgpu, TRUTH.threads * TRUTH.streams * TRUTH.launches


def totals(err):
    lines = [line for line in err.splitlines() if line.startswith("begun=")]
    assert len(lines) == 1, err
    return {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", lines[0])}


def check(t, launches):
    assert t["begun"] == t["returned"] == t["recorded"]
    assert t["submitted"] == t["completed"] == t["work_recorded"] and t["untimed"] == 0
    assert t["retired"] == t["retired_recorded"] == t[
        "begun"], "each call, and all work hangs on one"
    assert t["launch_calls"] == t["launch_records"] == t["launches"] >= launches
    assert launches <= t["launch_work"] <= t["launches"]
    assert t["objects_left"] == t["losses"] == t["other_events"] == 0


def test_all_of_it_at_once_agrees_with_the_capture_made_meanwhile(everything, program, tap, work):
    command, env, launches = program
    t = totals(
        tap("run", "-q", "-o", "a.gputap", "--tool", everything, "--", *command, env=env).err)
    check(t, launches)
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["dropped"] == 0 and info["complete"]
    table = json.loads(tap("report", "a.gputap", "--json").out)["operations"]
    # calls at exit, after tools are finished
    after = sum(row["calls"] for row in table if row["name"] == "__hipUnregisterFatBinary")
    assert (info["calls"] - after, info["activities"]) == (t["begun"], t["submitted"])


def test_all_of_it_at_once_agrees_with_itself_without_gputap_run(everything, program, run, build):
    command, env, launches = program
    check(
        totals(
            run(command,
                env={**env, "LD_PRELOAD": build / "libgputap.so.0",
                     "GPUTAP_TOOLS": everything}).err), launches)
