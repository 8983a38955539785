# SPDX-License-Identifier: MIT
"""Run the commands of docs/start/ and docs/tutorials/, and check the results that the pages
promise."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import mpi_jobs
import pytest
from test_recipes import commands_of
from test_torch_backend import backend  # noqa: F401  a fixture

pytestmark = pytest.mark.usefixtures("work")


@pytest.fixture
def tree(work, repo, build, gputap):
    """Make the current folder look like a source tree with a build, and put gputap into PATH."""
    (work / "bin").mkdir()
    (work / "bin/gputap").symlink_to(gputap)
    (work / "examples").symlink_to(repo / "examples")
    (work / "build").symlink_to(build)
    return {"PATH": f"{work}/bin:{os.environ['PATH']}"}


def run_lines(lines, env, run):
    """Run each command, which must succeed. Return the commands with the output of all programs."""
    said = ""
    for line in lines:
        result = run(["bash", "-c", line], env=env)
        assert "matches no record" not in result.err, result
        said += f"$ {line}\n{result.out}{result.err}"
    return said


def test_the_first_trace_finds_the_slow_step(tree, run, build):
    if not (build / "examples/steps").exists():
        pytest.skip("needs the examples, which are built where OpenCL's loader is")
    lines = [line for part in commands_of("start/first-trace.md").values() for line in part
             if "train" not in line]
    assert len(lines) == 7
    said = run_lines(lines, tree, run)
    assert re.search(r"sleeping: load", said)
    assert re.search(r"\+[23]\d(\.\d)? ms .* x\d.* load$", said, re.M)
    assert os.path.getsize("steps.pftrace") > 1000 and os.path.getsize("steps.html") > 10000


def test_the_torch_tutorial_finds_both_mistakes(tree, run, torch_python, tap,
                                                backend):  # noqa: F811
    pathlib.Path("bin/python").write_text(f'#!/bin/sh\nexec {torch_python} "$@"\n')
    os.chmod("bin/python", 0o755)
    env = {**tree, **backend, "GPUTAP_QUIET": ""}
    lines = [line for part in commands_of("tutorials/slow-torch-step.md").values()
             for line in part if "before" not in line]
    assert len(lines) == 6
    said = run_lines(lines, env, run)
    # the states of the thread in `load`
    assert re.search(r"(on the host|outside any call|a processor|sleeping|for what): (.*, )?load "
                     r"\d\d", said)
    waits = {}
    for part in ("slow", "fast"):
        found = json.loads(tap("report", f"{part}.gputap", "--where", "range=log", "--json").out)
        waits[part] = {row["name"]: row["calls"] for row in found["operations"]}
    assert waits["slow"]["refdevStreamSynchronize"] == 28 * 7  # 1 loss + 6 parameters
    assert waits["fast"]["refdevStreamSynchronize"] == 3 * 2
    assert "aten::item" in said


PROGRAMS = {"openmpi": "mpi_hip", "mpich": "mpi_hip.mpich"}


def build_jobs(repo, build):
    """Build the program for each installed MPI. Return the names of these MPIs."""
    roctx = build / "src/compat/roctx"
    found = [kind for kind in PROGRAMS if mpi_jobs.library_of(kind)]
    os.mkdir("lib")
    for kind in found:
        os.symlink(mpi_jobs.library_of(kind), f"lib/lib{kind}.so")
        subprocess.run(
            ["hipcc", "--offload-arch=gfx906", "-O2", *mpi_jobs.KINDS[kind][3],
             f"-I{repo}/tests/mpi/include", f"-I{repo}/include/compat", "examples/mpi_hip.hip",
             "-o", PROGRAMS[kind], "-Llib", f"-l{kind}", f"-L{roctx}", "-lroctx64",
             f"-Wl,-rpath,{roctx}"],
            check=True)
    return found


@pytest.mark.deep
def test_the_hip_tutorial_finds_the_slow_rank_of_an_mpi_job(tree, run, repo, build, softgpu,
                                                            tap):
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    found = build_jobs(repo, build)
    if "openmpi" not in found:
        pytest.skip("needs Open MPI: apt install openmpi-bin")
    pathlib.Path("durations").write_text("diffuse* 20000\n")
    env = {**tree, "HWLOC_COMPONENTS": "-opencl", "OMPI_ALLOW_RUN_AS_ROOT": "1",
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": os.getcwd()}
    lines = [line.replace("mpirun --oversubscribe",
                          " ".join(mpi_jobs.launcher("openmpi", "")[:-2]))
             for part in commands_of("tutorials/mpi-slurm-hip.md").values() for line in part
             if "job.1" not in line and ("mpich" in found or "mpich" not in line)]
    said = run_lines(lines, env, run)
    # the slowest rank is not checked, because the machine influences it too
    for folder in ("job", "mpich") if "mpich" in found else ("job",):
        captures = [f"{folder}/{rank}.gputap" for rank in range(4)]
        ranks = tap("report", *captures, "-t", "ranks").out
        assert re.search(r"Ranks: rank \d on \S+ made others wait longest", ranks), ranks
        kernels = tap("report", *captures, "--by", "rank", "-t", "kernels").out
        counts = {rank: count for count, rank in re.findall(r"(?m)%  +(\d+)  .* (\d)$", kernels)}
        assert counts == {"0": "40", "1": "40", "2": "40", "3": "100"}, kernels
    assert re.search(r"-60\.\d%.*\b3  GPU activities", said), said
    assert os.path.getsize("job.pftrace") > 10000
