# SPDX-License-Identifier: MIT
"""Test the options, names and notes of gputap run."""

import json
import os
import pathlib
import subprocess

import pytest

import conftest
from processes import Tree


@pytest.fixture
def tree(build, work):
    return Tree(build)


def test_help_teaches_by_example_on_stdout(tap):
    result = tap("run", "--help")
    assert "Examples\n  gputap run ./simulation" in result.out
    assert result.err == ""


@pytest.mark.parametrize("arguments, sentence", [
    ([], "no program to run"),
    (["--"], "no program to run"),
    (["--outptu", "x", "true"], "did you mean --output?"),
    (["-o"], "-o"),
    (["-d", "opencll", "true"], "unknown domain 'opencll'; did you mean 'opencl'?"),
    (["-d", ",", "true"], "--domains is empty"),
    (["--ops", "clEnqueueNDRangKernel", "true"], "did you mean 'clEnqueueNDRangeKernel'?"),
    (["--ops", "clNothing*", "true"], "no operation matches 'clNothing*'"),
    (["--ops", ",", "true"], "--ops is empty"),
    (["--buffer", "many", "true"], "a size is a number"),
    (["--buffer", "1K", "true"], "--buffer 1K: from 256 KiB"),
    (["--buffer", "18446744073709551615G", "true"], "a size is a number"),
    (["--block-size", "100000", "true"], "a power of two"),
    (["--buffer", "256K", "--block-size", "4M", "true"], "at least four blocks"),
    (["--when-full", "soon", "true"], "a time such as"),
    (["--threads", "0", "true"], "a number from 1"),
    (["--threads", "-1", "true"], "a number from 1"),
    (["-o", "x.docx", "true"], "'x.docx' has no known extension"),
    (["-o", "x", "true"], "known: .gputap, .pftrace"),
    (["-o", "x.parquet", "true"], "cannot write Parquet while recording: record to a capture, then "
     "'gputap export prog.gputap -o x.parquet'"),
    (["-o", "x.pftrac", "true"], "'x.pftrac' has no known extension to select the format; did"),
])
def test_what_is_wrong_is_named_and_nothing_runs(tap, work, arguments, sentence):
    result = tap("run", *arguments, status=2)
    assert sentence in result.err
    assert os.listdir(work) == []


def test_the_program_keeps_its_own_options(tap, work):
    assert tap("run", "-q", "-o", "c.gputap", "echo", "-n", "--help", "-o").out == "--help -o"
    assert tap("run", "-qf", "-o", "c.gputap", "--", "echo", "-q").out == "-q\n"


def test_the_capture_is_named_after_the_program(tree, tap, work):
    result = tap("run", tree.caller, "calls:3")
    (name,) = os.listdir(work)
    assert name.startswith("caller.") and name.endswith(".gputap")
    assert f"wrote {name}" in result.err
    assert tree.read(name)["processes"][0]["calls"] == 4


def test_quiet_says_nothing_when_nothing_is_lost(tree):
    assert tree.run("calls:3", options=["-q"]).err == ""


def test_a_report_follows_the_run_on_stderr(tree):
    result = tree.run("calls:1000")
    assert "1,001 records, nothing lost" in result.err
    assert "clGetPlatformInfo" in result.err
    assert result.out.count("\n") == 1


def test_a_replaced_capture_keeps_its_permissions_and_who_has_it_open_keeps_the_old_one(tap, work):
    tap("run", "-q", "-o", "c.gputap", "true")
    old = (work / "c.gputap").read_bytes()
    (work / "c.gputap").chmod(0o640)
    with open("c.gputap", "rb") as reader:
        tap("run", "-q", "-f", "-o", "c.gputap", "true")
        assert reader.read() == old
    assert (work / "c.gputap").stat().st_mode & 0o7777 == 0o640
    assert (work / "c.gputap").read_bytes() != old
    assert os.listdir(work) == ["c.gputap"]


def test_a_capture_behind_a_link_or_with_two_names_is_replaced_in_place(tap, work):
    tap("run", "-q", "-o", "c.gputap", "true")
    old = (work / "c.gputap").read_bytes()
    os.link("c.gputap", "hard.gputap")
    tap("run", "-q", "-f", "-o", "c.gputap", "true")
    assert (work / "hard.gputap").samefile(work / "c.gputap")
    os.unlink("hard.gputap")
    os.symlink("c.gputap", "soft.gputap")
    tap("run", "-q", "-f", "-o", "soft.gputap", "true")
    assert os.readlink("soft.gputap") == "c.gputap"
    assert (work / "c.gputap").read_bytes() != old
    assert json.loads(tap("info", "--json", "c.gputap").out)


def test_a_capture_that_is_being_written_is_not_replaced(gputap, tap, work):
    writer = subprocess.Popen([gputap, "run", "-q", "-o", "c.gputap", "cat"],
                              stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    writer.stdin.write(b"ready\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == b"ready\n"
    assert "is being written by another process" in tap("run",
                                                        "-q",
                                                        "-f",
                                                        "-o",
                                                        "c.gputap",
                                                        "true",
                                                        status=1).err
    writer.stdin.close()
    assert writer.wait(20) == 0
    assert json.loads(tap("info", "--json", "c.gputap").out)


def test_only_chosen_operations_are_recorded(tree):
    tree.run("calls:500", options=["--ops", "clGetPlatformI?s,clGetDev*"])
    assert tree.read()["processes"][0]["calls"] == 1


def test_only_chosen_domains_are_recorded(tree):
    result = tree.run("calls:500", options=["--domains", "hip,hsa_core"])
    assert result.status == 0
    assert sum(p["calls"] for p in tree.read()["processes"]) == 0


def test_without_arguments_captures_are_smaller(tree, work):
    tree.run("calls:20000", capture="with.gputap")
    tree.run("calls:20000", capture="without.gputap", options=["--no-args"])
    assert tree.calls("without.gputap")[0][1] == tree.calls("with.gputap")[0][1] == 20001
    assert (work / "without.gputap").stat().st_size < (work / "with.gputap").stat().st_size


def test_as_many_threads_are_recorded_as_were_asked_for(tree):
    tree.run("calls:500", options=["--threads", "1"])
    assert tree.calls()[0][1] == 501


def test_compressed_captures_hold_the_same(tree, work):
    tree.run("calls:200000", capture="plain.gputap")
    tree.run("calls:200000", capture="small.gputap", options=["--compress"])
    assert tree.calls("small.gputap")[0][1] == 200001
    assert (work / "small.gputap").stat().st_size < (work / "plain.gputap").stat().st_size


@pytest.mark.parametrize("extension", [".json", ".json.gz", ".pftrace", ".csv", ".rpd"])
def test_an_export_is_written_by_its_extension_and_no_capture_stays(tree, work, extension):
    result = tree.run("calls:100", capture=f"out{extension}")
    assert os.listdir(work) == [f"out{extension}"]
    assert (work / f"out{extension}").stat().st_size > 0
    assert f"wrote out{extension}" in result.err


def test_json_of_a_run_is_json(tree, work):
    tree.run("calls:100", capture="out.json")
    assert "traceEvents" in json.loads((work / "out.json").read_text())


def test_an_export_that_fails_leaves_the_capture_and_says_where(tree, work):
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    small = work / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small], check=True)
    try:
        result = tree.run("calls:100000", capture=small / "out.json", options=["-q"], status=1)
        assert "cannot write" in result.err and "the capture is in" in result.err
        (left,) = [f for f in os.listdir(small) if f.endswith(".gputap")]
        assert tree.calls(small / left)[0][1] == 100001
    finally:
        subprocess.run(["umount", small], check=True)


def test_an_output_that_is_no_file_is_refused_before_the_program_runs(tap, work):
    for name in ("pipe.json", "pipe.gputap"):
        os.mkfifo(work / name)
        result = tap("run", "-f", "-o", name, "touch", "ran", status=1)
        assert f"{name} is not a regular file" in result.err and not (work / "ran").exists()


def test_too_few_descriptors_are_said_with_how_many_it_takes(gputap, run, work):
    for limit in (8, 10):
        result = run(
            ["prlimit", f"--nofile={limit}", gputap, "run", "-f", "-o", "c.gputap", "true"],
            status=None)
        assert "Too many open files" in result.err and "ulimit -n 1024" in result.err, result


@pytest.mark.parametrize("small", ["size=1m", "nr_inodes=3"])
def test_the_session_goes_where_there_is_room(tree, work, small):
    """In a container with a tiny /dev/shm, the session folder is in TMPDIR."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    inside = f"mount -t tmpfs -o {small} tmpfs /dev/shm && exec {tree.gputap} run -o c.gputap " \
             f"sh -c 'echo $GPUTAP_SESSION; exec {tree.caller} calls:2000'"
    result = conftest.run_command(["unshare", "--mount", "sh", "-c", inside], env={"TMPDIR": work})
    session = pathlib.Path(result.out.splitlines()[0])
    assert session.parent == work
    assert not session.exists()
    assert tree.read()["processes"][-1]["calls"] == 2001


def test_a_small_shm_gets_a_small_buffer(tree, work):
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    inside = f"mount -t tmpfs -o size=32m tmpfs /dev/shm && exec {tree.gputap} run -o c.gputap " \
             f"sh -c 'echo $GPUTAP_SESSION; exec {tree.caller} calls:1000000'"
    result = conftest.run_command(["unshare", "--mount", "sh", "-c", inside])
    assert result.out.startswith("/dev/shm/")
    assert tree.read()["processes"][-1]["calls"] == 1000001
