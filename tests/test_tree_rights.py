# SPDX-License-Identifier: MIT
"""Test programs of the tree that run with other rights or in another namespace than the session.
They are traced, or named and counted as not traced."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import conftest
from processes import Tree

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs root to give up rights")

DENIED = "as user 65534 it cannot reach the session's folder: Permission denied"
GONE = "it cannot reach the session's folder: No such file or directory"
NOBODY = "--reuid=65534 --regid=65534 --clear-groups"
AS_NOBODY = """python3 -c 'import os
from ctypes import CDLL, c_char_p, c_void_p
c = CDLL(None)
c.popen.restype, c.pclose.argtypes = c_void_p, [c_void_p]
os.setuid(65534)
"""
EXECVE = {"x86_64": 59, "aarch64": 221}[os.uname().machine]

# way: (command that starts a program outside the session's reach, name of the program, reason)
WAYS = {
    "setpriv": (f"setpriv {NOBODY} true", "true", DENIED),
    "no new privileges": (f"setpriv --no-new-privs {NOBODY} true", "true", DENIED),
    "runuser": ("runuser -u nobody -- true", "true", DENIED),
    "su": ("su -s /bin/sh nobody -c true", "sh", DENIED),
    "python": ("python3 -c 'import os; os.setuid(65534); os.execv(\"/bin/true\", [\"true\"])'",
               "true", DENIED),
    "python's subprocess": (
        "python3 -c 'import subprocess; subprocess.run([\"true\"], user=65534)'", "true", DENIED),
    "system()": ("python3 -c 'import os; os.setuid(65534); os.system(\"true\")'", "sh", DENIED),
    "popen()": (AS_NOBODY + "c.pclose(c.popen(b\"true\", b\"r\"))'", "sh", DENIED),
    "the system call execve": (
        AS_NOBODY + f"c.syscall({EXECVE}, b\"/bin/true\", (c_char_p * 2)(b\"true\"), None)'",
        "true", DENIED),
    "effective ids": ("setpriv --euid=65534 true", "true",
                      "its effective and real ids differ, so the dynamic linker does not preload "
                      "gputap"),
    "mount namespace": ("unshare -m sh -c 'mount -t tmpfs none /dev/shm; exec true'", "true", GONE),
    "root folder": ("mkdir root; unshare -m sh -c 'mount --bind / root; exec chroot root true'",
                    "true", GONE),
    "read-only": ("unshare -m sh -c 'mount -o bind,ro /dev/shm /dev/shm; exec true'", "true",
                  "it cannot reach the session's folder: Read-only file system"),
}


@pytest.fixture
def tree(build, work):
    return Tree(build)


def said(tap):
    """Return the reasons why the capture is not complete (from info), and the number of processes
    not traced (from report)."""
    found, report = (json.loads(tap(command, "c.gputap", "--json").out)
                     for command in ("info", "report"))
    assert found["complete"] is report["complete"] is (not report["files"][0]["untraced"])
    return found["why_not_complete"], report["files"][0]["untraced"]


def programs(tap):
    return [
        os.path.basename(p["exe"])
        for p in json.loads(tap("info", "c.gputap", "--json").out)["processes"]
    ]


@pytest.mark.parametrize("command, name, why", WAYS.values(), ids=WAYS)
def test_a_program_that_cannot_reach_the_session_is_named_and_counted(tree, tap, command, name,
                                                                      why):
    result = tree.run("-c", command, program="sh", options=["-q"])
    assert " ".join(result.err.split()) == f"gputap: 1 process not traced: {name} ({why})"
    (reason,), count = said(tap)
    assert count == 1 and reason.endswith(f"{name}: {why}")


def test_beside_calls_the_headline_says_so(tree, tap):
    result = tree.run(
        "-c",
        f"{tree.caller} calls:5 exit:0; setpriv {NOBODY} true; setpriv {NOBODY} true; setpriv"
        f" {NOBODY} true",
        program="sh",
    )
    sentence = f"3 processes not traced: true ({DENIED})"
    words = " ".join(result.err.split())
    assert f"6 records, nothing lost in traced processes {sentence} time share" in words
    assert sentence in " ".join(tap("report", "--all", "c.gputap").out.split())
    assert said(tap)[1] == 3


def test_more_than_have_a_place_are_counted(tree, tap):
    tree.run("-c",
             "import subprocess\nfor _ in range(40): subprocess.run(['true'], user=65534)",
             program="python3")
    assert said(tap)[1] == 40


def test_a_forks_child_that_cannot_reach_the_session_is_named(tree, tap, build):
    tree.run("setuid", "fork", program=build / "tests/core/hostile")
    (reason,), count = said(tap)
    assert count == 1 and reason.endswith(f"tests/core/hostile: {DENIED}")


@pytest.mark.parametrize("way", ["system", "popen"])
def test_a_shell_that_gets_an_environment_without_us_is_named_and_counted(tree, tap, build, way):
    """libc executes the shell with the environment that the program has cleared."""
    program = build / "tests/core/exec_ways"
    result = tree.run(way, "exit 3", program=program, options=["-q"], status=3)
    why = "system() or popen() started it with an environment that the program had cleared"
    assert " ".join(result.err.split()) == f"gputap: 1 process not traced: sh ({why})"
    assert said(tap)[1] == 1


@pytest.mark.parametrize("way", ["system", "popen"])
def test_a_shell_that_a_program_starts_by_libc_is_traced(tree, tap, way):
    program = {"system": "c.system(b'true')", "popen": "c.pclose(c.popen(b'true', b'r'))"}[way]
    tree.run("-c",
             "from ctypes import CDLL, c_void_p\nc = CDLL(None)\n"
             "c.popen.restype, c.pclose.argtypes = c_void_p, [c_void_p]\n" + program,
             program="python3")
    assert said(tap) == ([], 0)
    assert {"dash", "sh", "bash"} & set(programs(tap))


@pytest.mark.parametrize("command",
                         [f"setpriv {NOBODY} /no/such/program", f"setpriv {NOBODY} /etc/passwd"])
def test_a_program_that_was_not_begun_is_not_counted(tree, tap, command):
    tree.run("-c", f"{command}; exit 3", program="sh", status=3)
    assert said(tap) == ([], 0)


@pytest.mark.parametrize("command", [
    "setpriv --bounding-set=-all true", "unshare -m true", "unshare -Ur true", "unshare -pf true",
    "setpriv --no-new-privs true", "unshare -n true"
])
def test_a_program_with_fewer_rights_that_reaches_the_session_is_traced(tree, tap, command):
    if subprocess.run(command, shell=True, stderr=subprocess.DEVNULL).returncode:
        pytest.skip(f"needs to be allowed this: {command}")  # e.g. a user namespace in a chroot
    tree.run("-c", command, program="sh")
    assert said(tap) == ([], 0)
    assert "true" in programs(tap)


def test_a_set_user_id_program_that_is_granted_nothing_is_traced(tree, tap, work):
    program = work / "suid"
    shutil.copy(shutil.which("true"), program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    tree.run("-c", f"setpriv --no-new-privs {program}", program="sh")
    assert said(tap) == ([], 0)
    assert "suid" in programs(tap)
    tree.run("-c", f"{program}; exit", program="sh", capture="d.gputap")
    assert "1 process not traced: suid (it gains privileges" in " ".join(
        tap("report", "--all", "d.gputap").out.split())


def test_the_first_program_that_gains_privileges_is_named_and_counted(tree, tap, work):
    program = work / "suid"
    shutil.copy(shutil.which("true"), program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    why = "it runs with extra privileges"
    result = tree.run(program=program)
    assert f"suid cannot be traced because {why}" in " ".join(result.err.split())
    assert "1 process not traced" not in result.err
    (reason,), count = said(tap)
    assert count == 1 and f"suid: {why}" in reason
    result = tree.run(program=program, options=["-q"], capture="d.gputap")
    assert " ".join(result.err.split()).startswith(f"gputap: 1 process not traced: suid ({why}")


@pytest.fixture
def capable(build, monkeypatch):
    """Return a function that makes a program file with capabilities. The file is in a folder that
    all users can reach, which becomes the test's current folder."""
    if not shutil.which("setcap"):
        pytest.skip("needs setcap")
    if subprocess.run(["setpriv", *NOBODY.split(), "test", "-r",
                       build / "libgputap.so.0"]).returncode:
        pytest.skip("needs a build folder that everybody reaches")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gputap-test-"))
    folder.chmod(0o777)
    monkeypatch.chdir(folder)

    def make(capabilities):
        shutil.copy(shutil.which("true"), folder / "capable")
        if subprocess.run(["setcap", capabilities, folder / "capable"]).returncode:
            pytest.skip("needs a file system that keeps capabilities")
        return folder / "capable"

    yield make
    shutil.rmtree(folder)


def run_as_nobody(build, command):
    words = [
        "setpriv", *NOBODY.split(), build / "gputap", "run", "-q", "-o", "c.gputap", "--", "sh",
        "-c", f"{command}; exit 3"
    ]
    return conftest.run_command(words, status=3)


@pytest.mark.parametrize("before", ["", "setpriv --no-new-privs "],
                         ids=["granted", "no new privileges"])
def test_a_program_whose_file_has_capabilities_is_named_and_counted(build, tap, capable, before):
    """The dynamic linker ignores our libraries even if the kernel grants no privileges."""
    result = run_as_nobody(build, before + str(capable("cap_net_raw+ep")))
    why = "it gains privileges (set-user-ID, set-group-ID or file capabilities)"
    assert " ".join(result.err.split()) == f"gputap: 1 process not traced: capable ({why})"
    (reason,), count = said(tap)
    assert count == 1 and reason.endswith(f"capable: {why}")


@pytest.mark.parametrize("capabilities, before", [("cap_net_raw+p", "setpriv --no-new-privs "),
                                                  ("cap_net_raw+i", "")])
def test_a_program_whose_capabilities_change_nothing_is_traced(build, tap, capable, capabilities,
                                                               before):
    run_as_nobody(build, before + str(capable(capabilities)))
    assert said(tap) == ([], 0)
    assert "capable" in programs(tap)


def test_a_program_with_capabilities_that_root_executes_is_traced(tree, tap, capable):
    tree.run("-c", f"{capable('cap_net_raw+ep')}; exit 3", program="sh", status=3)
    assert said(tap) == ([], 0)
    assert "capable" in programs(tap)
