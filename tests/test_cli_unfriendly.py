# SPDX-License-Identifier: MIT
"""Test wrong usage and outputs that cannot be written: each command prints one sentence with the
reason, exits with the right status, leaves no unfinished file and loses no capture."""

import os
import shlex

import pytest

READERS = ["report a", "report a --json", "report a --csv", "report a --html",
           "report a --timeline", "info a", "info a --json", "list", "list --json",
           "list operations", "diff a b", "diff a b --json", "diff a b --csv",
           "diff a b --markdown", "diff a b --svg", "status", "recover", "doctor",
           "plugin rules", "help", "--version"]
COMMANDS = ["run", "report", "diff", "export", "info", "merge", "list", "recover", "top", "doctor",
            "plugin", "soft", "start", "stop", "status", "snapshot"]
WRITERS = ["report a -o o.html", "export a -o o.json", "export a -o o.json.gz", "export a -o o.csv",
           "export a -o o.pftrace", "export a -o o.rpd", "export a -o o.rocpd",
           "export a -o o.gputap", "export a -w kind=kernel -o o.gputap", "merge a b -o o.gputap",
           "diff a b -o o.json"]


@pytest.fixture
def captures(run, build, work):
    for name in ("a", "b"):
        run([build / "tests/synth/synth", "--calls", "3000", "--steps", "100", "-o", name])


@pytest.mark.parametrize("line", READERS + [f"{command} --help" for command in COMMANDS])
def test_a_standard_output_that_takes_nothing_is_reported(run, gputap, captures, line):
    for where, reason in (">/dev/full", "No space left on device"), (">&-", "Bad file descriptor"):
        result = run(["sh", "-c", f"'{gputap}' {line} {where}"], status=None)
        assert result.status > 0 and result.err.splitlines()[-1].endswith(
            f"cannot write to standard output: {reason}"), result


@pytest.mark.parametrize("line", READERS)
def test_a_reader_that_leaves_is_no_error(run, gputap, captures, line):
    result = run(["bash", "-c", f"'{gputap}' {line} | head -c 1"], status=None)
    assert "rror" not in result.err and "annot" not in result.err


@pytest.mark.parametrize("line", WRITERS)
def test_a_limit_of_file_sizes_is_reported_and_leaves_no_file(run, gputap, captures, line):
    before = sorted(os.listdir())
    result = run(["bash", "-c", f"ulimit -f 1; exec '{gputap}' {line}"], status=None)
    assert result.status in (1, 3) and "File too large" in result.err, result
    assert sorted(os.listdir()) == before


def test_a_traced_program_has_the_usual_limit_of_file_sizes(run, gputap, work):
    program = "trap - XFSZ; ulimit -f 1; dd if=/dev/zero of=large bs=4096 count=1"
    bare = run(["sh", "-c", program], status=None).status
    assert run([gputap, "run", "-q", "-o", "t.gputap", "sh", "-c", program],
               status=None).status == bare


@pytest.mark.parametrize("line", ["report ''", "report a ''", "info ''", "diff '' b", "diff a ''",
                                  "export '' -o o.json", "merge a '' -o o.gputap"])
def test_a_capture_without_a_name_is_refused(tap, captures, line):
    assert "the name of a capture is empty" in tap(*shlex.split(line), status=2).err


@pytest.mark.parametrize("line, says", [
    ("report a -t ''", "unknown table ''"),
    ("report a --by ''", "unknown key ''"),
    ("report a -w ''", "--where needs a value"),
    ("report a --sort nonsense", "unknown column 'nonsense'"),
    ("report a -t stacks --sort nonsense", "unknown column of these tables 'nonsense'"),
    ("diff a b -t ''", "unknown table ''"),
    ("diff a b --per ''", "--per needs a value"),
    ("export a -o ''", "-o needs a value"),
    ("report a -w failed -w name=x", "--where is given twice: 'failed' and 'name=x'"),
    ("report a --sort calls --sort name", "--sort is given twice"),
    ("diff a b -w failed -w name=x", "--where is given twice"),
    ("diff a --baseline failed --baseline name=x --candidate failed", "--baseline is given twice"),
    ("export a -o o.json -w failed -w name=x", "--where is given twice"),
    ("export a -o o.json --format csv --format rpd", "--format is given twice"),
    ("merge a b -o o.gputap --format csv --format gputap", "--format is given twice"),
    ("export a -o - --format gputap", "cannot export to standard output"),
    ("merge a b -o - --format gputap", "cannot export to standard output"),
])
def test_a_value_that_cannot_be_meant_is_refused(tap, captures, line, says):
    before = sorted(os.listdir())
    result = tap(*shlex.split(line), status=2)
    assert says in result.err and result.out == "" and sorted(os.listdir()) == before


@pytest.mark.parametrize("line", ["export a -f -o a --format json",
                                  "merge a b -f -o b --format csv",
                                  "export a -f -o link --format rpd", "diff a b -f -o a --json"])
def test_no_command_replaces_a_capture_that_it_reads(tap, captures, work, line):
    (work / "link").symlink_to("a")
    before = {name: (work / name).read_bytes() for name in ("a", "b")}
    assert "is one of the inputs" in tap(*shlex.split(line), status=2).err
    assert before == {name: (work / name).read_bytes() for name in ("a", "b")}


def test_a_diff_to_a_folder_that_is_not_there_says_that_it_cannot_write(tap, captures):
    result = tap("diff", "a", "b", "-o", "none/d.json", status=3)
    assert "cannot write none/d.json: No such file or directory" in result.err
    assert tap("diff", "a", "b", "-o", "-", "--json").out.startswith("{")


@pytest.mark.parametrize("line", ["export a -o o.json", "export a -o o.rpd", "diff a b",
                                  "export a -o o.gputap", "merge a b -o o.gputap", "report a b",
                                  "report a -o o.html"])
def test_few_descriptors_are_reported(run, gputap, captures, line):
    before = sorted(os.listdir())
    result = run(["sh", "-c", f"ulimit -n 4; exec '{gputap}' {line}"], status=None)
    assert result.status in (1, 3) and result.err.endswith("Too many open files\n"), result
    assert sorted(os.listdir()) == before
