# SPDX-License-Identifier: MIT
"""Check that every call is recorded: gputap and CUPTI's callbacks in the same process count the
same calls per function."""

import collections
import re

from gpu_harness import Broken, check

DRIVER, RUNTIME = "1", "2"


def read_counts(machine, prefix):
    """Return {domain: {name: calls}}, summed over all processes that counted."""
    found = {DRIVER: collections.Counter(), RUNTIME: collections.Counter()}
    files = list(machine.work.glob(f"{prefix}.*"))
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            domain, name, calls = line.split()
            found[domain][name] += int(calls)
        path.unlink()
    if not files:
        raise Broken("CUPTI counted nothing: its other user did not come in")
    return found


def without_forms(calls):
    """Remove release suffixes from function names. CUPTI adds a suffix to each function of the
    runtime API (cudaMalloc_v3020). gputap adds a suffix only to functions with several forms."""
    found = collections.Counter()
    for name, count in calls.items():
        found[re.sub(r"_v\d+", "", name)] += count
    return found


def compare(machine, what, command, options=(), domain=DRIVER, seconds=180):
    capture = machine.trace(command, options, machine.beside(count=machine.work / "counts"),
                            seconds)
    counted, recorded = read_counts(machine, "counts")[domain], capture.calls()
    if domain == RUNTIME:
        counted, recorded = without_forms(counted), without_forms(recorded)
    missing = {name: calls - recorded.get(name, 0) for name, calls in counted.items()
               if recorded.get(name, 0) < calls}
    total = sum(counted.values())
    figure = f"{total - sum(missing.values()):,} of {total:,}"
    besides = sum(calls for name, calls in recorded.items()
                  if name.startswith("cuda" if domain == RUNTIME else "cu")) - total
    machine.report.judge(what, figure + f", {besides + sum(missing.values()):,} additional" +
                         "".join(f"; {name}: {n} missing"
                                 for name, n in sorted(missing.items())[:8]),
                         total > 0 and not missing)
    machine.report.judge(f"{what}: records dropped", *judge_drops(capture))
    return capture


def judge_drops(capture):
    """Return (text that lists the lost calls by reason, true if the losses are acceptable).
    Unfinished calls are acceptable, because a call in which a process was ended cannot be
    complete."""
    reasons = {why: n for why, n in capture.info()["dropped_by_reason"].items() if n}
    return ", ".join(f"{why} {n:,}" for why, n in reasons.items()) or "none", not (
        set(reasons) - {"unfinished"})


@check("calls")
def driver_program(machine):
    """Compare counts for a program that uses the driver API."""
    compare(machine, "driver API, --no-device",
            machine.program("identity", "500"), ["--no-device"])


@check("calls")
def beside_device_work(machine):
    """Compare counts while gputap and the counting client both use CUPTI."""
    compare(machine, "driver API, GPU activities recorded", machine.program("identity", "500"))


@check("calls")
def static_cudart(machine):
    """Compare counts for programs that are linked with the runtime API statically and
    dynamically."""
    for cudart in ("static", "shared"):
        compare(machine, f"cudart {cudart}, --no-device", machine.runtime_program(cudart),
                ["--no-device"])


@check("calls")
def torch(machine):
    """Compare counts for PyTorch: eager, cuBLAS, cuDNN, Triton, NCCL, a graph, copies."""
    capture = compare(machine, "torch, --no-device",
                      machine.script("gpu_torch_everything.py"), ["--no-device"])
    machine.report.say("parts run by torch", ", ".join(capture.said["ran"]))
    for part, why in capture.said["not"].items():
        machine.report.skip(f"torch, {part}", why)


@check("calls")
def cupy(machine):
    """Compare counts for CuPy."""
    compare(machine, "CuPy, --no-device",
            machine.script("gpu_cupy_program.py", needs=["cupy"]), ["--no-device"])


@check("calls")
def jax(machine):
    """Compare counts for JAX."""
    compare(machine, "JAX, --no-device",
            machine.script("gpu_jax_program.py", needs=["jax"]), ["--no-device"])
