# SPDX-License-Identifier: MIT
"""Measure what an attach leaves behind after the detach, with x.add_(1.0) in a loop.

    gpu_torch_attach_cost.py FOLDER [PAIRS [TURNS]]

Each pair has two processes: gputap is attached to one of them and detached. Both are measured in
turns, before the attach, meanwhile and after the detach, so that the machine's changes of speed
cancel out. Prints, for each phase, the medians of the quotients attached / control of all turns, in
percent above 100, as a JSON object."""
import json
import os
import statistics
import subprocess
import sys
import time

BURSTS, BURST = 8, 300
PROCESSOR = 3  # of all workers, so that both have the same one


def work(folder):
    """Follow commands from standard input."""
    import torch
    import gpu_attached
    x = torch.ones(64, device="cuda")
    torch.cuda.synchronize()
    os.sched_setaffinity(0, {PROCESSOR})  # this thread alone
    session = None
    for line in sys.stdin:
        word = line.strip()
        answer = 0
        if word == "measure":
            found = []
            for _ in range(BURSTS):
                begin = time.perf_counter_ns()
                for _ in range(BURST):
                    x.add_(1.0)
                found.append((time.perf_counter_ns() - begin) / BURST)
                torch.cuda.synchronize()
            answer = statistics.quantiles(found, n=4)[0]
        elif word == "warm":
            until = time.monotonic() + 1
            while time.monotonic() < until:
                x.add_(1.0)
            torch.cuda.synchronize()
        elif word.startswith("attach"):
            session = gpu_attached.Session(f"{folder}/cost.gputap", *word.split()[1:])
            thread, longest, last = session.attach_in_thread(), 0, time.perf_counter_ns()
            while thread.is_alive():
                x.add_(1.0)
                now = time.perf_counter_ns()
                longest, last = max(longest, now - last), now
            answer = {"attach_ms": round(session.seconds * 1000, 1),
                      "longest_gap_ms": round(longest / 1e6, 1)}
        elif word == "detach":
            session.process.communicate("end\n", timeout=60)
        print(json.dumps(answer), flush=True)


class Worker:
    def __init__(self, folder):
        self.process = subprocess.Popen([sys.executable, __file__, "worker", folder], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def say(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def compare(attached, control, turns):
    """Return the quotients of the turns. Each turn has the order ABBA."""
    found = []
    for _ in range(turns):
        values = [worker.say("measure") for worker in (attached, control, control, attached)]
        found.append((values[0] + values[3]) / (values[1] + values[2]))
    return found


def above(quotients):
    return round((statistics.median(quotients) - 1) * 100, 2)


def measure_pair(folder, turns):
    attached, control = Worker(folder), Worker(folder)
    result = {"attach": []}
    for worker in (attached, control):
        worker.say("warm")
    before = compare(attached, control, turns)
    for number in range(2):
        result["attach"].append(attached.say("attach"))
        during = compare(attached, control, max(turns // 4, 2))
        attached.say("detach")
        attached.say("warm")
        control.say("warm")
        after = compare(attached, control, turns)
        if not number:
            result["first"] = {"during": above(during), "after": above(after)}
    result |= {"before": above(before), "during": above(during), "after": above(after)}
    result["left"] = round(100 * (statistics.median(after) / statistics.median(before) - 1), 2)
    for options in ("--no-device", "--ops cuStreamQuery", "-d cuda"):
        result[options] = attached.say("attach " + options)
        attached.say("detach")
        attached.say("warm")
    for worker in (attached, control):
        worker.process.stdin.close()
        worker.process.wait()
    return result


def main():
    if sys.argv[1] == "worker":
        work(sys.argv[2])
        return
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    turns = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    found = [measure_pair(sys.argv[1], turns) for _ in range(pairs)]
    print(json.dumps({"left": statistics.median(pair["left"] for pair in found), "pairs": found}),
          flush=True)


main()
