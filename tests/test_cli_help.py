# SPDX-License-Identifier: MIT
"""Test help, manual pages and completion: text fits the width and contains no errors, examples
work, and all three name the same options."""

import glob
import re
import shlex
import sys

import pytest

import conftest

COMMANDS = ["run", "attach", "detach", "report", "diff", "export", "info", "merge", "list",
            "recover", "doctor", "plugin", "soft", "top", "start", "stop", "status", "snapshot",
            "what-if"]
MAN = conftest.REPO / "docs" / "man"
COMPLETION = conftest.REPO / "cli" / "completion"


def options_of(tap, command):
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)",
                          tap(command, "--help").out, re.M)) | {"--help"}


def test_all_commands_are_tried_here(tap):
    listed = re.search(r"^Commands\n(.*?)\n\n", tap("--help").out, re.M | re.S).group(1)
    assert sorted(COMMANDS) == sorted(line.split()[0] for line in listed.splitlines()
                                      if re.match(r"  \w", line))


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_in_80_columns_and_has_examples(tap, command):
    out = tap(*([command] if command else []), "--help").out
    assert max(map(len, out.splitlines())) <= 80
    assert out.count("\n  gputap ") >= 2
    assert "\x1b" not in out


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command",
                         [["doctor"], ["list"], ["list", "formats"], ["list", "domains"]])
def test_sentences_of_tables_fit_and_are_not_cut(tap, command, columns):
    for _ in range(20):  # retry if a session of another test starts or ends between the commands
        narrow, wide, again = (tap(*command, env={"COLUMNS": str(n)}, status=None).out
                               for n in (columns, 10000, columns))
        if narrow == again:
            break
    longest = max(len(word) for word in wide.split()) + 24  # paths are not wrapped
    assert max(map(len, narrow.splitlines())) <= max(columns, longest)
    assert all(len(line) <= columns for line in narrow.splitlines() if "/" not in line)
    assert narrow.split() == wide.split()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_found_both_ways(tap, command):
    assert tap("help", command).out == tap(command, "--help").out == tap(command, "-h").out


def test_version_is_that_of_the_build(tap, repo):
    version = re.search(r"version: '([^']+)'", (repo / "meson.build").read_text()).group(1)
    assert tap("--version").out == f"gputap {version}\n"


def test_no_command_shows_help_and_fails(tap):
    assert "Start here" in tap(status=2).out


# Manual ----------------------------------------------------------------------

@pytest.mark.parametrize("page", sorted(p.name for p in MAN.glob("*.1")))
def test_manual_page_is_clean(run, page):
    assert run(["mandoc", "-Tlint", "-Wwarning", MAN / page]).out == ""
    result = run(["man", "--warnings", "-l", MAN / page], env={"MANPAGER": "cat", "MANWIDTH": "80"})
    assert result.err == "" and "EXAMPLES" in result.out


@pytest.mark.parametrize("command", COMMANDS)
def test_manual_names_the_options_of_the_help(tap, command):
    text = (MAN / f"gputap-{command}.1").read_text()
    named = {"--" + name for name in re.findall(r"Fl \\-([a-z-]+)", text)}
    if command != "recover":
        assert options_of(tap, command) <= named | {"--help"}
    help_text = tap(command, "--help").out
    assert all(option in help_text for option in named)


def test_manual_names_the_columns_of_the_report(tap, build, run, work):
    run([build / "tests/synth/synth", "--drops", "--failed", "-o", "a.gputap"])
    text = (MAN / "gputap-report.1").read_text()
    for line in tap("report", "a.gputap", "--csv").out.splitlines():
        if line.startswith("table,"):
            for key in line.split(",")[1:]:
                assert re.search(rf"\b{key}\b", text), key


def examples():
    for page in sorted(MAN.glob("*.1")):
        for line in re.findall(r"^\$ (.*)$", page.read_text(), re.M):
            yield pytest.param(line, id=f"{page.stem}: {line}")


@pytest.mark.parametrize("line", list(examples()))
def test_example_of_the_manual_works(run, tap, build, work, line):
    (work / "prog").symlink_to(build / "tests/opencl/cl_basic")
    if "prog.gputap" in line and " run " not in line:
        tap("run", "-q", "-o", "prog.gputap", "./prog", "100")  # calls of one name vary in duration
    for name in re.findall(r"\b(?:before|after|old\d|new\d)\.gputap", line):
        tap("run", "-q", "-o", name, "./prog")
    for rank in range(2 if "rank*" in line else 0):
        run([
            build / "tests/synth/synth", "--calls", "100", "--rank", rank, "-o",
            f"rank{rank}.gputap"
        ])
    words = [
        file for word in shlex.split(line)
        for file in ([word] if "rank*" not in word else sorted(glob.glob(word)))
    ]
    assert words[0] == "gputap"
    if words[1] == "diff":  # on a loaded machine the second run may be slower
        assert tap(*words[1:], status=None).status in (0, 1)
    else:
        tap(*words[1:], env={"GPUTAP_PYTHON": sys.executable})  # writes Parquet
    for i, word in enumerate(words):
        if word == "-o":
            assert (work / words[i + 1]).stat().st_size > 0


# Completion --------------------------------------------------------------------

DRIVER = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_gputap
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete(run, gputap, work):
    """Return a function: complete("report", "--ta") returns bash's completions for the last
    word."""
    def call(*words):
        result = run(["bash", "-c", DRIVER, "-", COMPLETION / "gputap.bash", gputap, *words])
        assert result.err == ""
        return set(result.out.split())
    return call


@pytest.mark.parametrize("words, offered", [
    (["re"], {"report", "recover"}),
    (["help", "re"], {"report", "recover"}),
    (["report", "--t"], {"--table", "--timeline", "--top"}),
    (["report", "--table", "k"], {"kernels", "kernel_symbols"}),
    (["report", "--table", "kernels,cop"], {"kernels,copies"}),
    (["report", "--by", "d"], {"device"}),
    (["report", "--sort", "mean"], {"mean_ns"}),
    (["diff", "--fail-over", "co"], {"counts:0%", "counts:off", "copies:5%"}),
    (["diff", "--fail-over", "5%,counts:o"], {"5%,counts:off"}),
    (["diff", "--fail-over", "5%,counts", ":", "o"], {"off"}),
    (["export", "a.gputap", "--format", "per"], {"perfetto"}),
    (["list", "dom"], {"domains"}),
    (["list", "operations", "--group", "que"], {"queue", "queue_exp"}),
    (["list", "operations", "clFin"], {"clFinish", "clFinalizeCommandBufferKHR"}),
    (["run", "--domains", "open"], {"opencl"}),
    (["run", "--ops", "clFlush,clFini"], {"clFlush,clFinish"}),
    (["run", "--dom"], {"--domains"}),
    (["doctor", "--j"], {"--json"}),
    (["soft", ""], {"amdgpu", "cuda", "level-zero"}),
    (["soft", "cuda", "--mem"], {"--memory"}),
    (["soft", "cuda", "--fail", "la"], {"launch"}),
    (["soft", "level-zero", "--clock-h"], {"--clock-hz"}),
    (["plugin", ""], {"check", "rules"}),
    (["plugin", "check", "--ex"], {"--exercise"}),
    (["soft", "amdgpu", "--clock-s"], {"--clock-skew"}),
    (["soft", "amdgpu", "--gfx", "90a"], {"90a"}),
])
def test_bash_offers(complete, words, offered):
    assert complete(*words) == offered


def test_bash_offers_captures_and_folders(complete, work):
    (work / "a.gputap").touch()
    (work / "b.txt").touch()
    (work / "runs").mkdir()
    assert complete("report", "") == {"a.gputap", "runs"}
    assert complete("info", "a") == {"a.gputap"}


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_offers_the_options_of_the_help(tap, complete, command):
    assert complete(command, "--") == options_of(tap, command)


@pytest.mark.parametrize("command", COMMANDS)
def test_zsh_knows_the_options_of_the_help(tap, run, command):
    run(["zsh", "-n", COMPLETION / "_gputap"])
    text = (COMPLETION / "_gputap").read_text()
    part = re.search(rf"^\t\t{command}\)(.*?);;", text, re.S | re.M).group(1)
    for option in options_of(tap, command):
        assert option in part, option


ZSH_DRIVER = r"""
zmodload zsh/zpty
zpty shell "TERM=vt100 zsh -f -i"
zpty -w shell "PATH=$1:\$PATH; fpath=($2 \$fpath)"
zpty -w shell "autoload -Uz compinit; compinit -u -D; print rea''dy"
zpty -r shell out '*ready*'
zpty -w -n shell "$3"$'\t'
zpty -r shell out "*$4*" && print -r -- offered
"""


@pytest.mark.parametrize("line, offered", [
    ("gputap rec", "recover"),
    ("gputap export --format perf", "perfetto"),
    ("gputap merge --format gput", "format gputap"),
    ("gputap run -d rcc", "rccl"),
    ("gputap run --ops clEnqueueND", "clEnqueueNDRangeKernel"),
    ("gputap run --ops clFlush,clEnqueueND", "clFlush,clEnqueueNDRangeKernel"),
    ("gputap report -t copi", "copies"),
    ("gputap diff --fail-over counts:o", "counts:off"),
    ("gputap list operations -d open", "opencl"),
])
def test_zsh_offers(run, gputap, line, offered):
    """An interactive zsh on a pseudo-terminal must print the expected completion."""
    assert run([
        "timeout", "30", "zsh", "-f", "-c", ZSH_DRIVER, "-", gputap.parent, COMPLETION, line,
        offered
    ]).out == "offered\n"
