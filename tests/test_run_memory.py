# SPDX-License-Identifier: MIT
"""Test the memory and address space that the rings use. Limits of control groups and processes
affect the program as they do without gputap."""

import os
import pathlib
import re
import signal
import tempfile

import pytest

import conftest
from processes import Tree, child_of, finish, sessions_of, wait_until

MIB = 1 << 20
GROUPS = pathlib.Path("/sys/fs/cgroup")


@pytest.fixture
def tree(build, work):
    return Tree(build)


@pytest.fixture
def group():
    """Create a control group with 150 MiB of memory."""
    is_v1 = (GROUPS / "memory").is_dir()
    try:
        folder = pathlib.Path(
            tempfile.mkdtemp(prefix="gputap-test-", dir=GROUPS / "memory" if is_v1 else GROUPS))
        (folder / ("memory.limit_in_bytes" if is_v1 else "memory.max")).write_text(str(150 * MIB))
    except OSError:
        pytest.skip("needs root and a memory controller to make a control group")
    yield folder
    folder.rmdir()


def run_in(group, command, status):
    """Run a command in the group, without swap."""
    return conftest.run_command(
        ["sh", "-c", f"echo $$ >{group}/cgroup.procs; exec \"$@\"", "sh", *command], status=status)


def test_a_program_under_a_memory_limit_is_not_killed_for_our_rings(tree, group):
    """The collector is stopped, so the rings grow to their maximum size."""
    command = [
        tree.gputap, "run", "-o", "c.gputap", "--", tree.caller, "freeze", "calls:6000000", "thaw",
        "exit:5"
    ]
    run_in(group, command, 5)
    (process,) = tree.read()["processes"]
    assert process["count_calls"]["seen"] == 6000001


def test_many_processes_together_stay_within_a_memory_limit(tree, group):
    command = [
        tree.gputap, "run", "-o", "c.gputap", "--", tree.caller, *["fork"] * 4, "calls:1000000",
        "exit:5"
    ]
    run_in(group, command, 5)
    found = tree.read()
    assert len(found["processes"]) == 16
    assert sum(p["count_calls"]["seen"] for p in found["processes"]) == 16 * 1000001


def compiled(run, work, source):
    (work / "program.c").write_text(source)
    run(["gcc", "-o", "program", "program.c"])
    return work / "program"


def test_a_limit_of_address_space_is_left_to_the_program(run, gputap, work):
    program = compiled(
        run,
        work,
        """
        #include <stdlib.h>
        #include <string.h>
        int main(void)
        {
            char *p = malloc(700 << 20);
            if (!p) return 9;
            memset(p, 1, 1 << 20);
            return 3;
        }
    """,
    )
    limit = f"--as={900 * MIB}"
    run(["prlimit", limit, program], status=3)
    run(["prlimit", limit, gputap, "run", "-q", "-o", "c.gputap", "--", program], status=3)


def test_mlockall_does_not_make_all_rings_resident(run, gputap, work):
    if os.geteuid() != 0:
        pytest.skip("needs root to lock memory")
    program = compiled(
        run,
        work,
        """
        #include <stdio.h>
        #include <string.h>
        #include <sys/mman.h>
        int main(void)
        {
            char line[256];
            FILE *f;
            if (mlockall(MCL_CURRENT | MCL_FUTURE)) return 9;
            f = fopen("/proc/self/status", "r");
            while (fgets(line, sizeof line, f))
                if (!strncmp(line, "RssShmem", 8)) fputs(line, stdout);
            return 3;
        }
    """,
    )
    shown = run([gputap, "run", "-q", "-o", "c.gputap", "--", program], status=3).out
    assert int(re.search(r"(\d+) kB", shown).group(1)) < 4096


def test_memory_of_an_idle_ring_comes_back(tree, work):
    process = tree.start("freeze", "calls:600000", "thaw", "sleep:3600000")

    def ring_bytes():
        return sum(
            f.stat().st_blocks * 512 for s in sessions_of("c.gputap") for f in s.glob("*.gpuring"))

    wait_until(lambda: ring_bytes() > 20 * MIB, "the pool to grow")
    wait_until(lambda: ring_bytes() < 6 * MIB, "the collector to give it back")
    os.kill(child_of(process), signal.SIGTERM)
    finish(process)
    (found,) = tree.read()["processes"]
    # while no process reads, the pool stays at the size that the machine's memory allowed at the
    # start
    assert found["count_calls"]["seen"] == 600001


@pytest.mark.parametrize(
    "limits", [["--data=300000000"], ["--stack=65536"], ["--memlock=65536"], ["--nofile=24"],
               ["--fsize=4194304"], ["--as=600000000", "--stack=262144", "--nofile=32"]],
    ids=" ".join)
def test_a_program_under_small_limits_is_traced_and_the_counts_hold(tree, limits):
    conftest.run_command([
        tree.gputap, "run", "-o", "c.gputap", "--", "prlimit", *limits, tree.caller, "calls:20000",
        "fork", "calls:500", "exit:5"
    ],
                         status=5)
    found = tree.read()
    assert sum(p["count_calls"]["seen"] for p in found["processes"]) >= 20001


def test_gputap_itself_runs_on_a_stack_of_64_kib(tree):
    conftest.run_command([
        "prlimit", "--stack=65536", tree.gputap, "run", "-o", "c.gputap", "--", tree.caller,
        "calls:10"
    ])
    assert [calls for _, calls in tree.calls()] == [11]


HELPER = """
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static __thread char big[400000];
int main(void)
{
    cl_platform_id p; cl_device_id d; cl_int e; int found = 0; char name[64], path[300];
    cl_queue_properties on[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    big[1] = 1;
    clGetPlatformIDs(1, &p, 0); clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, 0);
    cl_context c = clCreateContext(0, 1, &d, 0, 0, &e);
    cl_command_queue q = clCreateCommandQueueWithProperties(c, d, on, &e);
    cl_mem m = clCreateBuffer(c, 0, 4096, 0, &e);
    clEnqueueFillBuffer(q, m, "x", 1, 0, 4096, 0, 0, 0); clFinish(q);
    for (int tries = 0; tries < 6000 && !found; tries++, usleep(10000)) {
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *t; (t = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", t->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(name, sizeof name, f) && !strcmp(name, "gputap\\n")) found = 1;
        if (f) fclose(f);
    }
    closedir(tasks);
    }
    return found ? 3 : 4;
}
"""


def test_much_static_thread_local_storage_leaves_the_helper_its_stack(run, tap, work):
    (work / "program.c").write_text(HELPER)
    run(["gcc", "-w", "-o", "program", "program.c", "-lOpenCL"])
    tap("run", "-q", "-o", "c.gputap", "--", "./program", status=3)
