# SPDX-License-Identifier: MIT
"""What gputap costs an operator of PyTorch, beside torch.profiler (Kineto), as Markdown.

    bench/torch_operator.py [--python PYTHON] [--gputap BUILD/gputap] [--pairs N]

Each leg is a process of its own, and runs right after one without a profiler: a pair. What is
measured is the thread's own processor time, since the machine may have other work; of a leg the
median of 100 pieces, of the pairs the median difference. `add` is one operator
(`torch.add(a, b, out=c)`), `train` a step of a small network, forward, backward and optimizer.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent

LEG = """
import json, statistics, sys, time
import torch
kineto, workload = sys.argv[1:]
torch.set_num_threads(1)
torch.manual_seed(1)
a, b, c = torch.ones(4), torch.ones(4), torch.ones(4)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(4, 8)

def add(times):
    for _ in range(times):
        torch.add(a, b, out=c)

def train(times):
    for _ in range(times):
        loss = net(data).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

work, times = {'add': (add, 1000), 'train': (train, 20)}[workload]

def measure():
    pieces = []
    for _ in range(100):
        begin = time.thread_time_ns()
        work(times)
        pieces.append((time.thread_time_ns() - begin) / times)
    return statistics.median(pieces)

work(times)
if kineto == 'none':
    print(json.dumps(measure()))
else:
    with torch.profiler.profile(record_shapes=kineto == 'shapes') as profile:
        result = measure()
    print(json.dumps(result))
"""

# name, GPUTAP_TORCH_SHAPES, of Kineto
LEGS = [
    ("gputap", "0", None),
    ("gputap, shapes", "1", None),
    ("Kineto", None, "plain"),
    ("Kineto, shapes", None, "shapes"),
]


def run_leg(options, environment, folder, workload, shapes, kineto):
    command = [options.python, "-c", LEG, kineto or "none", workload]
    if shapes is not None:
        command = [options.gputap, "run", "-q", "-f", "-o", folder / "a.gputap", "--", *command]
        environment = {**environment, "GPUTAP_TORCH_SHAPES": shapes}
    result = subprocess.run(command, env=environment, check=True, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(result.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=os.environ.get("GPUTAP_TORCH_PYTHON", sys.executable))
    parser.add_argument("--gputap", default=REPO / "build/gputap", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([
            options.python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target",
            folder / "site", REPO / "torch"
        ], check=True)
        environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "OMP_NUM_THREADS": "1"}
        print("| | bare | with | more | pairs |\n| --- | --- | --- | --- | --- |")
        for workload in ("add", "train"):
            for title, shapes, kineto in LEGS:
                bare, more = [], []
                for _ in range(options.pairs):
                    bare.append(run_leg(options, environment, folder, workload, None, None))
                    more.append(run_leg(options, environment, folder, workload, shapes, kineto) -
                                bare[-1])
                alone, difference = statistics.median(bare), statistics.median(more)
                print(f"| {workload}, {title} | {alone:,.0f} ns | {alone + difference:,.0f} ns | "
                      f"{difference:,.0f} ns ({difference / alone:.0%}), "
                      f"{min(more):,.0f} to {max(more):,.0f} | {options.pairs} |", flush=True)


if __name__ == "__main__":
    main()
