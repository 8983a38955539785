# SPDX-License-Identifier: MIT
"""Check GPU activities: all are recorded with their sizes, are linked to the calls that submitted
them, and lie between these calls and the synchronisations after them."""

import collections
import re

from gpu_harness import check, show_spread

THREADS = 4
# Activities that gpu_program's scene `shapes` submits: for kernels {name: (number of threads,
# threads per block)}, and for memcpys and memsets their bytes.
KERNELS = {"tiny": ((7 * 32, 2 * 2, 1), (32, 2, 1)),
           "second": ((5 * 16, 3 * 4, 2 * 2), (16, 4, 2))}
COPIES = [1001, 1002, 1003, 1004, 1005, 1006]
SETS = [2001, 2002, 2 * 2003, 4 * 2004]


def kind_of(row):
    if row["operation"] in ("kernel", "memset"):
        return row["operation"]
    return "memcpy D2D"


def number(text):
    return int(text) if text else 0


def split(rows):
    """Return ({(process, correlation id): call}, GPU activities)."""
    calls, work = {}, []
    for row in rows:
        if row["kind"] == "call":
            calls[row["process"], row["correlation"]] = row
        elif row["kind"] == "device":
            work.append(row)
    return calls, work


def identity_of_work(row):
    kind = kind_of(row)
    if kind != "kernel":
        return kind, number(row["bytes"])
    return kind, (number(row["global_x"]), number(row["local_x"]))


def identity_of_call(row):
    """Return the values that the record of this call's activity must have, according to the call's
    arguments."""
    arguments = dict(re.findall(r"(\w+)=(\w+)", row["arguments"]))
    if "Launch" in row["operation"]:
        block = int(arguments["blockDimX"])
        return "kernel", (int(arguments["gridDimX"]) * block, block)
    return ("memset" if "Memset" in row["operation"] else "memcpy D2D",
            int(arguments.get("ByteCount", arguments.get("N", 0))))


def wanted_identities(count):
    wanted = collections.Counter()
    for i in range(count // THREADS):
        for k in range(THREADS):
            own = i * THREADS + k
            if i % 10 in (3, 7):
                wanted["memcpy D2D" if i % 10 == 3 else "memset", own + 1] += 1
            else:
                block = own % 1024 + 1
                wanted["kernel", ((own // 1024 + 1) * block, block)] += 1
    return wanted


@check("work")
def identities(machine):
    """Launch from 4 threads on 3 shared streams, with sizes that identify each operation."""
    capture = machine.trace(machine.program("identity", "500" if machine.quick else "20000"))
    total = capture.said["operations"]
    calls, work = split(capture.rows())
    found = collections.Counter(identity_of_work(row) for row in work)
    right = sum((found & wanted_identities(total)).values())
    machine.report.equal("operations with a record of their sizes", right, total)
    machine.report.equal("GPU activity records", len(work), total)
    linked = sum(identity_of_work(row) == identity_of_call(calls[row["process"],
                                                                 row["correlation"]])
                 for row in work if (row["process"], row["correlation"]) in calls)
    machine.report.equal("records linked to the call with the same sizes", linked, total)


@check("work")
def shapes(machine):
    """Check the names, grids, blocks and bytes of the activities that each launching function
    submits."""
    _, work = split(machine.trace(machine.program("shapes")).rows())
    kernels = {row["name"]: tuple(tuple(number(row[f"{size}_{axis}"]) for axis in "xyz")
                                  for size in ("global", "local"))
               for row in work if kind_of(row) == "kernel"}
    machine.report.judge("kernels: names, threads, threads per block", str(kernels),
                         kernels == KERNELS)
    for kind, wanted in (("memcpy D2D", COPIES), ("memset", SETS)):
        sizes = sorted(number(row["bytes"]) for row in work if kind_of(row) == kind)
        machine.report.judge(f"bytes of each {kind}", str(sizes), sizes == wanted)


@check("work")
def runtime_api(machine):
    """Check launches, memcpys, memsets, graph nodes and names of C++ kernels with a static
    cudart."""
    capture = machine.trace(machine.runtime_program("static"))
    said = capture.said
    copies, sets = capture.copies()
    machine.report.equal("kernels", capture.kernels("add_one"), said["kernels"])
    machine.report.equal("copies", copies, said["copies"])
    machine.report.equal("sets", sets, said["sets"])
    seen = capture.report()
    machine.report.equal("linked", seen["linked"], seen["activities"])
    names = {row["name"] for row in seen["kernels"]}
    machine.report.judge("names", ", ".join(sorted(names)), names == {"add_one(float*, int)"})


@check("work")
def torch(machine):
    """Count kernels of x.add_(1.0), and memcpys of a known size, in PyTorch."""
    capture = machine.trace(machine.script("gpu_torch_counted.py", "2000"))
    said, seen = capture.said, capture.report()
    machine.report.equal("kernels of x.add_(1.0)", capture.kernels("CUDAFunctorOnSelf_add"),
                         said["adds"])
    copied = sum(row["operation"] != "memset" and row["duration_ns"] != "" and
                 number(row["bytes"]) == said["bytes"] for row in split(capture.rows())[1])
    machine.report.equal("copies with the expected size", copied, said["copies"])
    machine.report.equal("linked", seen["linked"], seen["activities"])


@check("work")
def graph(machine):
    """Check that each node of a graph launch is recorded, and with --mode lite one record per
    launch."""
    command = machine.program("graph", "200")
    capture = machine.trace(command)
    said, seen = capture.said, capture.report()
    copies, sets = capture.copies()
    machine.report.equal("kernels", capture.kernels("tiny"), said["kernels"])
    machine.report.equal("copies", copies, said["copies"])
    machine.report.equal("sets", sets, said["sets"])
    calls, work = split(capture.rows())
    linked = sum(calls.get((row["process"], row["correlation"]), {}).get("operation") ==
                 "cuGraphLaunch" for row in work)
    machine.report.equal("linked to cuGraphLaunch", linked, seen["activities"])
    launches = len({(row["graph"], row["graph_replay"]) for row in work if row["graph_node"]})
    machine.report.equal("launches with recorded nodes", launches, said["launches"])
    lite = machine.trace(command, ["--mode", "lite"])
    machine.report.equal("--mode lite: records", lite.report()["activities"], said["launches"])


@check("work")
def millions(machine):
    """Launch 10 million kernels from 4 threads on 3 streams, and check that none is lost."""
    count = "20000" if machine.quick else "10000000"
    capture = machine.trace(machine.program("count", count), seconds=280)
    said, seen = capture.said, capture.report()
    machine.report.equal("kernels recorded", capture.kernels("tiny"), said["kernels"])
    machine.report.equal("linked kernels", seen["linked"], said["kernels"])
    machine.report.judge("records dropped", f"{seen['dropped']:,}", not seen["dropped"])
    machine.report.say("launch time, total run time, capture size",
                       f"{said['seconds']:.1f} s, {capture.seconds:.1f} s, "
                       f"{capture.path.stat().st_size / 1e6:,.0f} MB")


@check("work")
def clock(machine):
    """Check that kernels lie between the start of their launch and the end of the next sync."""
    capture = machine.trace(machine.program("clock", "200" if machine.quick else "3000"))
    calls, work = split(capture.rows())
    ends = sorted((int(row["start_ns"]), int(row["end_ns"])) for row in calls.values()
                  if row["operation"] == "cuCtxSynchronize")
    before, after, lasted = [], [], []
    for row, (_, synchronised) in zip(sorted(work, key=lambda r: number(r["start_ns"])), ends):
        launched = calls[row["process"], row["correlation"]]["start_ns"]
        before.append(number(row["start_ns"]) - int(launched))
        after.append(synchronised - number(row["end_ns"]))
        lasted.append(number(row["duration_ns"]))
    outside = sum(b < 0 or a < 0 for b, a in zip(before, after))
    machine.report.judge("kernels outside launch and wait", f"{outside} of {len(work):,}",
                         not outside and len(work) == capture.said["kernels"])
    if work:
        machine.report.say("launch to start, minimum",
                           f"{min(before):,} ns; {show_spread(before)}")
        machine.report.say("end to synchronised, minimum",
                           f"{min(after):,} ns; {show_spread(after)}")
        machine.report.say("duration of a 20 us kernel", show_spread(lasted))
    for device in capture.info()["devices"]:
        if device["domain"].startswith("cuda"):
            machine.report.say("device clock", f"{device['clock']}, residual "
                               f"{device['residual_ns']} ns, {device['violations']} violations")
