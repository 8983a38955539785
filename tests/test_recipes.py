# SPDX-License-Identifier: MIT
"""Run the commands of docs/guides/recipes.md and docs/guides/questions.md in page order. Each
command must find its input and do what the page says."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time

import pytest

import conftest

DOCS = conftest.REPO / "docs"
COMMAND = re.compile(r"(mkdir|gputap|mpirun[.\w]*|srun|docker) ")
# Replaces the launcher of a cluster: sets the rank variables and runs the ranks one after the
# other.
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


def commands_of(page):
    """Return the commands per heading; "" is the start of the page. A backslash at the end of a
    line joins two lines."""
    text = (DOCS / page).read_text()
    found = {}
    for title, body in re.findall(r"^##? (.*)\n((?:(?!## ).*\n)*)", text, re.M):
        code = textwrap.dedent("\n".join(
            line for line in body.splitlines() if line.startswith("    ")))
        lines = [line.removeprefix("$ ") for line in code.replace("\\\n", "").splitlines()]
        found["" if not found else title] = [line for line in lines if COMMAND.match(line)]
    return found


@pytest.fixture
def place(build, gputap, work):
    """Return the environment of a folder in which the commands of the pages find their files and
    programs."""
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


# Exit statuses of commands that succeed with a status other than 0.
STATUSES = {"--fail-over": (0, 1)}


@pytest.fixture
def shell(run, place):
    """Return a function: shell(line) runs a command of a page. The command must find its input and
    print an answer."""
    def call(line):
        wanted = next((s for word, s in STATUSES.items() if word in line), (0,))
        result = run(["bash", "-c", line], env=place, status=None)
        assert result.status in wanted, result
        for text, what in (("matches no record", result.err), ("\n  none\n", result.out),
                           ("not met", result.err), ("No such file", result.err)):
            assert text not in what, result
        return result
    return call


@pytest.fixture
def background(gputap, place):
    """Return a function: background(line) starts a session that a page describes and keeps it
    running until the test ends."""
    with contextlib.ExitStack() as started:
        def call(line):
            process = started.enter_context(
                subprocess.Popen(["bash", "-c", "exec " + line.rstrip("& ")],
                                 env={**conftest.clean_environment(), **place},
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            started.callback(process.terminate)
            capture = os.path.abspath(re.search(r"-o (\S+)", line)[1])
            while subprocess.run([gputap, "top", capture, "--once"], check=False,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                assert process.poll() is None, line
                time.sleep(0.05)
        yield call


def run_page(page, shell, background, launcher):
    """Run all commands of a page in page order. Return the output of the commands per heading."""
    other = {"mpirun": "srun", "srun": "mpirun"}[launcher]
    said, capture = {}, ""
    for title, lines in commands_of(page).items():
        said[title] = ""
        for line in lines:
            if line.endswith("&"):
                background(line)
                capture = os.path.abspath(re.search(r"-o (\S+)", line)[1])
            elif not line.startswith("docker") and other not in line:
                # name the capture, because other tests may run sessions at the same time
                once = f" {capture} --once" if line.startswith("gputap top") else ""
                if "tree.gputap" not in line or launcher == "mpirun":
                    said[title] += shell(line + once).out
    return said


LAUNCHERS = ["mpirun", "srun"]


def need(launcher):
    if launcher == "mpirun" and not shutil.which("mpirun"):
        pytest.skip("needs MPICH or Open MPI: apt install mpich")


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_all_recipes_in_their_order(shell, background, tap, launcher):
    need(launcher)
    said = run_page("guides/recipes.md", shell, background, launcher)
    assert sorted(os.listdir("job")) == [f"{rank}.gputap" for rank in range(4)]
    assert all(re.search(rf"^ +{rank} ", said["MPI and Slurm"], re.M) for rank in range(4))
    found = tap("report", "all.gputap", "-t", "ranges", "-w", "at>=step#3 and at<=step#5").out
    assert re.search(r"^ .* 3 .*\bstep$", found, re.M), found


ANSWERS = {
    1: r"clEnqueueReadBuffer",
    2: r"sleeping +load",
    3: r"(?m)^ +\S+ ms .* load$",  # the verdict depends on the noise of the machine
    4: r"Totals",
    5: r"(?m)^ +3 ",
    6: r"run_layers (at steps.c:\d+|in steps)",
    7: r"",
    8: r"live.gputap",
    9: r"",
    10: r"backward",
    11: r"(?m)^ +[\d,]+ .* device$",
    12: r"device 0: ",
}


def test_all_questions_in_their_order(shell, background, tap):
    said = run_page("guides/questions.md", shell, background, "srun")
    for number, (title, text) in enumerate(list(said.items())[1:], 1):
        assert title.startswith(f"{number}. ") and commands_of("guides/questions.md")[title]
        assert re.search(ANSWERS[number], text), f"{title}\n{text}"
    assert set(ANSWERS) == set(range(1, len(said)))
    for made in ("last.gputap", "window.gputap", "part.gputap"):
        assert "opencl" in tap("info", made).out


def test_a_command_that_reads_a_missing_file_or_meets_nothing_fails(shell):
    shell("gputap run -q -o t.gputap ./prog")
    for line in ("gputap report m.gputap", "gputap report t.gputap --where 'range=none'",
                 "gputap export t.gputap --where 'at>1h' -o part.gputap",
                 "gputap report t.gputap -t graphs"):
        with pytest.raises(AssertionError):
            shell(line)


def test_every_recipe_is_run():
    assert set(commands_of("guides/recipes.md")) == {
        "", "MPI and Slurm", "Python and torch", "Warm-up", "CI", "Overhead and file size",
        "Containers",  # needs Docker
    }
