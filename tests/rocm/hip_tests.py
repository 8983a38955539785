# SPDX-License-Identifier: MIT
"""Builds HIP's own tests (the folder tests/ of a checkout of ROCm/HIP, rocm-5.2.x), and runs them
one case at a time.

    hip_tests.py build CHECKOUT FOLDER [-j N]     build a program AREA__NAME per source file, and
                                                  write its arguments to AREA__NAME.runs
    hip_tests.py run FOLDER [-j N] [--only PATTERN] [--bare FILE --gputap build/gputap]
                                                  print verdicts as lines "program, tab, case, tab,
                                                  verdict, tab, seconds"

There are two kinds of sources. Sources in tests/catch/unit contain Catch2 cases. Sources in
tests/src contain a main(), and their first comment (HIT_START to HIT_END) describes how to build
and run them. Each case runs in its own process, with the software GPU in LD_LIBRARY_PATH. With
--gputap, each case runs under `gputap run`, and only cases whose verdict differs from the verdict
in FILE are shown.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CATCH_AREAS = ("event", "stream", "streamperthread", "printf", "graph", "memory", "rtc", "kernel",
               "occupancy", "cooperativeGrps", "texture")
MAIN_AREAS = ("runtimeApi/module", "runtimeApi/cooperativeGrps", "ipc", "printf", "texture",
              "surface")
HIPCC = ["hipcc", "--offload-arch=gfx906", "-O1", "-w", "-D__HIP_PLATFORM_AMD__"]
LIMIT = 120
# If CUDA's nvcc is installed and clang++ is not in PATH, hipcc uses nvcc by default.
os.environ.update(HIP_PLATFORM="amd", HIP_COMPILER="clang", HIP_RUNTIME="rocclr")


def build_one(command, target, log, cwd=None):
    done = subprocess.run(command,
                          cwd=cwd,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        log.write_text(done.stdout)
        print(f"no build: {target.name}, see {log}", flush=True)


def catch_jobs(checkout, folder):
    """Compile the shared objects, and yield the commands that build the Catch2 files."""
    catch, objects = checkout / "tests/catch", folder / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    # The old Catch2 needs a signal stack of constant size, which glibc 2.34 removed.
    flags = [
        *HIPCC, "-std=c++17", "-DCATCH_CONFIG_NO_POSIX_SIGNALS", f"-I{catch}/include",
        f"-I{catch}/external/Catch2", f"-I{catch}/external/picojson"
    ]
    shared = []
    for name, source in (("main", "hipTestMain/main.cc"), ("context",
                                                           "hipTestMain/hip_test_context.cc"),
                         ("stream_common", "unit/stream/streamCommon.cc")):
        shared.append(objects / f"{name}.o")
        if not shared[-1].exists():
            subprocess.run([*flags, "-c", catch / source, "-o", shared[-1]], check=True)
    for area in CATCH_AREAS:
        for source in sorted((catch / "unit" / area).glob("*.cc")):
            target = folder / f"{area}__{source.stem}"
            if source.stem == "streamCommon" or target.exists():
                continue
            extra = [shared[2]] if area == "stream" else []
            yield [
                *flags, source, "-Xlinker", shared[0], "-Xlinker", shared[1],
                *[x for o in extra for x in ("-Xlinker", o)], "-o", target, "-lpthread", "-ldl",
                "-lstdc++fs"
            ], target, folder


def printf_jobs(checkout, folder):
    """Yield the commands that build the programs in ../printfExe, which the printf cases start."""
    home = folder / "printfExe"
    home.mkdir(exist_ok=True)
    for source in sorted((checkout / "tests/catch/unit/printfExe").glob("*.cc")):
        if not (home / source.stem).exists():
            yield [*HIPCC, source, "-o", home / source.stem], home / source.stem, folder


def hit_lines(source):
    """Return [(word, rest)] from the HIT comments of a file in tests/src."""
    text = source.read_text(errors="replace")
    return [(word, rest.strip()) for block in re.findall(r"HIT_START(.*?)HIT_END", text, re.S)
            for word, rest in re.findall(r"^\s*\*\s*(\w+):(.*)$", block, re.M)]


def hit_arguments(rest):
    """Return the arguments in a line without the line's conditions, or None if the line does not
    apply to AMD."""
    for word in ("EXCLUDE_HIP_PLATFORM", "EXCLUDE_HIP_RUNTIME", "EXCLUDE_HIP_COMPILER",
                 "EXCLUDE_HIP_LIB_TYPE"):
        rest, _, platforms = rest.partition(word)
        if "amd" in platforms or "all" in platforms:
            return None
    rest = rest.partition("NVCC_OPTIONS")[0].replace("CLANG_OPTIONS", "").replace(
        "HIPCC_OPTIONS", "")
    return shlex.split(rest.partition("DEPENDS")[0])


def main_jobs(checkout, folder):
    for area in MAIN_AREAS:
        for source in sorted((checkout / "tests/src" / area).glob("*.cpp")):
            target = folder / f"{area.replace('runtimeApi/', '')}-main__{source.stem}"
            lines, runs, built = hit_lines(source), [], None
            # folder of the code objects that the programs of the area load
            home = folder / f"{target.name.split('__')[0]}.files"
            for word, rest in lines:
                arguments = hit_arguments(rest)
                if arguments is None:
                    continue
                put = {
                    "%t": str(target), "%s": str(source), "%hc": shlex.join(HIPCC), "%S": str(
                        source.parent)
                }
                if word == "BUILD":
                    built = [
                        put.get(a,
                                str((source.parent / a).resolve()) if a.startswith("..") else a)
                        for a in arguments[1:]
                    ]
                elif word == "BUILD_CMD" and not target.exists():
                    home.mkdir(exist_ok=True)
                    command = " ".join(rest.split()[1:])
                    for key in ("%hc", "%cc", "%cxx", "%S", "%s", "%T", "%t"):
                        command = command.replace(
                            key, put.get(key, {"%cc": "cc", "%cxx": "c++", "%T": "."}.get(key, "")))
                    yield ["sh", "-c", command.partition("EXCLUDE_")[0]], target, home
                elif word in ("TEST", "TEST_NAMED"):
                    runs.append(shlex.join(arguments[(1 if word == "TEST" else 2):]))
            if built and runs:
                (folder / f"{target.name}.runs").write_text("\n".join(runs) + "\n")
                if not target.exists():
                    yield [*HIPCC, f"-I{checkout}/tests/src", *built, "-o", target,
                           "-lpthread"], target, folder


def build(arguments):
    checkout, folder = arguments.checkout.resolve(), arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for command, target, cwd in [
                *catch_jobs(checkout, folder), *printf_jobs(checkout, folder),
                *main_jobs(checkout, folder)
        ]:
            pool.submit(build_one, command, target, folder / "objects" / f"{target.name}.log", cwd)


def programs(folder):
    return sorted(p for p in pathlib.Path(folder).glob("*__*")
                  if p.is_file() and not p.suffix and os.access(p, os.X_OK))


def cases(program):
    """Return [(name, arguments)] for the cases of a program."""
    runs = program.with_name(program.name + ".runs")
    if runs.exists():
        return [(line or "-", shlex.split(line)) for line in runs.read_text().splitlines()]
    names = subprocess.run([program, "--list-test-names-only"], capture_output=True,
                           text=True).stdout.splitlines()
    return [(name.strip(), [re.sub(r'([,\[\]"\\])', r"\\\1", name.strip())])
            for name in names
            if name.strip()]


def verdict(status, out):
    """Return the verdict on a case: one word, followed by unusual details in parentheses."""
    if status == "timeout":
        return status
    if status < 0 or status > 128:
        number = -status if status < 0 else status - 128
        return f"killed ({signal.Signals(number).name})"
    if "HIP_SKIP_THIS_TEST" in out:
        return "skipped (by upstream's list)"
    if status or "FAILED" in out or "[  FAILED  ]" in out:
        return "failed"
    if re.search(r"\b(skipp(ed|ing)|not supported|isn't supported|doesn't support|unsupported)\b",
                 out, re.I):
        return "passed (skips parts)"
    return (
        "passed (checks nothing)"
        if "- no assertions -" in out or "assertions: - none -" in out
        else "passed"
    )


def run_case(program, arguments, around=(), limit=LIMIT):
    """Return (verdict, seconds, output) of a case. @around precedes the command."""
    home = program.with_name(program.name.split("__")[0] + ".files")
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder) / "here"
        here.mkdir()
        if home.exists():
            shutil.copytree(home, here, dirs_exist_ok=True)
        (here.parent / "printfExe").symlink_to(program.parent / "printfExe")
        start = time.monotonic()
        child = subprocess.Popen([*around, program, *arguments],
                                 cwd=here,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT,
                                 stdin=subprocess.DEVNULL,
                                 start_new_session=True)
        try:
            out, _ = child.communicate(timeout=limit)
            status = child.returncode
        except subprocess.TimeoutExpired:
            status = "timeout"
            os.killpg(child.pid, signal.SIGKILL)
            out, _ = child.communicate()
    return verdict(
        status,
        out.decode(errors="replace")), time.monotonic() - start, out.decode(errors="replace")


def run(arguments):
    arguments.folder, bare = arguments.folder.resolve(), {}
    if arguments.bare:
        bare = {
            tuple(line.split("\t")[:2]): line.split("\t")[2]
            for line in arguments.bare.read_text().splitlines()
        }
    logs = arguments.folder / ("logs-traced" if arguments.gputap else "logs-bare")
    logs.mkdir(exist_ok=True)

    def one(program, name, given):
        with tempfile.TemporaryDirectory() as folder:
            around = [arguments.gputap.resolve(), "run", "-q", "-o", f"{folder}/a.gputap", "--"
                      ] if arguments.gputap else []
            word, seconds, out = run_case(program, given, around, arguments.limit)
        (logs / re.sub(r"\W", "_", f"{program.name}.{name}")).write_text(out)
        other = bare.get((program.name, name))
        return "\t".join([program.name, name, word, f"{seconds:.1f}"] +
                         ([f"BARE {other}"] if other and other != word else []))

    wanted = arguments.only or ["*"]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [
            pool.submit(one, p, name, given)
            for p in programs(arguments.folder)
            for name, given in cases(p)
            if any(fnmatch.fnmatch(f"{p.name}.{name}", w) for w in wanted)
        ]
        for job in jobs:
            print(job.result(), flush=True)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("build")
    command.add_argument("checkout", type=pathlib.Path)
    command.add_argument("folder", type=pathlib.Path)
    command.set_defaults(run=build)
    command.add_argument("-j", dest="jobs", type=int, default=2)
    command = commands.add_parser("run")
    command.add_argument("folder", type=pathlib.Path)
    command.add_argument("--only", action="append", default=[], metavar="PATTERN")
    command.add_argument("--bare", type=pathlib.Path)
    command.add_argument("--gputap", type=pathlib.Path)
    command.add_argument("--limit", type=float, default=LIMIT)
    command.add_argument("-j", dest="jobs", type=int, default=2)
    command.set_defaults(run=run)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
