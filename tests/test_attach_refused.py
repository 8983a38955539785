# SPDX-License-Identifier: MIT
"""Test gputap attach on programs that it cannot attach to, or that live in other namespaces. A
program that is refused stays as it was, and the sentence names a way out."""
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import time

import pytest

import conftest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="programs on x86-64 only can be attached to")


@pytest.fixture
def start(work):
    """Return a function that starts a program and waits for its line "ready"."""
    started = []

    def starter(*command, **options):
        process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True,
                                   env=conftest.clean_environment(), start_new_session=True,
                                   **options)
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield starter
    for process in started:
        if process.poll() is None:
            conftest.end_group(process)
        process.stdout.close()


@pytest.fixture
def victim(build):
    return build / "tests/inject/victim"


def read_state(pid):
    """Return what an attach could change: mappings, threads, descriptors, signals."""
    folder = pathlib.Path(f"/proc/{pid}")
    status = [line for line in (folder / "status").read_text(encoding="utf-8").splitlines()
              if line.startswith(("SigB", "SigC", "SigI", "SigP", "Threads", "Tracer", "Secc"))]
    maps = [line.split()[-1] for line in (folder / "maps").read_text(encoding="utf-8").splitlines()]
    return status, maps, sorted(os.listdir(folder / "fd"))


def refuse(tap, pid, *sentences):
    before = read_state(pid)
    result = tap("attach", "-o", "x.gputap", str(pid), status=126)
    for sentence in sentences:
        assert sentence in result.err, result.err
    assert read_state(pid) == before
    assert not os.path.exists("x.gputap")


def find_child(pid):
    """Return the only child of a process."""
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return int(path.read_text(encoding="utf-8"))


def finish(process, pid=None):
    os.kill(pid or process.pid, signal.SIGTERM)
    assert process.communicate(timeout=conftest.HANGS_SECONDS)[0] == "ok\n"
    assert process.returncode == 0


@pytest.mark.parametrize("way, sentences", [
    ("readv", ["forbids process_vm_readv()", "allow the call in the filter"]),
    ("thread", ["have different filters of system calls", "gputap run"]),
])
def test_filters_that_could_end_the_program_are_respected(tap, start, build, way, sentences):
    process = start(build / "tests/inject/filtered", way)
    if os.geteuid() and way == "readv":
        sentences = ["that only root may read", "sudo gputap attach"]
    status = pathlib.Path(f"/proc/{process.pid}/status")
    while "Seccomp:\t2" not in status.read_text(encoding="utf-8"):
        time.sleep(0.01)
    refuse(tap, process.pid, *sentences)
    assert process.poll() is None


def test_a_32_bit_program(tap, start, work):
    (work / "small.c").write_text('#include <stdio.h>\n#include <unistd.h>\n'
                                  'int main(void) { puts("ready"); fflush(stdout); sleep(600); }')
    if subprocess.run(["cc", "-m32", "small.c", "-o", "small"], check=False,
                      capture_output=True).returncode:
        pytest.skip("needs a 32-bit C library: apt install gcc-multilib")
    refuse(tap, start(work / "small").pid, "is a 32-bit program", "use a 64-bit build")


def test_a_root_folder_without_room_for_the_session(tap, start, work, victim):
    if os.geteuid():
        pytest.skip("needs root, to change the root folder")
    for library in ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6",
                    "/lib/x86_64-linux-gnu/libm.so.6"):
        if not os.path.exists(library):
            pytest.skip("needs the C library in Debian's folders")
        (work / "root" / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, work / "root" / library[1:])
    shutil.copy(victim, work / "root/victim")
    process = start("chroot", work / "root", "/victim", "sleepers", "2")
    root = os.path.join(f"/proc/{process.pid}", "root")
    refuse(tap, process.pid, f"mount a tmpfs on {root}/dev/shm", f"create {root}/tmp")
    (work / "root/tmp").mkdir()
    refuse(tap, process.pid, "libgputap.so.0 nor /proc", f"{root}/proc")
    assert os.listdir(work / "root/tmp") == []
    finish(process)


@pytest.mark.parametrize("options", [
    ["--mount"], ["--user", "--map-root-user"], ["--pid", "--fork", "--mount-proc"]
], ids=lambda options: options[0][2:])
def test_another_namespace_is_no_obstacle(tap, start, victim, options):
    if subprocess.run(["unshare", *options, "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs the right to make namespaces")
    command = [victim, "sleepers", "2"]
    if options == ["--mount"]:
        command = ["sh", "-c", f"mount -t tmpfs none /dev/shm && exec {victim} sleepers 2"]
    process = start("unshare", *options, *command)
    pid = find_child(process.pid) if "--fork" in options else process.pid
    tap("attach", "-o", "x.gputap", "--duration", "100ms", str(pid))
    assert len(json.loads(tap("info", "--json", "x.gputap").out)["processes"]) == 1
    finish(process, pid)


def test_a_session_whose_gputap_was_killed_names_recover(tap, gputap, start, victim, work):
    process = start(victim, "sleepers", "2")
    with subprocess.Popen([gputap, "attach", "-o", "w.gputap", str(process.pid)], text=True,
                          stderr=subprocess.PIPE, env=conftest.clean_environment()) as attach:
        assert "attached to" in attach.stderr.readline()
        attach.kill()
    result = tap("attach", "-o", "x.gputap", str(process.pid), status=126)
    assert "'gputap recover' ends one whose gputap was killed" in result.err
    folders = [line.split()[0] for line in tap("recover").out.splitlines()
               if str(work / "w.gputap") in line]
    tap("recover", *folders)
    while len(os.listdir(f"/proc/{process.pid}/task")) > 3:  # gputap's thread ends
        time.sleep(0.01)
    tap("attach", "-o", "x.gputap", "--duration", "100ms", str(process.pid))
    finish(process)


def test_a_program_survives_when_gputap_is_killed_meanwhile(tap, gputap, start, victim, work):
    process = start(victim, "compute", "2")
    for i in range(30):
        with subprocess.Popen([gputap, "attach", "-f", "-o", "w.gputap", str(process.pid)],
                              stderr=subprocess.DEVNULL, env=conftest.clean_environment(),
                              start_new_session=True) as attach:
            time.sleep(i * 0.0004)
            os.killpg(attach.pid, signal.SIGKILL)
    folders = [line.split()[0] for line in tap("recover").out.splitlines()
               if str(work / "w.gputap") in line]
    for folder in folders:  # most have no capture yet
        shutil.rmtree(folder)
    finish(process)
