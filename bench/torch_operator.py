# SPDX-License-Identifier: MIT
"""Measure gputap's cost for an operator of PyTorch, next to torch.profiler (Kineto), as Markdown.

    bench/torch_operator.py [--python PYTHON] [--gputap BUILD/gputap] [--pairs N] [WORKLOAD ..]

A leg is one process, in which torch alternates between slices without and with its observers. A
pair is two consecutive slices, one of each kind. The measure is the CPU time of the thread, because
the machine may have other load. Results are the median and the quartiles of a leg's pairs. `add` is
one operator (`torch.add(a, b, out=c)`). `train` is a training step of a small network, `small` a
training step of a larger network, whose ranges take 2 us each: forward, backward, optimizer.
`observer` is torch's own part: an observer that does nothing.

`loaded` measures programs that are not recorded. The package cannot be switched off within a
process, so each pair is two processes of the workload `add`, the first without the package.
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
import contextlib, ctypes, json, statistics, sys, time
import torch
observer, workload, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.set_num_threads(1)
torch.manual_seed(1)
a, b, c = torch.ones(4), torch.ones(4), torch.ones(4)
width, inside, rows = (64, 256, 64) if workload == 'small' else (8, 16, 4)
net = torch.nn.Sequential(torch.nn.Linear(width, inside), torch.nn.ReLU(),
                          torch.nn.Linear(inside, width))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(rows, width)

def add(times):
    for _ in range(times):
        torch.add(a, b, out=c)

def train(times):
    for _ in range(times):
        loss = net(data).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

work, times = (add, 1000) if workload == 'add' else (train, 20)

def time_slice(observed):
    torch._C._autograd._enable_record_function(observed)
    begin = time.thread_time_ns()
    work(times)
    return (time.thread_time_ns() - begin) / times

profile = contextlib.nullcontext()
if observer.startswith('kineto'):
    profile = torch.profiler.profile(record_shapes=observer == 'kineto shapes')
elif observer.endswith('.so'):
    ctypes.CDLL(observer).observe()
with profile:
    work(2 * times)
    print(json.dumps([(time_slice(False), time_slice(True)) for _ in range(pairs)]))
"""

# observers that run no code: torch's own cost of an observer
OBSERVER = """
#include <ATen/record_function.h>
static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction &) { return nullptr; }
static void end(const at::RecordFunction &, at::ObserverContext *) {}
extern "C" void observe()
{
	at::addGlobalCallback(at::RecordFunctionCallback(begin, end).scopes(
		{at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE}));
}
"""

# name, GPUTAP_TORCH_SHAPES under `gputap run`, other observer
LEGS = [
    ("observer", None, "OBSERVER.so"),
    ("gputap", "0", "none"),
    ("gputap, shapes", "1", "none"),
    ("Kineto", None, "kineto"),
    ("Kineto, shapes", None, "kineto shapes"),
]


def run_leg(options, environment, workload, shapes, observer, recorded=None):
    """Return pairs of nanoseconds: without and with observers."""
    if observer.endswith(".so"):
        observer = options.folder / observer
    command = [options.python, "-c", LEG, observer, workload, str(options.pairs)]
    if shapes is not None:
        command = [options.gputap, "run", "-q", "-f", "-o", options.folder / "a.gputap", "--",
                   *command]
        environment = {**environment, "GPUTAP_TORCH_SHAPES": shapes, **(recorded or {})}
    result = subprocess.run(command, env=environment, check=True, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(result.stdout.splitlines()[-1])


def say(title, pairs):
    bare = statistics.median(p[0] for p in pairs)
    low, middle, high = statistics.quantiles((p[1] - p[0] for p in pairs), n=4)
    print(f"| {title} | {bare:,.0f} ns | {middle:,.0f} ns ({middle / bare:.1%}) | "
          f"{low:,.0f} to {high:,.0f} ns | {len(pairs)} |", flush=True)


def compare_loaded(options, environment):
    """Compare processes without and with the package, and with `gputap run` without operators."""
    without = {name: text for name, text in environment.items() if name != "PYTHONPATH"}
    cases = {
        "package": (None, {}),
        "gputap run, no operators": ("0", {"GPUTAP_TORCH_OPERATORS": "0"}),
    }
    for title, (shapes, recorded) in cases.items():
        pairs = []
        for _ in range(options.processes):
            one, other = (statistics.median(p[1] for p in run_leg(options, *leg)) for leg in (
                (without, "add", None, "none"), (environment, "add", shapes, "none", recorded)))
            pairs.append((one, other))
        say("loaded, " + title, pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=os.environ.get("GPUTAP_TORCH_PYTHON", sys.executable))
    parser.add_argument("--gputap", default=REPO / "build/gputap", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--processes", type=int, default=7, help="pairs of `loaded`")
    parser.add_argument("workloads", nargs="*", default=["add", "train", "small", "loaded"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        options.folder = folder = pathlib.Path(name)
        subprocess.run([
            options.python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target",
            folder / "site", REPO / "torch"
        ], check=True)
        torch = pathlib.Path(subprocess.run(
            [options.python, "-c", "import torch; print(torch.__file__)"], check=True, text=True,
            stdout=subprocess.PIPE).stdout.strip()).parent
        subprocess.run([
            "g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-w", f"-I{torch}/include", "-x", "c++",
            "-", "-o", folder / "OBSERVER.so", f"-L{torch}/lib", "-ltorch_cpu", "-lc10"
        ], input=OBSERVER, text=True, check=True)
        environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "OMP_NUM_THREADS": "1",
                       "GPUTAP_QUIET": "1"}
        print("| | bare | more | quartiles | pairs |\n| --- | ---: | ---: | --- | ---: |")
        for workload in options.workloads:
            if workload == "loaded":
                compare_loaded(options, environment)
                continue
            for title, shapes, observer in LEGS:
                say(f"{workload}, {title}",
                    run_leg(options, environment, workload, shapes, observer))


if __name__ == "__main__":
    main()
