# SPDX-License-Identifier: MIT
"""Test file names of `gputap run -o` that differ per rank, and domains that cannot be traced."""

import os

import pytest


@pytest.mark.parametrize("variable",
                         ["RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"])
def test_the_rank_is_the_launchers(tap, work, variable):
    tap("run", "-q", "-o", "a.%r.gputap", "true", env={variable: "17"})
    assert os.listdir(work) == ["a.17.gputap"]


def test_names_have_the_host_a_variable_and_a_percent_sign(tap, work):
    tap("run", "-q", "-o", "%h-%q{JOB}-100%%.gputap", "true", env={"JOB": "job9"})
    assert os.listdir(work) == [f"{os.uname().nodename}-job9-100%.gputap"]


def test_the_process_number_makes_a_name_of_its_own(tap, work):
    for _ in range(2):
        tap("run", "-q", "-o", "a.%p.gputap", "true")
    names = os.listdir(work)
    assert len(names) == 2 and all(name.split(".")[1].isdigit() for name in names)


@pytest.mark.parametrize("name, said", [
    ("a.%r.gputap", "no launcher assigned a rank"),
    ("a.%x.gputap", "unknown '%x'; %p is the process"),
    ("a.gputap%", "unknown '%'"),
    ("%q{NO_SUCH_VARIABLE}.gputap", "the environment has no NO_SUCH_VARIABLE"),
    ("%q.gputap", "%q needs a variable's name"),
    ("%q{}.gputap", "no variable without a name"),
])
def test_a_name_that_cannot_be_made_is_refused_before_the_program_runs(tap, work, name, said):
    assert said in tap("run", "-o", name, "touch", "ran", status=2).err
    assert os.listdir(work) == []


def test_an_existing_file_under_a_launcher_names_what_tells_ranks_apart(tap, work):
    (work / "a.gputap").touch()
    for columns in (80, 120):
        env = {"RANK": "1", "COLUMNS": columns}
        assert tap("run", "-o", "a.gputap", "true", status=1, env=env).err == (
            "gputap run: a.gputap exists; -f replaces it\n"
            "  each rank needs its own file: -o 'a.%r.gputap'\n")
    assert "%r" not in tap("run", "-o", "a.gputap", "true", status=1).err


