# SPDX-License-Identifier: MIT
"""Check that the program runs undisturbed if a component is missing or forbidden, and that a
message names the component."""

import re

from gpu_harness import check, last_json


@check("said")
def no_cupti(machine):
    """If CUPTI cannot be opened, calls are recorded, and one message names the missing part."""
    command = machine.program("count", "2000")
    capture = machine.trace(command, quiet=False,
                            own={"GPUTAP_CUPTI": "/nonexistent/libcupti.so.13"})
    machine.report.equal("calls", capture.calls().get("cuLaunchKernel", 0),
                         capture.said["kernels"])
    machine.report.judge("GPU activities", f"{capture.report()['activities']:,}",
                         not capture.report()["activities"])
    lines = [" ".join(line.split()) for line in capture.err.splitlines() if "CUPTI" in line]
    machine.report.judge("message", " ".join(lines) or "none", len(lines) == 1)


@check("said")
def doctor(machine):
    """Report the output of `gputap doctor` about CUDA."""
    words = ["soft", "cuda", "--", machine.gputap, "doctor"] if machine.soft else ["doctor"]
    done = machine.run([machine.gputap, *words], 120, machine.own, status=None)
    section = re.search(r"^cuda\n((?:  .*\n)+)", done.stdout, re.M)
    lines = section[1].splitlines() if section else []
    for line in lines:
        machine.report.say("doctor", " ".join(line.split()))
    machine.report.judge("doctor finds a CUDA runtime", f"{len(lines)} lines",
                         any(line.split()[:2] == ["ok", "runtime"] for line in lines))


@check("said")
def library_beside(machine):
    """The program behaves the same if another injected library, such as NVIDIA's, is loaded."""
    command = machine.program("end", "500", "exit")
    bare = last_json(machine.run(command))
    capture = machine.trace(command, (), machine.beside(count=machine.work / "beside"))
    machine.report.judge("output", str(capture.said), capture.said == bare and not capture.status)
    for path in machine.work.glob("beside.*"):
        path.unlink()
