# SPDX-License-Identifier: MIT
"""Compare messages about runs that no synthetic capture covers with golden files, at 80 and 120
columns: a pause, children of multiprocessing, long command lines, processes that bypass gputap.
Words replace times, process ids and host names. Column widths depend on times, so rows are compared
without spaces. GPUTAP_GOLDEN=1 rewrites the files."""

import os
import re
import stat
import subprocess

import pytest

import conftest

GOLDEN = conftest.REPO / "tests" / "golden"

pytestmark = pytest.mark.parametrize("columns", [80, 120])


def check_golden(name, columns, text):
    path = GOLDEN / f"{name}_{columns}.txt"
    assert max(map(len, text.splitlines())) <= columns
    if os.environ.get("GPUTAP_GOLDEN"):  # review the difference before committing
        path.write_text(text)
    assert text == path.read_text(), f"differs from {path}"


def plain(text):
    """Return @text without the parts that differ between runs or machines."""
    text = re.sub(r"/\S*/(?=(cl_golden|cl_pauses|sleep)\b)", "PATH/", text)
    text = re.sub(r"(?<= on )\S+(?=,)", "HOST", text)
    text = re.sub(r"\b[\d.]+ (ns|us|ms|s)\b", "TIME", text)
    text = re.sub(r"\b[\d.]+%", "SHARE", text)
    # times are aligned in their columns
    return re.sub(r"(?<=TIME) +|(?<=\S) +(?=TIME|SHARE)", " ", text)


def head(text):
    return text.split("\n\n")[0] + "\n"


def kernels(report):
    """Return the number of launches of each kernel, as lines sorted by name."""
    rows = re.findall(r"^ +\S+ \S+ +[\d.]+% +(\d+) .* (\w+)$", report.split("\nKernels\n")[1], re.M)
    return "".join(f"  {count} {name}\n" for count, name in sorted(rows, key=lambda r: r[1]))


def test_a_pause_leaves_its_work_out_and_is_among_the_calls(tap, run, build, repo, work, columns):
    """Five kernels are launched during the pause and appear in no table."""
    roctx = build / "src/compat/roctx"
    subprocess.run([
        "cc", "-O1", f"-I{repo}/include", repo / "tests/opencl/cl_pauses.c", "-o", "cl_pauses",
        "-lOpenCL", f"-L{roctx}", "-l:libroctx64.so.4", f"-Wl,-rpath,{roctx}"
    ],
                   check=True)
    run(["./cl_pauses"])  # fills PoCL's cache, so that no compiler runs under gputap
    tap("run", "-q", "-o", "a.gputap", "./cl_pauses")
    env = {"COLUMNS": columns}
    report = tap("report", "a.gputap", "-t", "operations,kernels", env=env).out
    roctx = re.findall(r"^ .* (roctx\w+)$", report, re.M)
    check_golden(
        "pause", columns,
        plain(head(report)) + "\nroctx\n" + "".join(f"  {name}\n" for name in sorted(roctx)) +
        "\nKernels\n" + kernels(report))


# The pool ends its workers with SIGTERM.
CHILDREN = """
import ctypes, multiprocessing

def call(both):
    ctypes.CDLL("libOpenCL.so.1").clGetPlatformIDs(0, None, ctypes.byref(ctypes.c_uint()))
    both.wait()

if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(2, initializer=call, initargs=(spawn.Barrier(2),)) as pool:
        pool.map(abs, range(4))
"""


def test_children_of_multiprocessing_are_nothing_to_worry_about(tap, work, columns):
    (work / "children.py").write_text(CHILDREN)
    env = {"COLUMNS": columns}
    said = tap("run", "-o", "a.gputap", "/usr/bin/python3", "children.py", env=env).err
    report = tap("report", "--all", "a.gputap", env=env).out
    check_golden("children", columns, plain(said) + "\n" + plain(head(report)))


@pytest.fixture
def usual_umask():
    old = os.umask(0o022)
    yield
    os.umask(old)


def test_what_a_capture_keeps_and_who_may_read_it(tap, build, work, usual_umask, columns):
    env, text = {"COLUMNS": columns}, ""
    for number, options in enumerate(([], ["--no-command"], ["--no-args", "--share"])):
        program, capture = build / "tests/opencl/cl_golden", f"{number}.gputap"
        said = tap("run", "-o", capture, *options, program, "of", "a", "secret", env=env)
        info = tap("info", capture, env=env).out.split("\n")
        kept = [line for line in info if re.match(r"  (command|in|mode|recorded) ", line)]
        text += f"$ gputap run {' '.join([*options, 'cl_golden of a secret'])}\n"
        text += said.err.splitlines()[-1] + "\n"
        text += f"{stat.filemode(os.stat(capture).st_mode)} {capture}\n"
        text += "\n".join(kept) + "\n\n"
    check_golden("privacy", columns, plain(text.replace(str(work), "FOLDER")))


def test_a_process_that_came_past_us_is_in_the_headline(tap, build, work, columns):
    env = {"COLUMNS": columns}
    past, caller = build / "tests/tree/past", build / "tests/tree/caller"
    said = tap("run", "-o", "a.gputap", "sh", "-c",
               f"{caller} calls:5 exit:0; {past} instruction {caller} sleep:3000 exit:0; exit 0",
               env=env).err
    report = tap("report", "--all", "a.gputap", env=env).out
    text = plain(re.split(r"\n +time  share|\nCalls", said)[0] + "\n\n" + head(report))
    check_golden("past", columns, re.sub(r"a\.gputap:\s+sh -c .*\n", "", text))
