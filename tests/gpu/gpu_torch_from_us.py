# SPDX-License-Identifier: MIT
"""Compare torch.profiler's CUDA activities from gputap with Kineto's own, on a GPU, and the kernels
in gputap's Chrome JSON with those in Kineto's. Prints one line of JSON.

    gpu_torch_from_us.py [GPUTAP]       needs gputap's Python package (pip install ./torch)"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STEPS = 5
KEYS = ("registers per thread", "shared memory", "blocks per SM", "warps per SM", "grid", "block",
        "est. achieved occupancy %")


def kernels(path):
    return [e for e in json.loads(pathlib.Path(path).read_text())["traceEvents"]
            if e.get("cat") == "kernel" and "dur" in e]


def traced():
    import gputap.torch
    import torch
    from torch.profiler import ProfilerActivity, profile

    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 64)).cuda()
    x = torch.randn(128, 256, device="cuda")

    def step():
        model(x).square().mean().backward()

    def run():
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()

    run()
    with gputap.torch.profile(cuda=True) as ours:
        run()
    ours.export_chrome_trace("ours.json")
    counts = gputap.torch.counts()
    linked = sum(e.device_time_total > 0 for e in ours.key_averages() if "::" in e.key)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as theirs:
        run()
    theirs.export_chrome_trace("kineto.json")
    print(json.dumps({"counts": counts, "operators_with_device_time": linked,
                      "torch_reserved": torch.cuda.max_memory_reserved()}))


def described(events):
    """Return {name: tuples with the values of KEYS}. Floating-point values are rounded as Kineto
    rounds them."""
    found = collections.defaultdict(set)
    for e in events:
        args = e["args"]
        found[e["name"]].add(tuple(
            round(args[k], 3) if isinstance(args.get(k), float) else str(args.get(k))
            if isinstance(args.get(k), list) else args.get(k) for k in KEYS))
    return found


def main(gputap):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        done = subprocess.run([
            gputap, "run", "-q", "-o", "t.gputap", "--", sys.executable, __file__, "--traced"
        ], stdout=subprocess.PIPE, text=True, check=True)
        told = json.loads(done.stdout.strip().splitlines()[-1])
        subprocess.run([gputap, "export", "-q", "t.gputap", "-o", "t.json"], check=False)
        if not os.path.exists("t.json"):
            subprocess.run([gputap, "export", "t.gputap", "-o", "t.json"], check=True)
        report = json.loads(subprocess.run([gputap, "report", "--json", "--top", "0", "t.gputap"],
                                           stdout=subprocess.PIPE, text=True, check=True).stdout)
        count = lambda path: collections.Counter(e["name"] for e in kernels(path))  # noqa: E731
        ours, kineto = count("ours.json"), count("kineto.json")
        mine, his = described(kernels("t.json")), described(kernels("kineto.json"))
        unlinked = sum("External id" not in e["args"] for e in kernels("ours.json"))
        told |= {
            "kernels_from_us": sum(ours.values()), "kernels_by_kineto": sum(kineto.values()),
            "same_names_and_counts": ours == kineto, "without_operator": unlinked,
            "differ": {name: [sorted(map(str, his[name])), sorted(map(str, mine.get(name, [])))]
                       for name in his if not his[name] <= mine.get(name, set())},
            "peak_bytes": {row["memory"]: row["peak_bytes"] for row in report["memory"]},
        }
    print(json.dumps(told))


if __name__ == "__main__":
    if sys.argv[1:] == ["--traced"]:
        traced()
    else:
        main(os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "gputap")
