# SPDX-License-Identifier: MIT
"""Compare predictions of `gputap what-if` with programs that were really changed, on an NVIDIA GPU
with PyTorch.

    gpu_what_if.py [--gputap PATH] [--out FOLDER] [--runs N] [NAME ...]    record, predict, compare
    gpu_what_if.py --run NAME ...                                          only run the programs

One process runs the steps of each program, as it is and changed, in ranges such as "graph x1" and
"graph x0.5", so that PyTorch starts only once. The factor of a kernel's time is
measured in both kinds of ranges, because half the work does not take exactly half the time. Exit
status 1 if a prediction is off by more than 5 % and outside of its range."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

STEPS, WARM, ROUNDS = 15, 5, 2
LIMIT = 0.05

# name: (knob of the changed program, expression of the changed activities or calls, factor; None:
# as measured)
PROGRAMS = {
    "synchronous": (0.5, "name=*spin*", None),
    "queued": (0.5, "name=*spin*", None),
    "gemm": (0.5, "name=*gemm* or name=*nvjet* or name=*cutlass*", None),
    "graph": (0.5, "name=*spin*", None),
    "two_streams": (0.5, "name=*spin*", None),
    "events": (0.25, "name=*spin*", None),
    "host_bound": (0.5, "name=*spin*", None),
    "copy_bound": (0.5, "kind='memcpy H2D'", None),
    "item_each": (0, "name=*spin*", 0),
    "backward": (0.5, "name=*gemm* or name=*nvjet* or name=*cutlass*", None),
}


# Programs --------------------------------------------------------------------------------

def spin(torch, us):
    """A kernel of known length that does not slow others down."""
    if us > 0:
        torch.cuda._sleep(int(us * 1700))


def make(torch, name, knob):
    """Return the function that makes a step."""
    size = 2048
    a = torch.randn(size, size, device="cuda")
    b = torch.randn(size, size, device="cuda")
    x = torch.randn(1024, device="cuda")
    wide = torch.randn(size, int(8192 * knob) or 1, device="cuda")
    side, done = torch.cuda.Stream(), torch.cuda.Event()

    def synchronous():
        for _ in range(10):
            spin(torch, 300 * knob)
            torch.cuda.synchronize()
            x.add_(1)

    def queued():
        for _ in range(10):
            spin(torch, 400 * knob)
            torch.mm(a, b)

    def gemm():
        for _ in range(10):
            torch.mm(a, wide)
            a.mul_(1.0)

    def two_streams():
        spin(torch, 2000 * knob)
        with torch.cuda.stream(side):
            for _ in range(4):
                torch.mm(a, b)
        torch.cuda.synchronize()

    def events():
        for _ in range(4):
            spin(torch, 800 * knob)
            done.record()
            with torch.cuda.stream(side):
                side.wait_event(done)
                for _ in range(2):
                    torch.mm(a, b)
        torch.cuda.current_stream().wait_stream(side)

    def host_bound():
        for _ in range(200):
            spin(torch, 4 * knob)
            x.add_(1)

    host = torch.empty(int((64 << 20) * knob) or 4, dtype=torch.uint8, pin_memory=True)
    memory = torch.empty_like(host, device="cuda")

    def copy_bound():
        for _ in range(4):
            memory.copy_(host, non_blocking=True)
            torch.mm(a, b)

    def item_each():
        for _ in range(20):
            spin(torch, 100 * knob)
            x.sum().item()

    layers = torch.nn.Sequential(*[torch.nn.Linear(size, size) for _ in range(8)]).cuda()
    inputs = torch.randn(int(4096 * knob) or 1, size, device="cuda")

    def backward():
        layers(inputs).square().mean().backward()
        layers.zero_grad(set_to_none=True)

    def graph():
        graph.captured.replay()

    if name == "graph":
        queued()
        torch.cuda.synchronize()
        graph.captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph.captured):
            queued()
    return locals()[name]


def run_step(torch, name, knob, step):
    torch.cuda.nvtx.range_push(f"{name} x{knob:g}")
    step()
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()


def run_programs(names):
    import torch
    for name in names:
        knobs = (1, PROGRAMS[name][0])
        steps = [make(torch, name, knob) for knob in knobs]
        for _ in range(ROUNDS):
            for knob, step in zip(knobs, steps):
                for _ in range(WARM):  # the clock of the GPU and the allocator settle
                    step()
                torch.cuda.synchronize()
                for _ in range(STEPS):
                    run_step(torch, name, knob, step)


# Comparison ------------------------------------------------------------------------------

class Comparison:
    def __init__(self, gputap, folder):
        self.gputap, self.folder, self.paths = gputap, folder, []
        folder.mkdir(parents=True, exist_ok=True)

    def record(self, names, number):
        path = self.folder / f"run{number}.gputap"
        subprocess.run([self.gputap, "run", "-q", "-f", "-o", path, "--", sys.executable, __file__,
                        "--run", *names], check=True)
        self.paths.append(path)

    def what_if(self, per, *words):
        out = subprocess.run([self.gputap, "what-if", *self.paths, "--per", per, "--json", *words],
                             check=True, stdout=subprocess.PIPE).stdout
        return json.loads(out)

    def mean_ns(self, where, per):
        """Return the mean duration of the matching activities in the ranges @per."""
        rows = []
        for path in self.paths:
            out = subprocess.run([self.gputap, "report", path, "--json", "-t", "kernels,copies",
                                  "--top", "0", "--where", f"({where}) and range='{per}'"],
                                 check=True, stdout=subprocess.PIPE).stdout
            report = json.loads(out)
            rows += report.get("kernels", []) + report.get("copies", [])
        if not rows:
            sys.exit(f"no activity matches {where} in the ranges {per}")
        return sum(r["total_ns"] for r in rows) / sum(r["count"] for r in rows)

    def compare(self, name):
        knob, where, factor = PROGRAMS[name]
        before, after = f"{name} x1", f"{name} x{knob:g}"
        if factor is None:
            factor = self.mean_ns(where, after) / self.mean_ns(where, before)
        found = self.what_if(before, "--scale", where, f"{factor:.6f}")
        recorded, predicted, measured = (
            statistics.median(r[key] for r in runs) / 1e6
            for key, runs in (("recorded_ns", found["runs"]), ("predicted_ns", found["runs"]),
                              ("recorded_ns", self.what_if(after)["runs"])))
        low, high = found["predicted_low_ns"] / 1e6, found["predicted_high_ns"] / 1e6
        error = predicted / measured - 1
        good = abs(error) <= LIMIT or low <= measured <= high
        print(f"{name:12} x{factor:5.3f}  recorded {recorded:8.3f} ms  "
              f"replayed {found['replayed_ns'] / found['recorded_ns'] - 1:+6.2%}  "
              f"predicted {predicted:8.3f} ms ({low:.3f} to {high:.3f})  "
              f"measured {measured:8.3f} ms  error {error:+6.1%}{'' if good else '  WRONG'}",
              flush=True)
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--gputap", default="gputap")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("what-if"))
    parser.add_argument("--runs", type=int, default=1, help="captures to make; default: 1")
    parser.add_argument("--run", action="store_true")
    words = parser.parse_args()
    for name in words.names:
        if name not in PROGRAMS:
            parser.error(f"no program {name}: choose from {', '.join(PROGRAMS)}")
    names = words.names or list(PROGRAMS)
    if words.run:
        return run_programs(names)
    comparison = Comparison(words.gputap, words.out)
    for number in range(words.runs):
        comparison.record(names, number)
    results = [comparison.compare(name) for name in names]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
