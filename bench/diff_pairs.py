#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count wrong and missing verdicts of `gputap diff` on pairs with a known answer:

    bench/diff_pairs.py BUILD [--runs N] [--seed N] [--keep FOLDER] [--quick]

240 pairs of the same: 120 of synthetic captures and 120 of real runs (OpenCL on PoCL, CUDA on the
software driver, the reference accelerator), among them 24 pairs of three runs a side. A wrong
verdict is any row that changed, in any table. --quick: all 240 are synthetic.

64 pairs with one known change: 36 synthetic, 12 of OpenCL, 12 of CUDA, 4 of the reference
accelerator, whose kernels sleep for their time. A change is missed if the first five lines of the
text do not name it; "unsure" counts as missed. Changes of a time in real runs are compared with
three runs a side, because other programs may use the machine; those with one run a side are counted
apart. Runs of a program alternate with those of its changed versions.

--seed N selects other synthetic captures and other pairs of runs. Put load on the machine
yourself."""
import argparse
import collections
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

HOST = r"(longer: idle time of device 0: |mostly ')host, outside any call"

# change: pattern of a line among the first five of the text
CUDA = {
    "sync": r"100 more cuStreamSynchronize: 100 -> 200",
    "few": r"5 more cuStreamSynchronize: 100 -> 105",
    "launch": r"100 more launches of work_c: 100 -> 200",
    "copy": r"100 more Memcpy DtoH .*: 100 -> 200",
    "set": r"only in the candidate: Memset .*, 100 times",
    "alloc": r"99 more|100 more cuMem(Alloc|Free)|only in the candidate: cuMemFree",
    "grid": r"slower: kernel work_b",
    "slow": r"slower: kernel work_b",
    "pause": HOST,
    "rename": r"renamed: work_b -> work_b_v2",
    "added": r"only in the candidate: kernel work_d, 100 times",
    "gone": r"only in the baseline: kernel work_c, 100 times",
}
OPENCL = {
    "sync": r"100 more clFinish: 100 -> 200",
    "few": r"5 more clFinish: 100 -> 105",
    "launch": r"100 more launches of work_c: 100 -> 200",
    "copy": r"100 more memcpy D2H: 100 -> 200",
    "alloc": r"100 more cl(CreateBuffer|ReleaseMemObject)|only in the candidate: clReleaseMem",
    "grid": r"slower: kernel work_b",
    "slow": r"slower: kernel work_b",
    "pause": HOST,
    "rename": r"renamed: work_b -> work_b_v2",
    "added": r"only in the candidate: kernel work_d, 100 times",
    "gone": r"only in the baseline: kernel work_c, 100 times",
    "fill": r"only in the candidate: (memset|clEnqueueFill)",
}
REFDEV = {  # factor of the time of "gemm" in tests/refdev/what_if_program.c
    "1.3": r"slower: kernel gemm",
    "2": r"slower: kernel gemm",
    "0.5": r"faster: kernel gemm",
    "0": r"only in the baseline: kernel gemm, 30 times",
}
# changes of a time without a change of a count
TIMES = ("grid", "slow", "pause", "1.3", "2", "0.5")
SYNTH = [
    (["--extra", "finish:16"], r"200 more clFinish: 400 -> 600"),
    (["--extra", "finish:1600"], r"2 more clFinish: 400 -> 402"),
    (["--extra", "flush:32"], r"100 more clFlush: 400 -> 500"),
    (["--extra", "copy:16"], r"200 more memcpy D2H: 400 -> 600"),
    (["--extra", "launch:160"], r"20 more launches of kernel_0: 134 -> 154"),
    (["--extra", "kernel:160"], r"only in the candidate: kernel added_kernel, 20 times"),
    (["--extra", "alloc:32"], r"only in the candidate: clCreateBuffer, 100 times"),
    (["--slow", "1:20"], r"slower: kernel kernel_1"),
    (["--slow", "2:-25"], r"faster: kernel kernel_2"),
    (["--grid", "0:2", "--slow", "0:100"], r"slower: kernel kernel_0"),
    (["--kernel-name", "gemm"], r"renamed: kernel_0 -> gemm_0"),
    (["--slow-call", "clFlush:60"], r"slower: clFlush"),
    (["--slow-call", "clEnqueueNDRangeKernel:40"], r"slower: clEnqueueNDRangeKernel"),
    (["--pause", "50000:32"], HOST),
    (["--pause", "1000000:400"], HOST),
    (["--nested"], r"only in the candidate: clBuildProgram|fewer clFinish"),
    (["--names", "lambda:7"], r"."),  # replaced below: a kernel of another name and number
    (["--kernels", "4"], r"only in the candidate: kernel kernel_3"),
]


class Bench:
    def __init__(self, build, folder):
        self.folder = folder
        self.build = build
        self.gputap = os.path.join(build, "gputap")

    def path(self, name):
        return os.path.join(self.folder, name)

    def synth(self, name, *words):
        path = self.path(name)
        subprocess.run([os.path.join(self.build, "tests/synth/synth"), *map(str, words), "-o",
                        path], check=True)
        return path

    def compile(self):
        """Build the CUDA program with its kernels, and the program of the reference
        accelerator."""
        refdev = os.path.join(self.build, "soft/refdev")
        common = ["cc", "-O1", f"-I{REPO}", f"-I{self.build}"]
        for words in (["-shared", "-fPIC", "changed_kernels.c", "-o", self.path("kernels.so")],
                      ["changed_program.c", "-o", self.path("cuda"),
                       os.path.join(self.build, "soft/cuda/libcuda.so.1")]):
            subprocess.run([*common, *(os.path.join(REPO, "tests/cuda", w)
                                       if w.startswith("changed") else w for w in words)],
                           check=True)
        subprocess.run([*common, "-D_GNU_SOURCE", f"-I{REPO}/include",
                        os.path.join(REPO, "tests/refdev/what_if_program.c"), "-o",
                        self.path("refdev"), os.path.join(refdev, "librefdev.so.1"),
                        f"-Wl,-rpath,{refdev}", os.path.join(self.build, "libgputap.so.0"),
                        f"-Wl,-rpath,{self.build}", "-lpthread"], check=True)

    def trace(self, name, program):
        path = self.path(name)
        if not os.path.exists(path):
            subprocess.run([self.gputap, "run", "-q", "-o", path, "--", *program], check=True,
                           stdout=subprocess.DEVNULL)
        return path

    def program(self, kind, change=""):
        if kind == "cuda":
            return [self.gputap, "soft", "cuda", "--", self.path("cuda"), self.path("kernels.so"),
                    "100", change]
        if kind == "refdev":
            return [self.path("refdev"), "mixed", change or "1"]
        if kind == "opencl":
            return [os.path.join(self.build, "tests/opencl/cl_changed"), "100", change]
        return [os.path.join(self.build, "examples/steps"), "40"]

    def diff(self, before, after, *options):
        return subprocess.run([self.gputap, "diff", *before, "--vs", *after, *options],
                              check=True, stdout=subprocess.PIPE, text=True).stdout


def same_synth(count, seed):
    """Yield the words of pairs of synthetic captures that differ only in their noise."""
    shapes = [[], ["--kernels", 8], ["--waits"], ["--graphs"], ["--nested"], ["--threads", 2],
              ["--devices", 2], ["--queues", 4], ["--overlap"], ["--external"], ["--gap", 3000],
              ["--kernels", 1]]
    for i, shape in zip(range(count), itertools.cycle(shapes)):
        usual = ["--calls", (1600, 3200, 9600)[i % 3], "--noise", (2, 4, 10, 25)[i % 4], "--steps",
                 160, "--jitter", (2, 5, 20)[i // 2 % 3], *shape]
        yield [*usual, "--seed", seed + 2 * i], [*usual, "--seed", seed + 2 * i + 1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep")
    parser.add_argument("--quick", action="store_true", help="synthetic captures only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(os.path.abspath(options.build), options.keep or temporary)
        os.makedirs(bench.folder, exist_ok=True)
        sys.exit(measure(bench, options))


def count_wrong(bench, pairs):
    wrong, rows = [], collections.Counter()
    for label, before, after in pairs:
        found = [row["text"] for row in
                 json.loads(bench.diff(before, after, "--json"))["changes"]["rows"]]
        if found:
            wrong.append(label)
            print("  wrong:", label, *(os.path.basename(p) for p in (*before, *after)), "|",
                  "; ".join(found[:3]))
        rows.update(re.sub(r"[-+]?[\d.,]+", "N", text.split(",")[0]) for text in found)
    print(f"{len(pairs)} pairs of the same: {len(wrong)} with a wrong verdict;",
          "; ".join(f"{n} {name}" for name, n in rows.most_common(6)))
    return len(wrong)


def count_missed(bench, pairs, what):
    missed = unsure = 0
    for label, before, after, pattern in pairs:
        lines = bench.diff(before, after).splitlines()[:5]
        if not re.search(pattern, "\n".join(lines)):
            missed += 1
            unsure += bool(re.search(re.sub("slower|longer", "unsure", pattern), "\n".join(lines)))
            print("  missed:", label, os.path.basename(before[0]), os.path.basename(after[0]),
                  pattern, *lines[2:], sep="\n    ")
    print(f"{len(pairs)} pairs with {what}: {missed} without it in the first five lines,",
          f"of which {unsure} are named as unsure")
    return missed


def measure(bench, options):
    same, changed, single = [], [], []
    for i, words in enumerate(same_synth(240 if options.quick else 120, options.seed)):
        same.append(("synth", [bench.synth(f"s{i}a.gputap", *words[0])],
                     [bench.synth(f"s{i}b.gputap", *words[1])]))
    usual = ["--calls", 3200, "--noise", 4, "--steps", 160, "--jitter", 5]
    for i in range(2):
        for k, (words, pattern) in enumerate(SYNTH):
            seed = options.seed + 100 * i + 2 * k
            base = ["--seed", seed]
            if "lambda:7" in words:
                base += ["--names", "lambda:2", "--kernels", 1]
                words = ["--names", "lambda:7", "--kernels", 1, "--slow", "0:30"]
                pattern = r"slower: kernel run<f\(\)::\{lambda\(int\)#7\}>"
            changed.append((f"synth {words}",
                            [bench.synth(f"c{i}.{k}a.gputap", *usual, *base)],
                            [bench.synth(f"c{i}.{k}b.gputap", *usual, *base, *words, "--seed",
                                         seed + 1)], pattern))
    if not options.quick:
        bench.compile()
        runs = collections.defaultdict(list)
        changes = [(kind, change, pattern) for kind, table in
                   (("cuda", CUDA), ("opencl", OPENCL), ("refdev", REFDEV))
                   for change, pattern in table.items()]
        for i in range(options.runs):
            for kind in ("cuda", "opencl", "refdev", "steps"):
                runs[kind].append(bench.trace(f"{kind}.{i}.gputap", bench.program(kind)))
            for kind, change, _ in changes:
                if i < 3:
                    bench.trace(f"{kind}.{change}.{i}.gputap", bench.program(kind, change))
        for n, (kind, change, pattern) in enumerate(changes):
            after = [bench.path(f"{kind}.{change}.{i}.gputap") for i in range(3)]
            before, is_time = runs[kind][:3], change in TIMES
            changed.append((f"{kind} {change}", before if is_time else before[n % 3:][:1],
                            after if is_time else after[n % 3:][:1], pattern))
            if is_time:
                single += [(f"{kind} {change}", [before[i]], [after[i]], pattern)
                           for i in range(3)]
        draw = random.Random(options.seed + 1)
        for kind, paths in runs.items():
            for _ in range(24):
                before, after = draw.sample(paths, 2)
                same.append((kind, [before], [after]))
            for _ in range(6):
                drawn = draw.sample(paths, 6)
                same.append((f"{kind} x3", drawn[:3], drawn[3:]))
    wrong = count_wrong(bench, same)
    missed = count_missed(bench, changed, "one change")
    if single:
        count_missed(bench, single, "one change of a time, one run a side,")
    print("load at the end:", *os.getloadavg())
    return wrong + missed > 0


if __name__ == "__main__":
    main()
