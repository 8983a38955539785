# SPDX-License-Identifier: MIT
"""Test exports whose n-th allocation or write fails: export either prints an error message and
leaves no file, or writes the whole file. It never crashes."""

import pytest

FORMATS = ["t.pftrace", "t.json", "t.json.gz", "t.rpd", "t.csv", "t.folded",
           "t.speedscope.json"]
TRIES = 60  # spread over all calls, but including each of the first calls


def make_capture(run, build):
    run([
        build / "tests/synth/synth", "--calls", "300", "--threads", "2", "--kernels", "12",
        "--names", "tricky", "--nested", "--failed", "--external", "-o", "t.gputap"
    ])


@pytest.mark.parametrize("name", FORMATS)
def test_a_capture_exports_to_the_same_bytes_wherever_its_memory_lies(
        run, build, gputap, work, name):
    make_capture(run, build)
    seen = set()
    for _ in range(40):
        run([gputap, "export", "t.gputap", "-o", name])
        seen.add((work / name).read_bytes())
        (work / name).unlink()
    assert len(seen) == 1


@pytest.mark.parametrize("kind", ["memory", "write"])
@pytest.mark.parametrize("name", FORMATS)
def test_export_survives_the_nth_failure(run, build, gputap, work, name, kind):
    make_capture(run, build)
    run([gputap, "export", "t.gputap", "-o", f"good.{name}"])
    good = (work / f"good.{name}").read_bytes()
    (work / f"good.{name}").unlink()

    def export(n):
        result = run(
            [gputap, "export", "t.gputap", "-o", name],
            status=None,
            env={
                "LD_PRELOAD": build / "tests/export/libfail_export.so", "FAIL_KIND": kind,
                "FAIL_NTH": n, "FAIL_COUNT": "count"
            })
        total = int((work / "count").read_text())
        left = sorted(p.name for p in work.iterdir() if p.name not in ("t.gputap", "count"))
        if result.status == 0:
            assert left == [name]
            # Some formats store the command line, which is shorter here by "good.".
            assert abs((work / name).stat().st_size -
                       len(good)) <= 64, f"{kind} {n}: the file is not whole"
            (work / name).unlink()
        else:
            assert result.status == 1, f"{kind} {n}: {result}"
            assert result.err.startswith("gputap"), f"{kind} {n}: {result}"
            assert left == [], f"{kind} {n}: {left} is left behind"
        return result.status, total

    status, total = export(0)
    assert status == 0 and total > 0
    numbers = sorted({
        *range(1,
               min(total, TRIES // 2) + 1), *range(1, total + 1, max(1, total // (TRIES // 2)))
    })
    failed = sum(export(n)[0] for n in numbers)
    assert failed > 0, "no failure was noticed"
