# SPDX-License-Identifier: MIT
"""Test gt_inject(), which loads a library into a running process, with tests/inject/inject. The
programs check themselves: results, heap, signal masks, lengths of waits."""

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

import conftest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="gt_inject() is implemented for x86-64 only")

WAYS = [
    "poll", "ppoll", "select", "epoll", "nanosleep", "trap-ignored", "semaphore", "semop",
    "sigwait", "receive", "inotify", "wait", "message"
]
PYTHON = """
import threading, time
def work():
    while True:
        sum(i * i for i in range(1000))
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
end = time.monotonic() + 120
while time.monotonic() < end:
    time.sleep(0.01)
"""
NODE = """
setInterval(() => { let s = 0; for (let i = 0; i < 1e5; i++) s += i; }, 1);
console.log('ready');
"""


@pytest.fixture
def start(work):
    """Return a function that starts a program and waits for its line "ready". Programs that still
    run at the end of the test are killed."""
    started = []

    def starter(*command, **options):
        process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True,
                                   env=conftest.clean_environment(), **options)
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield starter
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def victim(start, build):
    """Return a function: victim("mallocs", 8) starts tests/inject/victim."""
    return lambda *words, program="victim", **options: start(build / "tests/inject" / program,
                                                             *words, **options)


@pytest.fixture
def inject(build):
    """Return a function that injects the test's library and returns the line of tests/inject/inject
    as a dict."""
    def injected(pid, function="count", argument="x", options=(), library=None, **how):
        command = [
            build / "tests/inject/inject", *options, str(pid),
            library or build / "tests/inject/libcounted.so", function, argument
        ]
        done = conftest.run_command(command, **how)
        return json.loads(done.out)
    return injected


def finish(process):
    """Ask the program to end, and return what it printed last."""
    process.send_signal(signal.SIGTERM)
    return process.communicate(timeout=conftest.HANGS_SECONDS)[0].strip()


def inject_often(inject, process, count=5):
    """Attaches until @count attaches have succeeded. A busy program may refuse in between."""
    for calls in range(1, count + 1):
        for _ in range(20):
            result = inject(process.pid)
            if result["status"] != -11:
                break
        assert result["status"] == 0, result
        assert result["answer"] == 100 + calls
        assert process.poll() is None
    for tid in map(int, os.listdir(f"/proc/{process.pid}/task")):
        try:
            assert os.sched_getscheduler(tid) == os.SCHED_OTHER
            assert os.getpriority(os.PRIO_PROCESS, tid) == 0
        except ProcessLookupError:
            pass  # a thread that the program has joined


def is_mapped(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        return "libcounted" in f.read()


@pytest.mark.parametrize("words", [
    ("compute", 0), ("compute", 4), ("mallocs", 0), ("mallocs", 8), ("sleepers", 200),
    ("forks",), ("threads",), ("flags",)
], ids=lambda words: "-".join(map(str, words)))
def test_a_program_does_not_notice_that_a_library_was_loaded(victim, inject, words):
    process = victim(*words)
    inject_often(inject, process)
    assert finish(process) == "ok" and process.returncode == 0


def test_a_program_that_blocks_all_signals_keeps_its_mask(victim, inject):
    process = victim("masked")
    inject_often(inject, process, 2)
    assert process.communicate()[0].strip() == "ok"


def test_only_the_library_stays(victim, inject):
    def regions():
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as f:
            return sum(1 for line in f if " 00:00 0 " in line and "r-xp" in line)

    process = victim("mallocs", 0)
    before = regions()
    inject_often(inject, process, 3)
    deadline = time.monotonic() + 60
    while len(os.listdir(f"/proc/{process.pid}/task")) > 1 or regions() != before:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert is_mapped(process.pid)
    assert finish(process) == "ok"


@pytest.mark.parametrize("way", WAYS)
def test_a_wait_is_neither_shortened_nor_interrupted(victim, inject, way):
    process = victim(way)
    result = inject(process.pid)
    assert result["status"] in (0, -11), result
    inject(process.pid)  # now the kernel restarts a call that was restarted before
    assert process.communicate()[0].strip() == "ok", result


@pytest.mark.parametrize("way", ["write", "receive-all"])
def test_a_thread_whose_call_would_return_less_is_not_stopped(victim, inject, way):
    process = victim(way)
    while open(f"/proc/{process.pid}/syscall", encoding="utf-8").read().startswith("running"):
        time.sleep(0.01)
    result = inject(process.pid, options=["-p", "100"])
    assert result["status"] == -11 and result["tries"] == 0
    assert "no thread of process" in result["text"]
    assert process.communicate()[0].strip() == "ok"


def test_a_signal_handler_that_never_returns_is_left_alone(victim, inject):
    process = victim("handler")
    result = inject(process.pid, options=["-p", "300"])
    assert result["status"] == -11 and "signal handlers" in result["text"]
    assert not is_mapped(process.pid)
    assert finish(process) == "ok"


def test_a_program_with_an_allocator_linked_in_is_attached_to_while_it_waits(victim, inject):
    process = victim("mallocs", 2, program="victim_allocator")
    inject_often(inject, process)
    assert finish(process) == "ok"


def test_a_program_with_an_allocator_linked_in_that_never_waits_is_refused(victim, inject):
    process = victim("mallocs", 0, program="victim_allocator")
    result = inject(process.pid, options=["-p", "300"])
    # a busy machine may not stop a thread in time
    assert result["status"] == -11, result
    assert re.search(r"\(the program has its own\)|or for a processor", result["text"]), result
    assert finish(process) == "ok"


def test_python_and_its_threads(start, inject):
    process = start(sys.executable, "-c", PYTHON)
    inject_often(inject, process)


def test_node(start, inject):
    if not shutil.which("node"):
        pytest.skip("needs node: apt install nodejs")
    process = start("node", "-e", NODE)
    inject_often(inject, process)


def test_the_worker_blocks_all_signals(victim, inject):
    assert inject(victim("sleepers", 1).pid, "environment")["answer"] == 1


# Another mount namespace ---------------------------------------------------

def test_a_library_that_the_program_cannot_see_comes_through_memory(start, inject, build, work):
    folder = work / "hidden"
    folder.mkdir()
    library = shutil.copy(build / "tests/inject/libcounted.so", folder)
    script = f"mount -t tmpfs none {folder} && exec {build}/tests/inject/victim sleepers 1"
    try:
        subprocess.run(["unshare", "--mount", "true"], check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to make mount namespaces")
    process = start("unshare", "--mount", "sh", "-c", script)
    result = inject(process.pid, library=library)
    assert (result["status"], result["answer"]) == (0, 101), result
    with open(f"/proc/{process.pid}/maps", encoding="utf-8") as f:
        assert "memfd:libcounted.so" in f.read()
    assert inject(process.pid, library=library)["answer"] == 102  # the same library
    links = [os.readlink(f"/proc/{process.pid}/fd/{n}") for n in os.listdir(
        f"/proc/{process.pid}/fd")]
    assert not any("memfd" in link for link in links)
    assert finish(process) == "ok"


# Failures ------------------------------------------------------------------

def refuses(inject, pid, status, pattern, **how):
    for options in (["-c"], ["-p", "500"]):
        result = inject(pid, options=options, **how)
        assert result["status"] == status, result
        assert re.search(pattern, result["text"]), result
        assert result["tries"] == 0


def test_a_process_that_does_not_exist(inject):
    process = subprocess.Popen(["true"])
    process.wait()
    refuses(inject, process.pid, -3, "there is no process")


def test_a_process_that_has_ended_and_was_not_waited_for(inject):
    process = subprocess.Popen(["true"])
    while " Z " not in open(f"/proc/{process.pid}/stat", encoding="utf-8").read():
        time.sleep(0.01)
    refuses(inject, process.pid, -3, "has ended; its parent")
    process.wait()


def test_a_statically_linked_program(victim, inject):
    process = victim("sleepers", 1, program="victim_static")
    refuses(inject, process.pid, -95, "linked statically.*: link the program dynamically")
    assert finish(process) == "ok"


def test_a_program_of_musl(start, inject, run, work):
    if not shutil.which("musl-gcc"):
        pytest.skip("needs musl's C library: apt install musl-tools")
    (work / "m.c").write_text('#include <stdio.h>\n#include <unistd.h>\n'
                              'int main(void) { puts("ready"); fflush(stdout); sleep(60); }')
    run(["musl-gcc", "m.c", "-o", "m"])
    refuses(inject, start(work / "m").pid, -95, "musl")


def test_a_stopped_process(victim, inject):
    process = victim("sleepers", 1)
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    refuses(inject, process.pid, -16, f"is stopped: resume it with kill -CONT {process.pid}")
    process.send_signal(signal.SIGCONT)
    assert finish(process) == "ok"


def test_a_thread_is_not_a_process(victim, inject):
    process = victim("sleepers", 1)
    thread = max(map(int, os.listdir(f"/proc/{process.pid}/task")))
    refuses(inject, thread, -95, f"is a thread of process {process.pid}")


def test_a_traced_process_names_its_tracer(victim, inject, start, build):
    process = victim("sleepers", 1)
    tracer = start(
        sys.executable, "-c", "import ctypes, sys, time\n"
        "c = ctypes.CDLL(None)\n"
        "assert c.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)", process.pid)
    refuses(inject, process.pid, -16, rf"traced by process {tracer.pid} \(python")
    tracer.kill()
    tracer.wait()
    assert finish(process) == "ok"


def test_a_kernel_thread(inject):
    with open("/proc/2/status", encoding="utf-8") as f:
        if "kthreadd" not in f.read():
            pytest.skip("needs kernel threads in its pid namespace")
    refuses(inject, 2, -95, "thread of the kernel")


def test_another_users_process(victim, inject, build, work):
    if os.geteuid():
        pytest.skip("needs root, to become another user")
    process = victim("sleepers", 1)
    copy = shutil.copy(build / "tests/inject/inject", "/tmp")
    os.chmod(copy, 0o755)
    try:
        done = subprocess.run([copy, "-c", str(process.pid), "/lib/none"], user=65534, group=65534,
                              extra_groups=[], stdout=subprocess.PIPE, check=True, text=True)
    finally:
        os.unlink(copy)
    result = json.loads(done.stdout)
    assert result["status"] == -1 and "belongs to another user (uid 0)" in result["text"]
    assert f"sudo gputap attach {process.pid}" in result["text"]


def test_a_filter_that_ends_the_program_is_respected(victim, inject):
    process = victim("openat", program="filtered")
    result = inject(process.pid)
    assert result["status"] in (-95, -1), result
    assert "seccomp" in result["text"], result
    assert process.poll() is None and not is_mapped(process.pid)


def test_a_filter_that_allows_everything_is_no_obstacle(victim, inject):
    process = victim("harmless", program="filtered")
    result = inject(process.pid)
    if result["status"] == -1:
        pytest.skip("needs the right to read filters of system calls")
    assert (result["status"], result["answer"]) == (0, 101), result
    assert process.poll() is None


def test_the_strict_mode_of_seccomp(victim, inject):
    process = victim("strict", program="filtered", stdin=subprocess.PIPE)
    while "Seccomp:\t1" not in open(f"/proc/{process.pid}/status", encoding="utf-8").read():
        time.sleep(0.01)
    refuses(inject, process.pid, -95, "strict mode")
    process.stdin.close()
    assert process.wait() == 0  # its last system call is exit()


def test_a_library_that_cannot_be_loaded_says_why(victim, inject, work):
    library = work / "libbroken.so"
    library.write_bytes(b"no library")
    process = victim("sleepers", 1)
    result = inject(process.pid, library=library)
    assert result["status"] == -80 and "libbroken.so: " in result["text"], result
    assert inject(process.pid, "none")["text"].endswith("has no function none")
    assert inject(process.pid, library=work / "none.so")["status"] == -2
    assert finish(process) == "ok"


def test_a_function_that_does_not_return_is_named(victim, inject):
    process = victim("sleepers", 1)
    result = inject(process.pid, "linger", "3", options=["-a", "200"])
    assert result["status"] == -110, result
    assert re.search(r"thread \d+ \(gputap-attach\) of process \d+ is still in linger after .*"
                     "in the system call clock_nanosleep", result["text"]), result
    assert inject(process.pid, "linger", "0")["answer"] == 7  # another worker
    assert finish(process) == "ok"


@pytest.mark.parametrize("way", ["execs", "ends"])
def test_a_process_that_ends_or_calls_exec_meanwhile_is_named(victim, inject, way):
    for _ in range(3):
        process = victim(way)
        result = inject(process.pid, "linger", "1")
        assert result["status"] in (0, -3), result
        if result["status"]:
            assert re.search("has ended|there is no process|has called exec", result["text"])
        process.kill()


def test_a_process_that_is_killed_meanwhile_is_named(victim, inject, build):
    process = victim("sleepers", 1)
    injector = subprocess.Popen([
        build / "tests/inject/inject", str(process.pid), build / "tests/inject/libcounted.so",
        "linger", "60"
    ], stdout=subprocess.PIPE, text=True)
    while not is_mapped(process.pid):
        time.sleep(0.01)
    process.kill()
    process.wait()
    result = json.loads(injector.communicate()[0])
    assert result["status"] == -3 and "has ended meanwhile" in result["text"]


def test_a_process_whose_first_thread_has_ended(start, inject):
    process = start(
        sys.executable, "-c", "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "print('ready', flush=True)\n"
        "ctypes.CDLL(None).syscall(60, 0)")
    while " Z " not in open(f"/proc/{process.pid}/stat", encoding="utf-8").read():
        time.sleep(0.01)
    refuses(inject, process.pid, -95, "the first thread of process")
