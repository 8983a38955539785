# SPDX-License-Identifier: MIT
"""Test rank variables that a process sets after its start, as functions under
torch.multiprocessing.spawn do."""

import json
import sys

import pytest

from processes import Tree

PROGRAM = """
import ctypes
import multiprocessing
import os


def call():
    number = ctypes.c_uint()
    ctypes.CDLL("libOpenCL.so.1").clGetPlatformIDs(0, None, ctypes.byref(number))


def work(rank, order):
    for step in order:
        if step == "c":
            call()
        else:
            os.environ["WORLD_SIZE"] = "2"
            os.environ["RANK"] = str(rank)
            os.environ["LOCAL_RANK"] = str(rank)


if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    if "{order}"[0] == "p":
        call()
    processes = [context.Process(target=work, args=(rank, "{order}")) for rank in range(2)]
    for p in processes:
        p.start()
    for p in processes:
        p.join()
"""


def find_ranks(tap, capture="c.gputap"):
    """Return the rank of each process that made calls, if the process has a rank."""
    found = json.loads(tap("info", capture, "--json").out)
    return sorted(p["rank"] for p in found["processes"]
                  if p["seen"] and p.get("rank") is not None)


@pytest.mark.parametrize("order", ["sc", "cs", "csc", "psc", "pcs"])
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_rank_that_a_function_of_multiprocessing_sets_is_seen(build, work, tap, method, order):
    """Letters of @order: c makes an OpenCL call, s sets the variables, p makes a call in the parent
    first."""
    (work / "program.py").write_text(PROGRAM.format(method=method, order=order))
    Tree(build).run(work / "program.py", program=sys.executable, options=["-q"])
    assert find_ranks(tap) == [0, 1]


@pytest.mark.parametrize("way", ["setenv", "putenv"])
def test_a_rank_that_a_program_sets_is_seen_whichever_function_it_uses(build, work, run, tap, way):
    (work / "program.c").write_text("""
        #include <CL/cl.h>
        #include <stdlib.h>
        #include <string.h>
        int main(int argc, char **argv)
        {
            static char text[] = "RANK=7";
            cl_uint n;
            clGetPlatformIDs(0, NULL, &n);
            setenv("WORLD_SIZE", "9", 1);
            if (strcmp(argv[1], "putenv") ? setenv("RANK", "7", 0) : putenv(text)) return 1;
            if (setenv("RANK", "8", 0) || setenv("RANKS", "5", 1) || setenv("", "1", 1) == 0)
                return 2;
            return strcmp(getenv("RANK"), "7") || strcmp(getenv("WORLD_SIZE"), "9");
        }
    """)
    run(["gcc", "-w", "-DCL_TARGET_OPENCL_VERSION=120", "-o", "program", "program.c", "-lOpenCL"])
    Tree(build).run(way, program=work / "program", options=["-q"])
    assert find_ranks(tap) == [7]


def test_the_innermost_launchers_rank_counts_whenever_it_is_set(build, work, run, tap):
    (work / "program.c").write_text("""
        #include <CL/cl.h>
        #include <stdlib.h>
        int main(void)
        {
            cl_uint n;
            return clGetPlatformIDs(0, NULL, &n) || setenv("RANK", "3", 1) ||
                   setenv("SLURM_PROCID", "5", 1);
        }
    """)
    run(["gcc", "-w", "-DCL_TARGET_OPENCL_VERSION=120", "-o", "program", "program.c", "-lOpenCL"])
    Tree(build).run(program=work / "program", options=["-q"], env={"SLURM_PROCID": "4"})
    assert find_ranks(tap) == [3]
