# SPDX-License-Identifier: MIT
"""Test libraries of ROCm 6 and later, which have registered their tables, in programs that gputap
is attached to. The libraries are those of test_interception_register.py."""
import collections
import csv
import io
import os
import subprocess

from late_session import Session, export_rows
from test_interception_register import modern  # pylint: disable=unused-import

WORK = {"hipMalloc": 3, "hipFree": 3, "hsa_signal_load_relaxed": 1, "ncclGetUniqueId": 1}


def test_registered_libraries_are_traced_in_each_session(modern, gputap, build, tap, work):
    """The variables with which gputap asks for the tables are gone afterwards."""
    program = subprocess.Popen([modern / "program", "late", build / "libgputap.so.0"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env={**os.environ, "LD_LIBRARY_PATH": str(modern)})
    assert program.stdout.readline() == "ready\n"
    for i in range(3):
        options = ["--mode", "hsa"] if i else []  # first without HSA's calls
        with Session(gputap, work / f"{i}.gputap", options) as session:
            program.stdin.write(f"{session.folder}\n")
            program.stdin.flush()
            assert program.stdout.readline() == "attach 0, done\n"
        rows = export_rows(tap, f"{i}.gputap", work)
        expected = {name: n for name, n in WORK.items() if i or not name.startswith("hsa")}
        assert collections.Counter(r["operation"] for r in rows) == expected
    program.stdin.close()
    program.stdout.close()
    assert program.wait() == 0


def test_ranges_of_gputaps_roctx_are_recorded_from_the_attach_on(gputap, build, repo, tap, work):
    """The library has offered its tables at its first call, when there was nothing to take them."""
    subprocess.run(["cc", f"-I{repo}/include", repo / "tests/rocm/marks_late.c", "-o", "marks",
                    f"-L{build}/src/compat/roctx", "-l:libroctx64.so.4", "-ldl"], check=True)
    with Session(gputap, work / "a.gputap") as session:
        out = subprocess.run(["./marks", build / "libgputap.so.0", session.folder], text=True,
                             stdout=subprocess.PIPE, check=True,
                             env={**os.environ, "LD_LIBRARY_PATH": str(build / "src/compat/roctx")}
                             ).stdout
    assert out == "attach 0\n"
    rows = csv.DictReader(io.StringIO(tap("report", "--csv", "-t", "ranges", "a.gputap").out))
    assert {r["name"]: int(r["count"]) or int(r["markers"]) for r in rows} == {"after": 3,
                                                                              "mark": 3}
