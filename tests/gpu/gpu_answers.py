# SPDX-License-Identifier: MIT
"""Check recording windows, the flight recorder, causes of idle time, memory, stacks and differences
between runs of PyTorch on a real device."""

import concurrent.futures
import json
import signal
import time

from gpu_harness import Broken, Capture, check

STEPS, OWN = 30, "CUDAFunctorOnSelf_add"  # kernel of x.add_(1.0)
SLOW, LONG, LONG_MS = 7, 12, 50
MIB = 1 << 20
BUILT_IN = 0.95  # the report must show this share of the provoked `host` time


def steps(machine, count, *more):
    return machine.script("gpu_torch_steps.py", count, *more)


def table(machine, capture, name, *options):
    """Return the rows of a report table."""
    return json.loads(machine.tap("report", "--json", "--top", "0", "-t", name, *options,
                                  capture.path))[name]


def judge_links(machine, capture):
    seen = capture.report()
    machine.report.equal("linked GPU activities", seen["linked"], seen["activities"])


@check("answers")
def window_of_steps(machine):
    """Record five steps with --from step#10 --to step#14."""
    capture = machine.trace(steps(machine, STEPS), ["--from", "step#10", "--to", "step#14"])
    wanted = 5 * capture.said["kernels_of_a_step"]
    machine.report.equal("kernels of the five steps", capture.kernels(OWN), wanted)
    machine.report.equal("all kernels", capture.kernels(), wanted)
    judge_links(machine, capture)


@check("answers")
def never_started(machine):
    """Record nothing with --paused."""
    capture = machine.trace(steps(machine, STEPS), ["--paused"])
    machine.report.equal("GPU activities and calls",
                         capture.report()["activities"] + capture.report()["calls"], 0)


@check("answers")
def started_from_outside(machine):
    """Run gputap start and stop in a session that starts paused."""
    folder = machine.work / "late"
    folder.mkdir()
    command = machine.script("gpu_torch_late.py", folder)
    path = machine.next_path()

    def wait_for(name):
        end = time.monotonic() + 60
        while not (folder / name).exists():
            if time.monotonic() > end or running.done():
                raise Broken(f"the program did not reach {name!r}")
            time.sleep(0.01)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(machine.trace, command, ["--paused"])
        for wanted, control, made in (("ready", "start", "started"), ("done", "stop", "stopped")):
            wait_for(wanted)
            machine.tap(control, "-q", path)
            (folder / made).touch()
        capture = running.result()
    machine.report.equal("kernels between start and stop", capture.kernels("MulFunctor"), 1000)
    judge_links(machine, capture)


@check("answers")
def triggered(machine):
    """Run --keep with a --trigger on the duration of a kernel."""
    capture = machine.trace(steps(machine, STEPS, f"long={LONG}"), [
        "--keep", "1h", "--keep-after", "0", "--trigger",
        f"kind=kernel and duration>{LONG_MS}ms"])
    snapshot = machine.work / f"{capture.path.stem}.1.gputap"
    if not snapshot.exists():
        raise Broken(f"no snapshot was written; gputap printed: {capture.err[-600:]!r}")
    kept = json.loads(machine.tap("info", "--json", snapshot))["retained"]
    machine.report.judge("reason of the snapshot", f"{kept['reason']}: {kept['what']}",
                         kept["reason"] == "trigger" and "spin_kernel" in kept["what"])
    machine.report.equal("that kernel in the snapshot",
                         Capture(machine, snapshot).kernels("spin_kernel"), 1)
    whole = capture.said["kernels_of_a_step"] * STEPS + 1
    machine.report.equal("kernels of the whole run in its capture", capture.kernels(OWN), whole)


@check("answers")
def killed(machine):
    """Retain the last second with --keep 1s when the program ends with SIGKILL."""
    capture = machine.trace(steps(machine, 150, "killed"), ["--keep", "1s"],
                            status=-signal.SIGKILL)
    kept = capture.info()["retained"]
    found, each = capture.kernels(OWN), capture.said["kernels_of_a_step"]
    machine.report.judge("kernels in the last second (20 ms per step)", f"{found:,}",
                         each <= found <= 150 * each)
    machine.report.say("retained", json.dumps(kept))
    last = table(machine, capture, "ranges", "--where", "name=step")
    machine.report.judge("retained steps", f"{sum(row['count'] for row in last)}", bool(last))


@check("answers")
def causes(machine):
    """Check causes of idle time while the host loads, allocates and frees."""
    capture = machine.trace(steps(machine, STEPS, "hold=4096"))
    spent, rows = capture.said["spent_ns"], table(machine, capture, "idle")
    found = {}
    for row in rows:
        found[row["cause"]] = found.get(row["cause"], 0) + row["idle_ns"]
    for cause, range_of_it in (("host", "load"), ("allocating", "allocate"), ("freeing", "free")):
        ours, built = found.get(cause, 0), spent[range_of_it]
        machine.report.judge(f"{cause}: share of the time in the program",
                             f"{ours / 1e6:.2f} of {built / 1e6:.2f} ms, {ours / built:.1%}",
                             BUILT_IN <= ours / built if cause == "host" else ours > 0)
    mostly = [row["mostly"] for row in rows if row["cause"] == "host"]
    machine.report.judge("host: main cause", str(mostly), "load" in str(mostly))
    machine.report.say("idle ms by cause",
                       json.dumps({k: round(v / 1e6, 2) for k, v in found.items()}))


@check("answers")
def memory(machine):
    """Compare the peak of device memory with the memory that PyTorch reserved."""
    capture = machine.trace(steps(machine, 3, "hold=1024"))
    rows = [row for row in table(machine, capture, "memory") if row["memory"] == "device"]
    peak = {row["device"]: row["peak_bytes"] for row in rows}
    said = capture.said["reserved"]
    machine.report.judge("peak on device 0; torch's peak", f"{peak}, {said / MIB:.0f} MiB",
                         list(peak) == [0] and said <= peak[0] < said + 64 * MIB)


@check("answers")
def stacks(machine):
    """With --stacks, find the Python line that launched a kernel."""
    capture = machine.trace(steps(machine, STEPS), ["--stacks"])
    rows = table(machine, capture, "stacks", "--where", f"name=*{OWN}*")
    whole = sum(row["count"] for row in rows)
    ours = sum(row["count"] for row in rows
               if any("train at gpu_torch_steps.py" in frame for frame in row["stack"]))
    machine.report.equal("kernels with a stack", whole, capture.kernels(OWN))
    machine.report.equal("kernels with train() in their stack", ours,
                         STEPS * capture.said["kernels_of_a_step"])


@check("answers")
def differences(machine):
    """Compare runs with diff: equal runs, and runs whose steps take longer to load."""
    def runs(*more):
        return [machine.trace(steps(machine, STEPS, *more)).path for _ in range(3)]

    before, same, slower = runs(), runs(), runs("load=30")

    def diff(after, status):
        done = machine.run([machine.gputap, "diff", "--json", "--fail-over", "10%", *before,
                            "--vs", *after], 120, machine.own, status=None)
        machine.report.judge(f"exit status, expected {status}", done.returncode,
                             done.returncode == status)
        return json.loads(done.stdout)

    said = diff(same, 0)["verdicts"]
    machine.report.judge("equal runs: slower, faster", f"{said['slower']}, {said['faster']}",
                         not said["slower"])
    rows = {row["name"]: row["verdict"] for row in diff(slower, 1)["ranges"]}
    machine.report.judge("longer load: ranges", str(rows),
                         rows["load"] == rows["step"] == "slower")


@check("answers")
def step_that_took_longer(machine):
    """Compare a slow step with the other steps of one capture: diff finds that its range `load` is
    slower."""
    capture = machine.trace(steps(machine, STEPS, f"slow={SLOW}"))
    said = json.loads(machine.tap("diff", "--json", capture.path, "--baseline",
                                  f"range=step and not range=step#{SLOW}", "--candidate",
                                  f"range=step#{SLOW}"))
    row = next(row for row in said["ranges"] if row["name"] == "load")
    machine.report.judge("load", f"{row['verdict']}, {row['change_ns'] / 1e6:+.1f} ms",
                         row["verdict"] == "slower")
