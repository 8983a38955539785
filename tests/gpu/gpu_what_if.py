# SPDX-License-Identifier: MIT
"""Compare predictions of `gputap what-if` with programs that were really changed, on an NVIDIA GPU
with PyTorch.

    gpu_what_if.py [--gputap PATH] [--out FOLDER] [--runs N] [NAME ...]    record, predict, compare
    gpu_what_if.py --run NAME ...                                          only run the programs

One process runs the steps of each program, as it is and changed, in ranges such as "graph x1" and
"graph x0.5", so that PyTorch starts only once. The factor of a kernel's time is
measured in both kinds of ranges, because half the work does not take exactly half the time.

Each result is printed as soon as it is known, and written to FOLDER/results.json. A program that
fails or hangs does not stop the others: they continue in another process. The script ends after
--limit seconds, and names the programs that were not compared. Exit status 1 if a prediction is
off by more than 5 % and outside of its range, or if a program was not compared."""
import argparse
import json
import os
import pathlib
import queue
import signal
import statistics
import subprocess
import sys
import threading
import time

STEPS, WARM, ROUNDS = 15, 5, 2
LIMIT = 0.05
GEMM = "name=*gemm* or name=*nvjet* or name=*cutlass*"
SIZE = 2048

# name: (knob of the changed program, expression of the changed activities or calls, factor; None:
# as measured)
PROGRAMS = {
    "graph": (0.5, "name=*spin*", None),
    "two_streams": (0.5, "name=*spin*", None),
    "host_bound": (0.5, "name=*spin*", None),
    "copy_bound": (0.5, "kind='memcpy H2D'", None),
    "synchronous": (0.5, "name=*spin*", None),
    "queued": (0.5, "name=*spin*", None),
    "gemm": (0.5, GEMM, None),
    "events": (0.25, "name=*spin*", None),
    "item_each": (0, "name=*spin*", 0),
    "backward": (0.5, GEMM, None),
}


# Programs: each function returns the function that makes a step --------------------------

def spin(torch, us):
    """Launch a kernel of known length that does not slow others down."""
    if us > 0:
        torch.cuda._sleep(int(us * 1700))


def square(torch):
    return torch.randn(SIZE, SIZE, device="cuda")


def make_synchronous(torch, knob):
    x = torch.randn(1024, device="cuda")

    def step():
        for _ in range(10):
            spin(torch, 300 * knob)
            torch.cuda.synchronize()
            x.add_(1)

    return step


def make_queued(torch, knob):
    a, b = square(torch), square(torch)

    def step():
        for _ in range(10):
            spin(torch, 400 * knob)
            torch.mm(a, b)

    return step


def make_gemm(torch, knob):
    a, wide = square(torch), torch.randn(SIZE, int(8192 * knob), device="cuda")

    def step():
        for _ in range(10):
            torch.mm(a, wide)
            a.mul_(1.0)

    return step


def make_graph(torch, knob):
    queued = make_queued(torch, knob)
    queued()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        queued()
    # the graph reads the tensors of queued()
    return lambda keep=queued: captured.replay()


def make_two_streams(torch, knob):
    a, b, side = square(torch), square(torch), torch.cuda.Stream()

    def step():
        spin(torch, 2000 * knob)
        with torch.cuda.stream(side):
            for _ in range(4):
                torch.mm(a, b)
        torch.cuda.synchronize()

    return step


def make_events(torch, knob):
    a, b, side, done = square(torch), square(torch), torch.cuda.Stream(), torch.cuda.Event()

    def step():
        for _ in range(4):
            spin(torch, 800 * knob)
            done.record()
            with torch.cuda.stream(side):
                side.wait_event(done)
                for _ in range(2):
                    torch.mm(a, b)
        torch.cuda.current_stream().wait_stream(side)

    return step


def make_host_bound(torch, knob):
    x = torch.randn(1024, device="cuda")

    def step():
        for _ in range(200):
            spin(torch, 4 * knob)
            x.add_(1)

    return step


def make_copy_bound(torch, knob):
    a, b = square(torch), square(torch)
    host = torch.empty(int((64 << 20) * knob), dtype=torch.uint8, pin_memory=True)
    memory = torch.empty_like(host, device="cuda")

    def step():
        for _ in range(4):
            memory.copy_(host, non_blocking=True)
            torch.mm(a, b)

    return step


def make_item_each(torch, knob):
    x = torch.randn(1024, device="cuda")

    def step():
        for _ in range(20):
            spin(torch, 100 * knob)
            x.sum().item()

    return step


def make_backward(torch, knob):
    layers = torch.nn.Sequential(*[torch.nn.Linear(SIZE, SIZE) for _ in range(8)]).cuda()
    inputs = torch.randn(int(4096 * knob), SIZE, device="cuda")

    def step():
        layers(inputs).square().mean().backward()
        layers.zero_grad(set_to_none=True)

    return step


def run_step(torch, name, knob, step):
    torch.cuda.nvtx.range_push(f"{name} x{knob:g}")
    step()
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()


def run_program(torch, name):
    knobs = (1, PROGRAMS[name][0])
    steps = [globals()[f"make_{name}"](torch, knob) for knob in knobs]
    for _ in range(ROUNDS):
        for knob, step in zip(knobs, steps):
            for _ in range(WARM):  # the clock of the GPU and the allocator settle
                step()
            torch.cuda.synchronize()
            for _ in range(STEPS):
                run_step(torch, name, knob, step)


def run_programs(names):
    """Run the programs, and print a line at the end of each: "done NAME" or "failed NAME: why"."""
    import torch
    for name in names:
        try:
            run_program(torch, name)
        except Exception as error:
            lines = str(error).strip().splitlines() or [""]
            print(f"failed {name}: {type(error).__name__}: {lines[0]}", flush=True)
            torch.cuda.synchronize()  # ends the process if the context is no longer usable
        else:
            print(f"done {name}", flush=True)


# Recording -------------------------------------------------------------------------------

class Failure(Exception):
    pass


def send_lines(stream, lines):
    """Put the lines of @stream, and None at its end, into the queue @lines."""
    for line in stream:
        lines.put(line.rstrip())
    lines.put(None)


class Recording:
    """Captures of the programs, and the reasons of those that failed."""

    def __init__(self, words, end):
        self.gputap, self.folder, self.stuck_s = words.gputap, words.out, words.stuck
        self.end = end  # of the time for recording
        self.paths = {}  # of the program's captures
        self.failed = {}

    def record(self, names, number):
        """Record the programs @names. If one ends the process or hangs, record the rest again."""
        part = 0
        while names and time.monotonic() < self.end:
            path = self.folder / f"run{number}{f'-{part}' if part else ''}.gputap"
            ended = self.run(names, path)
            # a failed program can take the process with it
            if len(ended) < len(names) and (not ended or ended[-1] not in self.failed):
                self.failed.setdefault(names[len(ended)], "the process ended")
                ended.append(names[len(ended)])
            names = names[len(ended):]
            part += 1

    def run(self, names, path):
        """Run one process, and return the names of the programs that ended in it, also those that
        failed."""
        process = subprocess.Popen(
            [self.gputap, "run", "-q", "-f", "-o", path, "--", sys.executable, __file__, "--run",
             *names], stdout=subprocess.PIPE, text=True, start_new_session=True)
        lines, ended = queue.Queue(), []
        threading.Thread(target=send_lines, args=(process.stdout, lines), daemon=True).start()
        while len(ended) < len(names):
            # importing PyTorch and starting CUDA take longer than a program
            wait_s = self.stuck_s if ended else 2 * self.stuck_s
            try:
                line = lines.get(timeout=max(0.0, min(wait_s, self.end - time.monotonic())))
            except queue.Empty:
                self.failed[names[len(ended)]] = (
                    "did not end in time" if time.monotonic() < self.end else "no time left")
                break
            if line is None:
                break
            self.take_line(line, names[len(ended)], path, ended)
        self.stop(process, 20 if len(ended) == len(names) else 0)
        return ended

    def take_line(self, line, name, path, ended):
        if line == f"done {name}":
            self.paths.setdefault(name, []).append(path)
            ended.append(name)
        elif line.startswith(f"failed {name}: "):
            self.failed[name] = line[len(f"failed {name}: "):]
            ended.append(name)
        print(f"{time.strftime('%T')} {line}", flush=True)

    @staticmethod
    def stop(process, patience_s):
        """Wait for the end of gputap and the program. End them if they take longer."""
        for number, wait_s in ((None, patience_s), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            try:
                if number:
                    os.killpg(process.pid, number)
                return process.wait(wait_s)
            except subprocess.TimeoutExpired:
                continue
        return None


# Comparison ------------------------------------------------------------------------------

class Comparison:
    def __init__(self, gputap, recording, end):
        self.gputap, self.recording, self.end = gputap, recording, end

    def ask(self, *words):
        """Return the output of a command of gputap that prints JSON."""
        left_s = self.end - time.monotonic()
        if left_s <= 0:
            raise Failure("no time left")
        try:
            done = subprocess.run([self.gputap, *words], capture_output=True, text=True,
                                  timeout=min(left_s, 45))
        except subprocess.TimeoutExpired as error:
            raise Failure(f"gputap {words[0]} did not end within {error.timeout:.0f} s") from error
        if done.returncode:
            text = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise Failure(text[0])
        return json.loads(done.stdout)

    def what_if(self, paths, per, *words):
        return self.ask("what-if", *paths, "--per", per, "--json", *words)

    def sum_ns(self, paths, where, per):
        """Return the sum of the durations of the matching activities in the ranges @per."""
        rows = []
        for path in paths:
            report = self.ask("report", path, "--json", "-t", "kernels,copies", "--top", "0",
                              "--where", f"({where}) and range='{per}'")
            rows += report.get("kernels", []) + report.get("copies", [])
        if not rows:
            raise Failure(f"no activity matches {where} in the ranges {per}")
        return sum(r["total_ns"] for r in rows)

    def compare(self, name):
        """Return the lengths in ms, and whether the prediction is good."""
        knob, where, factor = PROGRAMS[name]
        before, after = f"{name} x1", f"{name} x{knob:g}"
        paths = self.recording.paths[name]
        if factor is None:  # both kinds of ranges are equally many
            factor = self.sum_ns(paths, where, after) / self.sum_ns(paths, where, before)
        found = self.what_if(paths, before, "--scale", where, f"{factor:.6f}")
        changed = self.what_if(paths, after)
        recorded, predicted, measured = (
            statistics.median(r[key] for r in runs) / 1e6
            for key, runs in (("recorded_ns", found["runs"]), ("predicted_ns", found["runs"]),
                              ("recorded_ns", changed["runs"])))
        low, high = found["predicted_low_ns"] / 1e6, found["predicted_high_ns"] / 1e6
        error = predicted / measured - 1
        return {
            "name": name, "factor": factor, "recorded_ms": recorded,
            "replayed": found["replayed_ns"] / found["recorded_ns"] - 1,
            "predicted_ms": predicted, "low_ms": low, "high_ms": high, "measured_ms": measured,
            "error": error, "good": abs(error) <= LIMIT or low <= measured <= high,
        }

    def result(self, name):
        """Compare, and print a line."""
        try:
            if name not in self.recording.paths:
                raise Failure(self.recording.failed.get(name, "no time left"))
            r = self.compare(name)
        except (Failure, OSError, ValueError, KeyError, ZeroDivisionError) as error:
            reason = str(error) if isinstance(error, Failure) else repr(error)
            print(f"{name:12} not compared: {reason}", flush=True)
            return {"name": name, "good": False, "reason": reason}
        print(f"{name:12} x{r['factor']:5.3f}  recorded {r['recorded_ms']:8.3f} ms  "
              f"replayed {r['replayed']:+6.2%}  predicted {r['predicted_ms']:8.3f} ms "
              f"({r['low_ms']:.3f} to {r['high_ms']:.3f})  measured {r['measured_ms']:8.3f} ms  "
              f"error {r['error']:+6.1%}{'' if r['good'] else '  WRONG'}", flush=True)
        return r


def read_words():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--gputap", default="gputap")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("what-if"))
    parser.add_argument("--runs", type=int, default=1, help="captures to make; default: 1")
    parser.add_argument("--limit", type=float, default=170, metavar="S",
                        help="end after S seconds; default: 170")
    parser.add_argument("--stuck", type=float, default=25, metavar="S",
                        help="end a program that takes longer than S seconds; default: 25")
    parser.add_argument("--run", action="store_true")
    words = parser.parse_args()
    for name in words.names:
        if name not in PROGRAMS:
            parser.error(f"no program {name}: choose from {', '.join(PROGRAMS)}")
    words.names = words.names or list(PROGRAMS)
    return words


def main():
    words = read_words()
    if words.run:
        return run_programs(words.names)
    start = time.monotonic()
    words.out.mkdir(parents=True, exist_ok=True)
    # at least a third of the time is for the comparison of the captures that exist by then
    recording = Recording(words, start + words.limit * 2 / 3)
    for number in range(words.runs):
        recording.record(words.names, number)
    comparison = Comparison(words.gputap, recording, start + words.limit)
    results = []
    for name in words.names:
        results.append(comparison.result(name))
        (words.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    good = sum(r["good"] for r in results)
    print(f"{good} of {len(results)} predictions are within {LIMIT:.0%} or their range "
          f"({time.monotonic() - start:.0f} s)", flush=True)
    return 0 if good == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
