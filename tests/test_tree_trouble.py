# SPDX-License-Identifier: MIT
"""Test programs that cannot be traced, programs that overwrite gputap's memory, and full disks."""

import json
import os
import re
import shutil
import signal
import subprocess

import pytest

import conftest
from processes import Tree, child_of, finish, sessions_of, tally, wait_until


@pytest.fixture
def tree(build, work):
    return Tree(build)


# Not started, not traced

def test_a_program_that_is_not_there_gives_127_and_a_sentence(tap, work):
    assert "no such program in PATH" in tap("run", "no-such-program", status=127).err
    assert "./no/such: no such program\n" in tap("run", "./no/such", status=127).err
    assert os.listdir(work) == []


def test_a_file_that_is_no_program_gives_126_and_a_sentence(tap, work):
    (work / "text").write_text("hello\n")
    assert "not an executable program" in tap("run", "./text", status=126).err
    assert "not an executable program" in tap("run", "/tmp", status=126).err
    assert os.listdir(work) == ["text"]


def test_a_script_whose_interpreter_is_missing_gives_126_and_names_it(tap, work):
    (work / "script").write_text("#!/no/such/interpreter\n")
    (work / "script").chmod(0o755)
    assert "its interpreter /no/such/interpreter does not exist" in tap("run", "./script",
                                                                      status=126).err
    assert os.listdir(work) == ["script"]


def test_a_failed_start_leaves_the_old_capture_alone(tap, work):
    (work / "old.gputap").write_text("precious")
    tap("run", "-f", "-o", "old.gputap", "no-such-program", status=127)
    assert (work / "old.gputap").read_text() == "precious"


def test_a_program_without_a_runtime_keeps_its_status_and_is_reported(tree):
    result = tree.run("exit", 11, program=tree.bare, status=11)
    assert (
        "used no runtime that gputap can trace" in result.err
        and "'gputap doctor'" in result.err
    )


def test_a_program_that_cannot_make_its_ring_file_is_named_with_the_reason(tree, tap):
    result = tree.run("-c",
                      f"ulimit -f 8; exec '{tree.folder}/bare' exit 12",
                      program="sh",
                      status=12)
    assert "1 process not traced: " in result.err
    found = json.loads(tap("info", "c.gputap", "--json").out)
    (event,) = [e for e in found["events"] if e["event"] == "not traced"]
    assert event["text"] == (f"{str(tree.folder / 'bare')[-100:]}: "
                             "its shared memory segment could not be created: File too large")
    assert found["complete"] is False
    assert any(f"process {event['pid']} was not traced" in why for why in found["why_not_complete"])


def untraced(tap, capture="c.gputap"):
    """Return the reasons that info and report give for processes that could not create a
    segment."""
    found = json.loads(tap("info", capture, "--json").out)
    report = json.loads(tap("report", capture, "--json").out)
    assert found["complete"] is report["complete"] is False
    reasons = [
        e["text"].partition("its shared memory segment could not be created: ")[2]
        for e in found["events"]
        if e["event"] == "not traced"
    ]
    assert report["files"][0]["untraced"] == len(reasons)
    assert f"{len(reasons)} process not traced: " in tap("report", "--all", capture).out
    return reasons


def test_a_child_without_free_descriptors_is_named_with_the_reason(tree, tap):
    result = tree.run("calls:3", "nofiles", "fork", "calls:5", "exit:4", status=4)
    assert "1 process not traced: " in result.err
    assert untraced(tap) == ["Too many open files"]
    assert sum(p["calls"] for p in tree.read()["processes"]) == 4 + 5  # calls of the parent


def test_what_recover_finishes_names_them_too(tree, tap, work):
    process = tree.start(f"tally:{work}/tally", "calls:3", "nofiles", "fork", "forever")
    wait_until(lambda: tally(work / "tally") > 10, "the child to call")
    child = child_of(process)
    process.kill()
    os.killpg(os.getpgid(child), signal.SIGKILL)
    finish(process)
    (folder,) = sessions_of("c.gputap")
    assert "1 process not traced: " in tap("recover", folder).err
    assert untraced(tap) == ["Too many open files"]


FULL = {
    "of bytes": (
        "size=64m",
        "for n in 65536 4096; do while printf %${n}s x; do :; done; done >/dev/shm/filler"),
    "of inodes": ("size=64m,nr_inodes=100",
                  "i=0; while printf x >/dev/shm/f$i; do i=$((i + 1)); done"),
}


@pytest.mark.parametrize("limits, fill", FULL.values(), ids=FULL)
def test_a_program_that_finds_the_memory_file_system_full_is_named_with_the_reason(
        tree, tap, work, limits, fill):
    """The session starts in its own small /dev/shm. The program's shell fills /dev/shm before it
    runs the program."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    program = f"{fill} 2>&-; {tree.caller} calls:5 exit:6; exit $?"
    traced = (
        f"mount -t tmpfs -o {limits} tmpfs /dev/shm && exec {tree.gputap} run -o c.gputap -- sh -c"
        f" '{program}' 2>err"
    )
    assert subprocess.run(["unshare", "-m", "sh", "-c", traced],
                          env=conftest.clean_environment()).returncode == 6
    assert "1 process not traced: " in (work / "err").read_text()
    assert untraced(tap) == ["No space left on device"]


def test_a_static_program_is_reported_to_be_one(tree):
    result = tree.run("exit", 12, program=tree.folder / "bare_static", status=12)
    assert "cannot be traced because it is statically linked" in result.err


def test_a_set_user_id_program_is_reported_to_be_one(tree, work):
    if os.geteuid() != 0:
        pytest.skip("needs root to make a set-user-id program of another user")
    program = work / "suid"
    shutil.copy(tree.bare, program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    result = tree.run("exit", 13, program=program, status=13)
    assert "cannot be traced because it runs with extra privileges" in result.err


def test_a_script_is_judged_by_its_interpreter(tree, work):
    script = work / "script"
    script.write_text(f"#!{tree.folder}/bare_static exit\n")
    script.chmod(0o755)
    assert "it is statically linked" in tree.run(program=script, status=0).err


# Memory

@pytest.mark.parametrize("what", ["head", "blocks", "all"])
def test_a_program_that_writes_over_its_rings_harms_only_its_own_records(tree, what):
    result = tree.run("calls:2000", "seen", f"scribble:{what}", "sleep:200", "_exit:0")
    assert result.status == 0
    assert len(tree.read()["processes"]) == 1


@pytest.mark.parametrize("what", ["blocks", "all"])
def test_what_could_not_be_read_is_counted_as_torn_and_reported(tree, what):
    result = tree.run("calls:1", "seen", "freeze", "calls:60000", f"scribble:{what}", "thaw",
                      "_exit:0")
    assert "overwrote gputap's rings" in result.err
    found = tree.read()
    assert found["end"] == "incomplete"


def test_records_that_found_no_room_are_not_said_to_be_a_trouble_of_writing(tree, tap):
    tree.run("calls:1", "seen", "freeze", "calls:200000", "thaw",
             options=["--buffer", "1M", "--when-full", "0"])
    text = tap("info", "c.gputap").out
    assert "records were lost while tracing" in text
    assert "could not write all records" not in text


def test_a_ring_file_that_is_cut_under_us_does_not_end_the_collector(tree):
    result = tree.run("fork", "calls:5000", "cut", "sleep:200", status=None)
    assert "wrote c.gputap" in result.err
    tree.read()


# Disk

def test_a_full_disk_stops_neither_the_program_nor_the_capture(tree, work, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    small = work / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", small], check=True)
    try:
        result = tree.run("calls:3000000", "exit:9", capture=small / "c.gputap", status=9)
        assert "(No space left on device):" in result.err
        shutil.copy(small / "c.gputap", work / "copy.gputap")
    finally:
        subprocess.run(["umount", small], check=True)
    found = tree.read(work / "copy.gputap")
    (process,) = found["processes"]
    assert found["end"] == "incomplete"
    assert process["count_calls"]["seen"] == 3000001
    assert set(process["count_calls"]["dropped"]) == {"output"}
    assert process["calls"] > 0


def test_a_limit_of_file_size_ends_neither(tree, work):
    """RLIMIT_FSIZE would kill the collector with SIGXFSZ if the collector did not check the
    limit."""
    command = (
        f"ulimit -f 16384; exec {tree.gputap} run -o c.gputap {tree.caller} calls:5000000 exit:9"
    )
    result = conftest.run_command(["bash", "-c", command], status=9)
    assert "cannot write all of" in result.err
    (process,) = tree.read()["processes"]
    assert process["count_calls"]["seen"] == 5000001
    assert set(process["count_calls"]["dropped"]) == {"output"}


# Output

def test_an_output_that_exists_is_not_overwritten_without_force(tap, work, tree):
    (work / "c.gputap").write_text("precious")
    assert "-f replaces it" in tap("run", "-o", "c.gputap", tree.bare, status=1).err
    assert (work / "c.gputap").read_text() == "precious"
    tap("run", "-f", "-o", "c.gputap", tree.bare)
    tree.read()


def test_an_output_in_a_folder_that_is_not_there_is_reported_before_the_program_runs(
        tap, work, tree):
    result = tap("run", "-o", "no/such/c.gputap", "touch", "ran", status=1)
    assert "folder no/such does not exist: create it with 'mkdir -p no/such'" in result.err
    assert not (work / "ran").exists()


def test_a_folder_that_is_gone_is_not_a_path_too_long(run, gputap, work):
    result = run(["sh", "-c", f"mkdir gone; cd gone; rmdir ../gone; '{gputap}' run true"], status=1)
    assert "cannot determine the working directory: No such file or directory" in result.err


def test_the_command_to_go_on_with_can_be_copied_whatever_the_file_is_called(
        tap, run, gputap, work):
    assert "wrote plain.gputap; 'gputap report plain.gputap' shows" in tap(
        "run", "-o", "plain.gputap", "true").err
    err = tap("run", "-o", 'a "b" $c.gputap', "true").err
    word = re.search("'gputap report (.*)' shows", err).group(1)
    run(["sh", "-c", f"'{gputap}' report {word}"])
    assert "\x1b" not in tap("run", "-o", "\x1b[31m.gputap", "true").err


def test_libraries_that_are_missing_are_named(tree, work, gputap):
    lonely = work / "gputap"
    shutil.copy(gputap, lonely)
    result = conftest.run_command([lonely, "run", "true"], status=1)
    assert "libgputap.so.0 and libgputap-audit.so" in result.err
    assert sorted(os.listdir(work)) == ["gputap"]
    result = conftest.run_command([lonely, "run", "-o", "c.gputap", "true"],
                                  env={"GPUTAP_LIBRARY_PATH": f"/nowhere:{gputap.parent}"})
    assert "c.gputap" in result.err
