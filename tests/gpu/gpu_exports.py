# SPDX-License-Identifier: MIT
"""Exports training steps for other readers: writes files for Perfetto and HTA to the report
folder."""

import collections
import gzip
import json

from gpu_harness import check


def load(path):
    with (gzip.open(path, "rt") if path.suffix == ".gz" else open(path, encoding="utf-8")) as file:
        return json.load(file)["traceEvents"]


@check("exports")
def training_step(machine):
    """Export three steps of a transformer as Chrome JSON like Kineto's, and as a file for
    Perfetto."""
    capture = machine.trace(machine.script("gpu_torch_train.py", "steps", "3"), seconds=180)
    trace = capture.export("train.json.gz")
    capture.export("train.hta.json.gz")
    capture.export("train.pftrace")
    events = load(trace)
    by_category = collections.Counter(event.get("cat") for event in events)
    machine.report.say("events", ", ".join(f"{name} {n:,}" for name, n in
                                           by_category.most_common(8)))
    kernels = [event for event in events if event.get("cat") == "kernel"]
    machine.report.equal("kernels in the JSON export", len(kernels), capture.kernels())
    wanted = {"device", "stream", "correlation", "grid", "block"}
    complete = sum(wanted <= set(event.get("args", {})) for event in kernels)
    machine.report.equal(f"kernels with {', '.join(sorted(wanted))}", complete, len(kernels))
    text = machine.tap("report", "-n", "12", capture.path)
    (machine.output / "train_report.txt").write_text(text, encoding="utf-8")
    machine.report.say("report", f"train_report.txt, {len(text.splitlines())} lines")
    if capture.path.stat().st_size < 12 << 20:
        (machine.output / "train.gputap").write_bytes(capture.path.read_bytes())
