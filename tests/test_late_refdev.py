# SPDX-License-Identifier: MIT
"""Test programs for the reference accelerator that gputap is attached to."""
import collections
import json
import subprocess

from late_session import Session, export_rows

KERNELS = 20  # of each of two threads, after each attach


def test_each_session_has_exact_calls_kernels_and_objects(gputap, build, repo, tap, work):
    """During the attach, a thread waits in a call, which is not recorded. Its later calls are."""
    library = build / "soft/refdev/librefdev.so.1"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{repo}",
                    repo / "tests/refdev/refdev_late.c", "-o", "late", library,
                    f"-Wl,-rpath,{library.parent}", "-lpthread", "-ldl"], check=True)
    program = subprocess.Popen(["./late", build / "libgputap.so.0"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for i in range(3):
        with Session(gputap, work / f"{i}.gputap") as session:
            program.stdin.write(f"{session.folder}\n")
            program.stdin.flush()
            assert program.stdout.readline() == "done\n"
        rows = export_rows(tap, f"{i}.gputap", work)
        calls = [r for r in rows if r["kind"] == "call"]
        kernels = [r for r in rows if r["kind"] == "device"]
        assert collections.Counter(r["operation"] for r in calls) == {
            "refdevLaunchKernel": 2 * KERNELS, "refdevStreamSynchronize": 2 * KERNELS
        }
        assert collections.Counter(r["name"] for r in kernels) == {"work": 2 * KERNELS}
        assert len({r["queue"] for r in kernels}) == 2
        assert len({r["device"] for r in kernels}) == 1
        assert all(r["device"] and r["queue"] for r in kernels)
        assert all(0 < int(r["start_ns"]) <= int(r["end_ns"]) for r in kernels)
        # depths start at 0 in a thread that was inside a call
        assert {(r["depth"], r["parent"]) for r in calls} == {("0", "")}
        launches = {r["correlation"] for r in calls if r["operation"] == "refdevLaunchKernel"}
        assert {r["correlation"] for r in kernels} == launches
        info = json.loads(tap("info", "--json", f"{i}.gputap").out)
        assert [(d["domain"], d["type"]) for d in info["devices"]] == [("refdev", "accelerator")]
        assert not info["dropped"]
    program.stdin.close()
    program.stdout.close()
    assert program.wait() == 0
