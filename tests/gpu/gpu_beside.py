# SPDX-License-Identifier: MIT
"""Check torch.profiler (Kineto) in a program that gputap records: Kineto and gputap receive all
records, and PyTorch sees no difference."""

import packed
from gpu_harness import REPO, check, last_json

NOISE = ("CUDA profiler activities will be missing", "CUPTI_ERROR", "cupti error")


def complaints(text):
    return [line for line in text.splitlines()
            if any(word.lower() in line.lower() for word in NOISE)]


def make_check(order, title):
    def beside(machine):
        command = machine.script("gpu_torch_beside.py", order)
        bare = last_json(machine.run(command))
        capture = machine.trace(command)
        said = capture.said
        machine.report.equal("gputap", capture.kernels("CUDAFunctorOnSelf_add"), said["launched"])
        for name, wanted in said["profiled"].items():
            machine.report.equal(f"Kineto's, {name}", said["kineto"][name], wanted)
        machine.report.judge("Kineto's counts equal those without gputap", str(said["kineto"]),
                             said["kineto"] == bare["kineto"])
        seen = capture.report()
        machine.report.equal("gputap: linked", seen["linked"], seen["activities"])
        told = complaints(capture.err)
        machine.report.judge("torch's warnings", "; ".join(told)[:200] or "none", not told)

    beside.__name__ = f"kineto_{order}"
    beside.__doc__ = title
    check("beside")(beside)


make_check("after", "2,000 kernels, 3,000 profiled, 4,000, two more sessions, a graph.")
make_check("first", "Kineto opens CUPTI before the program's first work on the GPU.")


@check("beside")
def no_device(machine):
    """If only Kineto receives GPU activities, gputap still records calls."""
    capture = machine.trace(machine.script("gpu_torch_beside.py", "after"), ["--no-device"])
    said = capture.said
    for name, wanted in said["profiled"].items():
        machine.report.equal(f"Kineto's, {name}", said["kineto"][name], wanted)
    machine.report.judge("gputap", f"{capture.report()['activities']:,}",
                         not capture.report()["activities"])


@check("beside")
def other_user(machine):
    """A CUPTI client other than PyTorch also receives its records."""
    capture = machine.trace(machine.program("count", "20000"), (), machine.beside(kinds="10,1,2"))
    theirs = [line for line in capture.err.splitlines() if line.startswith("gpu_cupti: kernels")]
    wanted = f"kernels {capture.said['kernels']},"
    machine.report.judge("other client", theirs[-1] if theirs else "nothing",
                         bool(theirs) and wanted in theirs[-1] and
                         f"linked {capture.said['kernels']}," in theirs[-1])
    machine.report.equal("gputap", capture.kernels("tiny"), capture.said["kernels"])


@check("beside")
def from_us(machine):
    """Compare torch.profiler's CUDA activities from gputap with Kineto's own, in one run."""
    command = machine.script("gpu_torch_from_us.py", machine.gputap)
    site = machine.work / "site"
    machine.run([machine.python, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
                 "--target", site, REPO / "torch"], 250)
    libraries = packed.Product(machine.build, ["libgputap.so.0", "libgputap-plugin.so.0"]).files
    said = last_json(machine.run(command, 120, {
        **machine.own, "PYTHONPATH": site,
        "GPUTAP_LIBRARIES": ":".join(str(path.parent) for path in libraries.values())}))
    machine.report.equal("kernels from gputap and from Kineto", said["kernels_from_us"],
                         said["kernels_by_kineto"])
    machine.report.judge("same names and counts", str(said["same_names_and_counts"]),
                         said["same_names_and_counts"])
    machine.report.judge("kernels without an operator", str(said["without_operator"]),
                         not said["without_operator"])
    machine.report.judge("kernels described differently by Kineto",
                         ", ".join(f"{name[:40]}: {both}" for name, both in
                                   said["differ"].items()) or "none", not said["differ"])
