# SPDX-License-Identifier: MIT
"""Test `gputap export -j`: an export in several threads has the same bytes as with one, for whole
and damaged captures, and fails once with one message."""

import random

import pytest

FORMATS = ["csv", "json", "hta.json.gz", "pftrace", "rpd", "rocpd", "folded", "speedscope.json"]
CAPTURES = {
    "nested": "--threads 3 --nested --failed --steps 200",
    "graphs": "--threads 3 --graphs --overlap --devices 2 --nested",
    "external": "--threads 2 --external --nested",
    "incomplete": "--threads 3 --drops --events --crash --cut",
    "processes": "--processes 2 --threads 2 --layered --late --waits",
    "blocks": "--threads 2 --others 2 --nested --graphs --overlap --flush-bytes 3000",
    "compressed": "--threads 2 --compress --nested --steps 100 --names tricky",
}


def make_capture(run, build, options, name="t.gputap", calls=15000):
    run([build / "tests/synth/synth", "--calls", calls, *options.split(), "-o", name])


def export(run, gputap, work, jobs, form, capture="t.gputap"):
    """Return the exit code, the bytes of the file, and the messages."""
    result = run([gputap, "export", capture, "-f", "-j", jobs, "-o", f"out.{form}"], status=None)
    return result.status, (work / f"out.{form}").read_bytes(), result.err


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", CAPTURES)
def test_threads_do_not_change_the_file(run, build, gputap, work, kind, form):
    make_capture(run, build, CAPTURES[kind])
    one = export(run, gputap, work, 1, form)
    for jobs in (2, 5):
        assert export(run, gputap, work, jobs, form) == one


@pytest.mark.parametrize("form", ["csv", "json", "pftrace"])
def test_threads_do_not_change_the_file_of_a_damaged_capture(run, build, gputap, work, form):
    make_capture(run, build, CAPTURES["blocks"])
    whole = (work / "t.gputap").read_bytes()
    choose = random.Random(1)
    for number in range(6):
        damaged = bytearray(whole)
        for _ in range(1 + 4 * number):
            damaged[choose.randrange(2000, len(whole))] ^= 1 << choose.randrange(8)
        if number % 2:
            del damaged[choose.randrange(len(whole) // 2, len(whole)):]
        (work / "t.gputap").write_bytes(damaged)
        one = export(run, gputap, work, 1, form)
        assert one[0] == 1
        assert export(run, gputap, work, 4, form) == one


@pytest.mark.parametrize("form", ["csv", "json", "pftrace"])
def test_threads_export_several_captures_and_filters(run, build, gputap, work, form):
    make_capture(run, build, CAPTURES["nested"], "a.gputap")
    make_capture(run, build, CAPTURES["graphs"] + " --pid 9000 --host other", "b.gputap")
    for extra in ([], ["--where", "kind=kernel"], ["--mangled"]):
        seen = set()
        for jobs in (1, 4):
            run([gputap, "export", "a.gputap", "b.gputap", "-f", f"-j{jobs}", *extra, "-o",
                 f"out.{form}"])
            seen.add((work / f"out.{form}").read_bytes())
        assert len(seen) == 1


@pytest.mark.parametrize("kind", ["memory", "write"])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_an_export_in_threads_survives_the_nth_failure(run, build, gputap, work, form, kind):
    make_capture(run, build, CAPTURES["blocks"], calls=3000)
    good = export(run, gputap, work, 1, form)

    def try_failure(n):
        (work / f"out.{form}").unlink(missing_ok=True)
        result = run([gputap, "export", "t.gputap", "-f", "-j", 3, "-o", f"out.{form}"],
                     status=None,
                     env={
                         "LD_PRELOAD": build / "tests/export/libfail_export.so",
                         "FAIL_KIND": kind, "FAIL_NTH": n, "FAIL_COUNT": "count"
                     })
        left = {p.name for p in work.iterdir()} - {"t.gputap", "count"}
        if result.status == 0:
            assert (work / f"out.{form}").read_bytes() == good[1], f"{kind} {n}"
            assert left == {f"out.{form}"}
        else:
            assert result.status == 1 and result.err.startswith("gputap"), f"{kind} {n}: {result}"
            assert result.err.count("cannot write out.") <= 1, result.err
            assert left == set(), f"{kind} {n}: {left} is left behind"
        return result.status, int((work / "count").read_text())

    status, total = try_failure(0)
    assert status == 0 and total > 0
    numbers = sorted({*range(1, min(total, 20) + 1), *range(1, total + 1, max(1, total // 40))})
    assert sum(try_failure(n)[0] for n in numbers) > 0, "no failure was noticed"


def test_the_file_does_not_name_the_number_of_threads(run, build, gputap, work):
    make_capture(run, build, "", calls=20)
    for words in (["-f", "-j3"], ["-fj3"], ["-f", "-j", "3"], ["-f", "--jobs=3"],
                  ["-f", "--jobs", "3"]):
        run([gputap, "export", "t.gputap", *words, "-o", "t.json"])
        assert '"exported_by":"gputap export t.gputap -f -o t.json"' in (work /
                                                                           "t.json").read_text()
    run([gputap, "export", "t.gputap", "-o", "-j3.json"])
    assert '"gputap export t.gputap -o -j3.json"' in (work / "-j3.json").read_text()


@pytest.mark.parametrize("value", ["0", "65", "two", "-1", "", "3x"])
def test_a_wrong_number_of_threads_is_refused(run, build, gputap, value):
    make_capture(run, build, "", calls=20)
    result = run([gputap, "export", "t.gputap", "-j", value, "-o", "t.csv"], status=2)
    assert "a number from 1 to 64" in result.err
