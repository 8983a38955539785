# SPDX-License-Identifier: MIT
"""Test processes of the tree that bypass gputap. gputap finds them in /proc, names them and counts
them as not traced. Processes that another process has reported are counted once.

The tests sleep for some polling intervals of the collector, because the collector does not announce
its polls (docs/internals/interception.md)."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import conftest
from processes import Tree

WITHOUT = "it was started without gputap's environment variables"
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"
SLEEP = shutil.which("sleep")
SECONDS = "3"


@pytest.fixture
def tree(build, work):
    return Tree(build)


@pytest.fixture
def past(tree):
    return tree.folder / "past"


def untraced(tap):
    """Return info's text about programs that were not traced, and the count in the headline."""
    found = json.loads(tap("info", "c.gputap", "--json").out)
    report = json.loads(tap("report", "c.gputap", "--json").out)
    return [e["text"] for e in found["events"] if e["event"] == "not traced"
           ], report["files"][0]["untraced"]


@pytest.mark.parametrize("way", ["instruction", "itself", "pidfd_spawn"])
def test_a_program_that_is_started_past_libc_is_named_and_counted(tree, tap, past, way):
    if way == "pidfd_spawn" and subprocess.run([past, way, "/bin/true"]).returncode == 77:
        pytest.skip("needs pidfd_spawn(), which glibc has from 2.39 on")
    result = tree.run(way, tree.caller, "calls:5", f"sleep:{SECONDS}000", "exit:7", program=past,
                      options=["-q"], status=7)
    assert " ".join(result.err.split()) == f"gputap: 1 process not traced: caller ({WITHOUT})"
    assert untraced(tap) == ([f"{tree.caller}: {WITHOUT}"], 1)


def test_what_the_shell_of_wordexp_starts_is_named_and_counted(tree, tap, past):
    tree.run("wordexp", SLEEP, SECONDS, program=past)
    texts, count = untraced(tap)
    assert f"{os.path.realpath(SLEEP)}: {WITHOUT}" in texts
    assert count == len(texts) and all(t.endswith(WITHOUT) for t in texts)


def test_beside_calls_the_headline_says_so(tree, tap, past):
    result = tree.run("-c", f"{tree.caller} calls:5 exit:0; {past} instruction {SLEEP} {SECONDS}",
                      program="sh")
    words = " ".join(result.err.split())
    assert (
        "6 records, nothing lost in traced processes"
        f" 1 process not traced: {os.path.basename(os.path.realpath(SLEEP))} ({WITHOUT})" in words
    )
    assert json.loads(tap("info", "c.gputap", "--json").out)["complete"] is False


def test_one_that_its_parent_leaves_behind_is_still_seen(tree, tap, past):
    """The process continues after its parents have ended, and then executes a program."""
    tree.run("-c",
             f"sh -c '(sleep 1; exec {past} itself {SLEEP} {SECONDS}) & sleep 0.5'; sleep 4",
             program="sh")
    assert untraced(tap) == ([f"{os.path.realpath(SLEEP)}: {WITHOUT}"], 1)


def test_a_static_program_is_named_but_not_counted(tree, tap, past, run):
    run(["gcc", "-static", "-x", "c", "-o", "static", "-"],
        stdin=f"#include <unistd.h>\nint main(void) {{ return sleep({SECONDS}) != 0; }}\n")
    tree.run("instruction", "./static", program=past)
    (text,), count = untraced(tap)
    assert text.endswith(
        "/static: it is statically linked, so no dynamic linker can load other libraries")
    assert count == 0
    tree.run("-c", "./static; exit 0", program="sh", options=["-f"])
    assert untraced(tap) == (["./static: it is statically linked"], 0)


def test_programs_of_the_tree_that_are_traced_are_not_among_them(tree, tap, past):
    tree.run("-c", f"sleep {SECONDS} & {past} kept {SLEEP} {SECONDS} & env -i sleep {SECONDS} &"
             f" (sleep 1; sleep {SECONDS}) & wait", program="sh")
    assert untraced(tap) == ([], 0)


def test_another_sessions_are_reported_once(tree, tap):
    tree.run("-c", f"{tree.gputap} run -q -o d.gputap -- sleep {SECONDS}; exit 0", program="sh")
    texts, count = untraced(tap)
    assert [t.split(": ")[1] for t in texts] == ["another gputap run traces it"] and count == 0


needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root to give up rights")
DENIED = "as user 65534 it cannot reach the session's folder: Permission denied"


@needs_root
def test_another_users_program_that_nobody_told_of_is_named(tree, tap, past):
    tree.run("nobody", SLEEP, SECONDS, program=past)
    assert untraced(tap) == ([f"{os.path.realpath(SLEEP)}: {DENIED}"], 1)


@needs_root
@pytest.mark.parametrize("way", ["instruction", "kept"])
def test_a_set_user_id_program_that_nobody_told_of_is_named(tree, tap, past, work, way):
    """Only the user id of the process is readable."""
    if subprocess.run([*NOBODY.split(), "test", "-r", past]).returncode:
        pytest.skip("needs a build folder that everybody reaches")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gputap-test-"))
    try:
        folder.chmod(0o777)
        shutil.copy(SLEEP, folder / "suid")
        (folder / "suid").chmod(0o4755)
        conftest.run_command([
            *NOBODY.split(), tree.gputap, "run", "-o", folder / "c.gputap", "--", past, way,
            folder / "suid", SECONDS
        ])
        shutil.copy(folder / "c.gputap", work)
    finally:
        shutil.rmtree(folder)
    (text,), count = untraced(tap)
    assert text.startswith("suid: it runs with extra privileges (set-user-id") and count == 1


@needs_root
@pytest.mark.parametrize("command", [
    f"{NOBODY} sleep {SECONDS}", f"{NOBODY} sh -c 'sleep {SECONDS}; true'",
    f"unshare -pf --mount-proc {NOBODY} sleep {SECONDS}",
    f"setpriv --euid=65534 sleep {SECONDS}", f"./suid {SECONDS}",
    f"unshare -m sh -c 'mount -t tmpfs none /dev/shm; exec sleep {SECONDS}'"
])
def test_one_that_was_reported_is_counted_once(tree, tap, work, command):
    shutil.copy(SLEEP, work / "suid")
    os.chown(work / "suid", 65534, 65534)
    (work / "suid").chmod(0o4755)
    tree.run("-c", f"{command}; exit 0", program="sh")
    texts, count = untraced(tap)
    assert len(texts) == count == 1
