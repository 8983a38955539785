# SPDX-License-Identifier: MIT
"""Test that the commands of docs/tutorials/regression-in-ci.md work as written. An OpenCL program
replaces the one that `make prog` builds."""
import re
import textwrap

import pytest

import conftest

TEXT = (conftest.REPO / "docs" / "tutorials/regression-in-ci.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.M | re.S)


def steps_of(block):
    """Return the scripts in the steps of a workflow."""
    if "script:" in block:
        return "".join(line.strip()[2:] + "\n"
                       for line in block.split("script:\n")[1].splitlines())
    return [textwrap.dedent(part) for part in
            re.findall(r"^ +run: \|\n((?: {10}.*\n)+)", block, re.M)]


@pytest.fixture
def shell(run, gputap, build, work, tmp_path):
    """Return a function: shell(script) runs a script in a folder with gputap and a program. The
    program's times vary, so a comparison may exceed its limit."""
    for name in ("prog", "prog-of-main"):
        (work / name).symlink_to(build / "examples/steps")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "gputap").symlink_to(gputap)
    (tools / "make").write_text("#!/bin/sh\ntest $1 = prog\n")
    (tools / "make").chmod(0o755)

    def call(script, status=(0,), **env):
        result = run(["bash", "-e", "-c", script], status=None,
                     env={"PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin", **env})
        assert result.status in status, result
        return result
    return call


def baseline(shell):
    shell("mkdir -p baseline; for i in 1 2; do gputap run -q -f -o baseline/$i.gputap ./prog; done")


def test_the_commands_of_the_job_work(shell):
    baseline(shell)
    out = shell(BLOCKS[0][1], (0, 1)).out
    assert "Baseline: 2 runs, candidate: 4 runs" in out and "--fail-over" in out


def test_the_steps_of_github_work(shell, work):
    measure, compare, store = steps_of(BLOCKS[1][1])
    env = {"GITHUB_STEP_SUMMARY": work / "summary.md"}
    shell(measure)
    assert shell(compare, **env).out == "no baseline yet\n"
    shell(store)
    assert sorted(p.name for p in (work / "baseline").iterdir()) == [f"{i}.gputap"
                                                                     for i in range(1, 5)]
    (work / "new" / "4.gputap").unlink()
    shell(measure)
    shell(compare, (0, 1), **env)
    assert "### gputap diff: " in (work / "summary.md").read_text()
    assert (work / "diff.svg").read_text().startswith("<svg")


def test_the_script_of_gitlab_works(shell, work):
    script = steps_of(BLOCKS[2][1])
    env = {"CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}
    shell(script, **env)
    assert (work / "baseline" / "4.gputap").exists() and not (work / "diff.md").exists()
    shell(script, (0, 1), **env)
    assert (work / "diff.md").exists()


def test_two_revisions_in_one_job_are_compared(shell, work):
    shell(BLOCKS[3][1], (0, 1))
    assert (work / "diff.md").read_text().startswith("### gputap diff: ")


def test_a_script_reads_what_is_over_the_limit(run, gputap, build, work):
    for name, slow in (("baseline", []), ("new", ["--slow", "1:50"])):
        (work / name).mkdir()
        for i in range(3):
            run([build / "tests/synth/synth", "--calls", 3200, "--noise", 4, "--seed",
                 i + 10 * len(slow), *slow, "-o", f"{name}/{i}.gputap"])
    command, reader = BLOCKS[4][1].splitlines()
    run(["bash", "-e", "-c", command], env={"PATH": f"{gputap.parent}:/usr/bin:/bin"})
    assert "jq -r '.kernels[] | select(.over_limit == 1)" in reader
    if run(["sh", "-c", "command -v jq"], status=None).status == 0:
        out = run(["bash", "-e", "-c", reader]).out
        assert out.startswith("kernel_1 0.")
