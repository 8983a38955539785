# SPDX-License-Identifier: MIT
"""Test MPI calls with MPICH and Open MPI, and the rank of each process of a job."""
import collections
import csv
import json

import mpi_jobs
import pytest

RANKS, STEPS = 4, 5


@pytest.fixture(params=sorted(mpi_jobs.KINDS))
def kind(request):
    if not mpi_jobs.library_of(request.param):
        package = {"mpich": "mpich", "openmpi": "openmpi-bin"}[request.param]
        pytest.skip(f"needs {mpi_jobs.KINDS[request.param][0]}: apt install {package}")
    return request.param


@pytest.fixture
def job(tap, work, kind):
    """Return one capture of a whole job, including its launcher."""
    program = mpi_jobs.build(kind, work, "steps")
    tap("run", "-q", "-o", "job.gputap", *mpi_jobs.launcher(kind, RANKS), program, STEPS, 2, 5,
        env={"TMPDIR": str(work)})
    return "job.gputap"


def report(tap, *words):
    return json.loads(tap("report", *words, "--json").out)


def operations(tap, *words):
    """Return {name: {rank: calls}}."""
    found = collections.defaultdict(dict)
    for row in report(tap, *words, "-t", "operations", "--by", "rank,name", "-n", "0",
                      "--where", "domain=mpi")["operations"]:
        found[row["name"]][row["rank"]] = row["calls"]
    return dict(found)


def test_each_rank_of_one_capture_is_told_from_its_own_environment(tap, job):
    found = operations(tap, job)
    assert found["MPI_Init"] == found["MPI_Finalize"] == dict.fromkeys(range(RANKS), 1)
    # one barrier per step uses the PMPI name, which Open MPI's Fortran functions call
    assert found["MPI_Barrier"] == dict.fromkeys(range(RANKS), 2 * STEPS)
    assert found["MPI_Allreduce"] == found["MPI_Bcast"] == dict.fromkeys(range(RANKS), STEPS)
    assert found["MPI_Comm_split"] == found["MPI_Irecv"] == dict.fromkeys(range(RANKS), 1)


def test_info_says_rank_size_and_launcher_of_each_process(tap, job, kind):
    found = json.loads(tap("info", job, "--json").out)["processes"]
    ranks = {p["rank"]: p for p in found if p["rank"] is not None}
    assert sorted(ranks) == list(range(RANKS)) and len(ranks) < len(found)  # plus the launcher
    for rank, process in ranks.items():
        assert (process["world_size"], process["local_rank"], process["local_size"]) == (
            RANKS, rank, RANKS)
        assert process["launcher"] == {"mpich": "PMI", "openmpi": "Open MPI"}[kind]


def test_a_capture_of_each_rank_is_the_same(tap, work, kind, gputap, run):
    program = mpi_jobs.build(kind, work, "steps")
    run([*mpi_jobs.launcher(kind, 2), gputap, "run", "-q", "-o", "r%r.gputap", program, STEPS],
        env={"TMPDIR": str(work)})
    found = operations(tap, "r0.gputap", "r1.gputap")
    assert found["MPI_Barrier"] == {0: 2 * STEPS, 1: 2 * STEPS}


def test_communicators_counts_and_roots_are_arguments(tap, job, work):
    tap("export", job, "-o", "job.csv")
    rows = list(csv.DictReader((work / "job.csv").open()))
    text = {row["operation"]: row["arguments"]
            for row in rows if row["operation"] in ("MPI_Comm_split", "MPI_Bcast", "MPI_Allreduce")}
    assert "newcomm=" in text["MPI_Comm_split"] and "color=" in text["MPI_Comm_split"]
    assert "count=1" in text["MPI_Bcast"] and "root=0" in text["MPI_Bcast"]


def test_mpi_is_left_alone_where_it_is_not_asked_for(tap, work, kind):
    program = mpi_jobs.build(kind, work, "steps")
    tap("run", "-q", "-d", "opencl", "-o", "no.gputap", *mpi_jobs.launcher(kind, 1), program, 1,
        env={"TMPDIR": str(work)})
    assert not operations(tap, "no.gputap")


# Ranks without MPI ------------------------------------------------------------------

LAUNCHERS = [
    ("torchrun", {"RANK": 5, "WORLD_SIZE": 8, "LOCAL_RANK": 1, "LOCAL_WORLD_SIZE": 4}),
    ("Open MPI", {"OMPI_COMM_WORLD_RANK": 5, "OMPI_COMM_WORLD_SIZE": 8,
                  "OMPI_COMM_WORLD_LOCAL_RANK": 1, "OMPI_COMM_WORLD_LOCAL_SIZE": 4}),
    ("MVAPICH", {"MV2_COMM_WORLD_RANK": 5, "MV2_COMM_WORLD_SIZE": 8,
                 "MV2_COMM_WORLD_LOCAL_RANK": 1, "MV2_COMM_WORLD_LOCAL_SIZE": 4}),
    ("PALS", {"PALS_RANKID": 5, "PALS_SIZE": 8, "PALS_LOCAL_RANKID": 1, "PALS_LOCAL_SIZE": 4}),
    ("Flux", {"FLUX_TASK_RANK": 5, "FLUX_JOB_SIZE": 8, "FLUX_TASK_LOCAL_ID": 1}),
    ("JSM", {"JSM_NAMESPACE_RANK": 5, "JSM_NAMESPACE_SIZE": 8, "JSM_NAMESPACE_LOCAL_RANK": 1,
             "JSM_NAMESPACE_LOCAL_SIZE": 4}),
    ("PMI", {"PMI_RANK": 5, "PMI_SIZE": 8, "MPI_LOCALRANKID": 1, "MPI_LOCALNRANKS": 4}),
    ("Slurm", {"SLURM_PROCID": 5, "SLURM_NTASKS": 8, "SLURM_LOCALID": 1}),
]


@pytest.mark.parametrize("launcher, variables", LAUNCHERS, ids=[name for name, _ in LAUNCHERS])
def test_a_launchers_variables_are_read_in_the_program(tap, work, build, launcher, variables):
    words = [f"{name}={value}" for name, value in variables.items()]
    tap("run", "-q", "-o", "a.gputap", "env", *words, build / "examples/demo")
    process = next(p for p in json.loads(tap("info", "a.gputap", "--json").out)["processes"]
                   if p["rank"] is not None)
    assert process["launcher"] == launcher
    assert [process[key] for key in ("rank", "world_size", "local_rank")] == [5, 8, 1]


def test_the_innermost_launcher_counts(tap, work, build):
    tap("run", "-q", "-o", "a.gputap", "env", "SLURM_PROCID=0", "PMI_RANK=1", "RANK=2",
        build / "examples/demo", env={"SLURM_PROCID": "0"})
    found = {p["exe"].rpartition("/")[2]: p["rank"]
             for p in json.loads(tap("info", "a.gputap", "--json").out)["processes"]}
    assert found["demo"] == 2


def test_what_is_no_number_is_no_rank(tap, work, build):
    tap("run", "-q", "-o", "a.gputap", "env", "RANK=first", "PMI_RANK=-1", "PMIX_RANK=",
        "SLURM_PROCID=99999999999", build / "examples/demo")
    assert all(p["rank"] is None
               for p in json.loads(tap("info", "a.gputap", "--json").out)["processes"])
