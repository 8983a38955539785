# SPDX-License-Identifier: MIT
"""The commands of docs/guides/recipes.md and docs/guides/questions.md do what the pages say."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
import time

import pytest

import conftest

DOCS = conftest.REPO / "docs/guides"
COMMAND = re.compile(r"(mkdir|gputap|mpirun|srun|docker)\b")
# in the place of a cluster's launcher: ranks one after the other, named as it names them
SRUN = """\
#!/bin/sh
shift; ranks=$1; shift
rank=0
while [ $rank -lt "$ranks" ]; do
    SLURM_PROCID=$rank SLURM_NTASKS=$ranks "$@" || exit
    rank=$((rank + 1))
done
"""
TRAIN = """\
import subprocess
subprocess.run(["./prog"], check=True)
"""


def parts(page):
    """What stands below each heading: its title and its commands, of which a backslash at a line's
    end makes one of two."""
    text = (DOCS / page).read_text()
    found = {}
    for title, body in re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", text, re.M):
        code = textwrap.dedent("\n".join(
            line for line in body.splitlines() if line.startswith("    ")))
        lines = [line.removeprefix("$ ") for line in code.replace("\\\n", "").splitlines()]
        found[title] = [line for line in lines if COMMAND.match(line)]
    return found


@pytest.fixture
def place(build, gputap, work):
    """The environment of a folder in which the pages' commands find what they name."""
    program = build / "examples/steps"
    if not program.exists():
        pytest.skip("needs the examples, which are built where OpenCL's loader is")
    (work / "bin").mkdir()
    (work / "bin/gputap").symlink_to(gputap)
    (work / "bin/python").symlink_to(sys.executable)
    (work / "train.py").write_text(TRAIN)
    for path, text in (("bin/srun", SRUN), ("prog", f'#!/bin/sh\nexec {program} "${{@:-10}}"\n')):
        (work / path).write_text(text)
        (work / path).chmod(0o755)
    return {"PATH": f"{work}/bin:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


@pytest.fixture
def shell(run, place):
    """shell(line, status=0): a command of a page."""
    return lambda line, **keywords: run(["bash", "-c", line], env=place, **keywords)


def make_captures(shell, *names):
    for name in names:
        shell(f"gputap run -q -o {name} ./prog 10 7")


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_mpi_and_slurm(shell, launcher):
    if launcher == "mpirun" and not shutil.which("mpirun"):
        pytest.skip("needs MPICH or Open MPI: apt install mpich")
    other = {"mpirun": "srun", "srun": "mpirun"}[launcher]
    said = [shell(line).out for line in parts("recipes.md")["MPI and Slurm"] if other not in line
            and (launcher == "mpirun" or "tree" not in line)]
    assert sorted(os.listdir("job")) == [f"{rank}.gputap" for rank in range(4)]
    assert all(re.search(rf"^ +{rank} ", said[2], re.M) for rank in range(4)), said[2]


@pytest.mark.parametrize("title", ["Python and torch", "Overhead and file size"])
def test_a_recipe_of_commands_alone(shell, title):
    for line in parts("recipes.md")[title]:
        shell(line)


def test_warm_up(shell, tap):
    make_captures(shell, "all.gputap")
    for line in parts("recipes.md")["Warm-up"]:
        shell(line)
    found = tap("report", "all.gputap", "-t", "ranges", "-w", "at>=step#3 and at<=step#5").out
    assert re.search(r"^ .* 3 .*\bstep$", found, re.M), found


def test_ci(shell):
    make_captures(shell, "baseline.gputap")
    run, diff = parts("recipes.md")["CI"]
    shell(run)
    assert shell(diff, status=None).status in (0, 1)


def test_every_recipe_is_run():
    assert set(parts("recipes.md")) == {
        "MPI and Slurm", "Python and torch", "Warm-up", "CI", "Overhead and file size",
        "Containers",  # needs Docker
    }


@pytest.fixture
def answer(shell):
    """answer(number): what the commands of the question of that number print."""
    def ask(number):
        title = next(t for t in parts("questions.md") if t.startswith(f"{number}. "))
        # how long the program takes to begin is the machine's
        lines = [line.replace("100ms..150ms", "0ms..1h") for line in parts("questions.md")[title]]
        return "".join(shell(line).out for line in lines)
    return ask


@pytest.mark.parametrize("number, expected", [
    (1, r"clEnqueueReadBuffer"),
    (2, r"host, outside any call +load"),
    (3, r"slower +load"),
    (6, r"run_layers (at steps.c:\d+|in steps)"),
    (10, r"backward"),
    (12, r"device 0: "),
])
def test_a_question_about_one_run(shell, answer, number, expected):
    shell("gputap run -q --stacks -o t.gputap ./prog 10 7")
    found = answer(number)
    assert re.search(expected, found), found


def test_what_got_slower(shell, answer):
    shell("gputap run -q -o before.gputap ./prog 10")
    shell("gputap run -q -o after.gputap ./prog 10")
    line, = parts("questions.md")["4. What got slower since the last build?"]
    assert "Totals" in shell(line, status=None).out


def test_which_rank_is_slow(shell, answer):
    shell("mkdir -p job && srun -n 4 gputap run -q -o 'job/%r.gputap' ./prog")
    assert re.search(r"^ +3 ", answer(5), re.M)


@pytest.mark.parametrize("number, made", [(7, "last.gputap"), (9, "window.gputap")])
def test_questions_that_ask_for_a_run(tap, answer, number, made):
    answer(number)
    assert "opencl" in tap("info", made).out


def test_what_it_is_doing_right_now(build, gputap, place, shell):
    with subprocess.Popen([gputap, "run", "-q", "-o", "live.gputap", "./prog", "0"],
                          env={**conftest.clean_environment(), **place}) as live:
        try:
            while not os.path.exists("live.gputap") or not os.path.getsize("live.gputap"):
                time.sleep(0.05)
            found = shell("gputap top --once live.gputap").out
            listed = shell("gputap status live.gputap").out
        finally:
            live.terminate()
    assert "live.gputap" in found and "live.gputap" in listed


def test_where_memory_goes(run, tap, repo, build, work, answer):
    library = build / "soft/refdev/librefdev.so.1"
    run(["cc", f"-I{repo}", repo / "tests/refdev/refdev_program.c", "-o", work / "program", library,
         f"-Wl,-rpath,{library.parent}", "-lpthread"])
    tap("run", "-q", "-o", "m.gputap", work / "program", "steps", "20")
    assert "device" in answer(11)


def test_every_question_has_a_command():
    titles = parts("questions.md")
    assert [int(t.split(".")[0]) for t in titles] == list(range(1, 13))
    assert all(titles.values())
