# SPDX-License-Identifier: MIT
"""What the README promises first: the demo, and the lists of what has to be installed."""

import re
import subprocess


def test_demo_leaves_a_picture_and_says_where(repo, run, work):
    result = run([repo / "tools/demo", work], timeout=110)
    assert "no heat was lost" in result.out
    assert f"{work}/demo.pftrace" in result.out and "ui.perfetto.dev" in result.out
    assert (work / "demo.pftrace").stat().st_size > 10000
    for kernel in ("heat_step", "row_sums", "shrink"):
        assert re.search(rf"\b{kernel}\b", result.out)
    assert "all linked to their call; nothing lost" in result.out


def test_demo_computes_the_same_with_and_without_gputap(build, tap, run, work):
    bare = run([build / "examples/demo"]).out
    assert tap("run", "-q", "-o", work / "demo.gputap", build / "examples/demo").out == bare


def test_setup_refuses_a_profile_it_does_not_know(repo, run):
    assert "usage" in run([repo / "tools/setup", "tests"], status=2).err


def test_setup_finds_nothing_missing_where_the_tests_run(repo, run):
    run([repo / "tools/setup", "-n", "build"])
    run([repo / "tools/setup", "-n", "demo"])


def test_setup_reads_every_line_of_the_list(repo):
    for line in (repo / "tools/packages").read_text().splitlines():
        line = line.split("#")[0].split()
        if line:
            assert line[0] in ("build", "demo", "deb", "test", "bench") and line[1] in ("apt", "pip") and len(line) > 2, line


def test_ci_runs_the_command_of_the_readme(repo):
    script = (repo / ".ci/run").read_text()
    assert "make test" in script and "make test" in (repo / "README.md").read_text()
    subprocess.run(["bash", "-n", repo / ".ci/run"], check=True)
