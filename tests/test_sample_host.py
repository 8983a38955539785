# SPDX-License-Identifier: MIT
"""Test samples of the host's stacks: `gputap run --sample-host`, `gputap report -t
host_samples`."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def program(run, repo, work):
    """Return a function: program("-O2") compiles the test's program with these options."""
    def compiled(*options):
        run(["gcc", "-g", "-w", *options, repo / "tests/sample_host/sampled.c", "-o", "sampled",
             "-lOpenCL", "-pthread"])
        return work / "sampled"
    return compiled


@pytest.fixture
def sampled(tap, work):
    """Return a function: sampled() returns the rows of table host_samples for a traced command,
    and the result of the command."""
    def traced(*command, options=("--sample-host",), **how):
        result = tap("run", "-f", *options, "-o", "s.gputap", *command, **how)
        report = tap("report", "s.gputap", "-t", "host_samples", "--json").out
        return json.loads(report)["host_samples"], result
    return traced


@pytest.fixture
def states(build, work):
    """Return a function: states() returns the time in ns of each (state, text) that the collector
    has read in the last capture."""
    def read():
        out = subprocess.run([build / "tests/host_state/host_rows", work / "s.gputap"],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        times = {}
        for row in map(json.loads, out.splitlines()):
            if row["detail"] == 2:
                key = row["state"], row["text"]
                times[key] = times.get(key, 0) + row["end_ns"] - row["start_ns"]
        return times
    return read


def functions(row):
    """Return the names of the frames. A frame in no known function has none."""
    found = [re.match(r"\(.*|[\w.+~:<>]+", frame) for frame in row["stack"]]
    return [name[0] for name in found if name]


def time_in(rows, function):
    return sum(row["host_ns"] for row in rows if function in functions(row))


@pytest.mark.parametrize("way, function, state", [
    ("sleep", "nap", "sleeping"), ("compute", "compute", "computing"),
    ("pipe", "read_pipe", "waiting"),
])
@pytest.mark.parametrize("options", [["-O2"], ["-O0"], ["-O2", "-fno-omit-frame-pointer"]])
def test_time_falls_into_the_function_that_spends_it(program, sampled, way, function, state,
                                                     options):
    rows, result = sampled(program(*options), way, 60)
    spent = float(re.search(r"spent ([\d.]+)", result.out)[1])
    whole = sum(row["host_ns"] for row in rows if "main" in functions(row)
                and function in functions(row)) / 1e6
    assert whole == pytest.approx(spent, rel=0.1)
    states = {row["state"] for row in rows if function in functions(row)}
    # a machine with few processors may leave the program none
    assert states & {state, "runnable"} and "unknown" not in states
    assert "samples of the host" in result.err


def test_a_stack_of_a_blocked_thread_is_whole_without_its_frame_pointer(program, sampled):
    """The kernel does not say where the frame pointer of a blocked thread points to."""
    for options in (["-O0"], ["-O1", "-fno-omit-frame-pointer"], ["-O2"]):
        rows, _ = sampled(program(*options, "-fno-optimize-sibling-calls"), "deep", 40)
        row = max(rows, key=lambda row: row["host_ns"])
        assert functions(row).count("recurse") == 41
        assert functions(row)[-1] == "main"


def check_undisturbed(sampled, program, way, ms, least, *words):
    rows, result = sampled(program("-O2"), way, ms, *words)
    assert "wrong 0" in result.out, result.out
    assert sum(row["samples"] for row in rows) > least


# exec: the process of the last of these programs writes the result
WAYS = [("disturb", 600, []), ("threads", 200, []), ("spawn", 200, []), ("exec", 20, [10])]


@pytest.mark.parametrize("way, ms, words", WAYS)
def test_a_program_s_calls_are_not_disturbed(program, sampled, way, ms, words):
    """Blocking calls, threads that end, forks and programs that are replaced."""
    check_undisturbed(sampled, program, way, ms, 10, *words)  # on a busy machine, few samples


@pytest.mark.deep
@pytest.mark.parametrize("way, ms, words", [(way, 20 * ms if way != "exec" else 20, [100])
                                            for way, ms, _ in WAYS])
def test_a_program_s_calls_are_not_disturbed_for_long(program, sampled, way, ms, words):
    check_undisturbed(sampled, program, way, ms, 1000 if way == "disturb" else 100, *words)


@pytest.mark.parametrize("way, function, line", [
    ("sleep", "nap", "nanosleep(&t, NULL);"), ("compute", "compute", "sink = sink * 0.5 + i;"),
])
def test_idle_time_names_the_sampled_line(program, sampled, tap, repo, way, function, line):
    _, result = sampled(program("-O2"), way, 60)
    source = (repo / "tests/sample_host/sampled.c").read_text().splitlines()
    first = next(i for i, text in enumerate(source, 1) if f" {function}(double" in text)
    last = next(i for i, text in enumerate(source, 1) if i > first and line in text)
    causes = json.loads(tap("report", "s.gputap", "-t", "idle", "--json").out)["idle"]
    most = max(causes, key=lambda row: row["idle_ns"])
    found = re.search(rf"\b{function} at sampled.c:(\d+) (\d+)%", most["mostly"])
    if found:  # elfutils' libdw is installed
        assert first < int(found[1]) <= last
    else:
        found = re.search(rf"\b({function}) in sampled (\d+)%", most["mostly"])
    assert int(found[2]) > 80
    assert f"{function} " in result.err


def test_a_thread_that_is_sampled_is_not_stopped_by_a_debugger(program, sampled, states):
    sampled(program("-O2"), "compute", 200)
    times = states()
    assert {"computing", "runnable"} & {state for state, _ in times}
    assert "stopped" not in {state for state, _ in times}, times


def test_a_thread_that_a_debugger_stops_is_stopped(program, sampled, states):
    sampled(program("-O2"), "stopped", 100)
    times = states()
    assert times.get(("stopped", "by a debugger"), 0) > 0.2e9, times  # 5 stops of 100 ms


def python_commands():
    commands = [("this", [sys.executable])]
    for version in ("3.12", "3.13", "3.14"):
        command = os.environ.get("GPUTAP_PYTHON_" + version.replace(".", "_"), "").split()
        commands.append((version, command or [shutil.which(f"python{version}") or "/nonexistent"]))
    return commands


@pytest.mark.parametrize("name, command", python_commands())
def test_frames_of_python_name_the_line(sampled, repo, name, command):
    if subprocess.run(["sh", "-c", "exec $0 -c 0 2>&1", *command], stdout=subprocess.DEVNULL,
                      check=False).returncode:
        pytest.skip(f"no Python {name} here")
    script = repo / "tests/sample_host/sampled.py"
    lines = {line.rsplit("# ")[-1]: i
             for i, line in enumerate(script.read_text().splitlines(), 1) if "  # " in line}
    rows, _ = sampled(*command, script)
    asleep = [row for row in rows if row["line"] == f"Loader.__iter__ at sampled.py:{lines['load']}"
              and row["state"] == "sleeping"]
    assert sum(row["host_ns"] for row in asleep) > 0.18e9
    assert all([f.split(" at ")[0] for f in row["stack"] if ".py:" in f] ==
               ["Loader.__iter__", "main", "<module>"] for row in asleep)
    assert time_in(rows, "work") > 0
    assert not any("_PyEval" in frame for row in rows for frame in row["stack"])


def test_a_default_run_of_python_names_the_line_after_a_gap(tap, repo):
    script = repo / "tests/sample_host/sampled.py"
    line = next(i for i, text in enumerate(script.read_text().splitlines(), 1)
                if "cl.clEnqueueFillBuffer(" in text)
    result = tap("run", "-f", "-o", "s.gputap", sys.executable, script)
    causes = json.loads(tap("report", "s.gputap", "-t", "idle", "--json").out)["idle"]
    asleep = next(row for row in causes if row["cause"] == "host_sleeping")
    assert asleep["before_line"] == f"launch at sampled.py:{line}"
    # the call before has no stack
    assert asleep["after_call"] == "clFinish" and asleep["after_line"] is None
    said = " ".join(result.err.split())
    assert f"sleeping; before clEnqueueFillBuffer: launch at sampled.py:{line}" in said


def test_what_cannot_be_sampled_is_one_sentence(program, sampled):
    _, result = sampled(program("-O2"), "traced", 30)
    assert result.err.count("could not be sampled") == 1


def test_a_process_in_another_pid_namespace_is_one_sentence(program, sampled):
    unshare = ["unshare", "--pid", "--fork", "--kill-child"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], check=False,
                                                     capture_output=True).returncode:
        pytest.skip("cannot create a pid namespace")
    _, result = sampled(*unshare, program("-O2"), "sleep", 60)
    assert result.err.count("could not be sampled") == 1
    assert "another pid namespace" in result.err and "took no sample" not in result.err


def test_without_the_option_no_sample_is_taken(program, sampled, tap):
    rows, result = sampled(program("-O2"), "sleep", 20, options=())
    assert rows == [] and "samples of the host" not in result.err
    assert "gputap run --sample-host" in tap("report", "s.gputap", "-t", "host_samples").out


@pytest.mark.parametrize("value", ["0", "10us", "x", "1h"])
def test_a_wrong_period_is_refused(tap, value):
    assert "1ms to 10s" in tap("run", f"--sample-host={value}", "true", status=2).err


@pytest.mark.parametrize("mode", ["lite", "standard"])
def test_modes_without_calls_have_no_samples(tap, mode):
    assert "--sample-host" in tap("run", "--sample-host", "-m", mode, "true", status=2).err
