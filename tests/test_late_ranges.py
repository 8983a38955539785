# SPDX-License-Identifier: MIT
"""Test ranges in programs that gputap is attached to: torch's operators, and NVTX with NVIDIA's
headers where they are installed."""
import contextlib
import csv
import io
import os
import subprocess

import pytest

HEADERS = os.environ.get("GPUTAP_NVTX_HEADERS")  # contains nvtx3/nvToolsExt.h

TORCH = """
import ctypes, sys, threading, torch
x, w = torch.ones(4, 4), torch.ones(4, 4, requires_grad=True)

def step():
    torch.nn.functional.relu(x @ w).sum().backward()

def attach():
    print(ctypes.CDLL(sys.argv[1]).gputap_attach(sys.argv[2].encode()))

def together(function, times):
    threads = [threading.Thread(target=function) for _ in range(times)]
    [t.start() for t in threads]
    [t.join() for t in threads]

[step() for _ in range(3)]
together(attach, 1)
[step() for _ in range(5)]
together(step, 3)
print(float(w.grad.sum()))
"""

NVTX = """
#include <dlfcn.h>
#include <stdio.h>
#include <nvtx3/nvToolsExt.h>

int main(int argc, char **argv)
{
	int (*attach)(const char *);

	if (argc > 3) { /* the copy of NVTX decides that there is no tool */
		nvtxRangePushA("before");
		nvtxRangePop();
	}
	*(void **)&attach = dlsym(dlopen(argv[1], RTLD_NOW), "gputap_attach");
	printf("%d\\n", attach(argv[2]));
	for (int i = 0; i < 3; i++) {
		nvtxRangePushA("after");
		nvtxMarkA("mark");
		nvtxRangePop();
	}
	return 0;
}
"""


@contextlib.contextmanager
def open_session(gputap, work):
    """Yield the folder of a session, which ends after the block."""
    process = subprocess.Popen([gputap, "run", "-q", "--wait", "-o", "a.gputap", "sh", "-c",
                                'echo "$GPUTAP_SESSION"; read -r line'], cwd=work, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield process.stdout.readline().strip()
    process.communicate("\n")
    assert process.returncode == 0


@pytest.fixture
def attached(tap, run, gputap, build, work):
    """Return a function: run a program that attaches itself to a session; return its output and
    how often each range was recorded."""
    def call(command, *words, **keywords):
        with open_session(gputap, work) as folder:
            out = run([*command, build / "libgputap.so.0", folder, *words], **keywords).out
        rows = csv.DictReader(io.StringIO(tap("report", "--csv", "-t", "ranges", "a.gputap").out))
        return out, {r["name"]: int(r["count"]) or int(r["markers"]) for r in rows}
    return call


def test_torchs_operators_are_recorded_in_all_threads(attached, torch_python, torch_package, work):
    (work / "train.py").write_text(TORCH)
    out, ranges = attached([torch_python, "train.py"], env=torch_package)
    assert out == "0\n704.0\n"
    assert ranges["aten::matmul"] == ranges["ReluBackward0"] == 8


@pytest.mark.skipif(not HEADERS, reason="needs NVTX 3's headers (pip download nvidia-nvtx), in a"
                    " folder that GPUTAP_NVTX_HEADERS names")
@pytest.mark.parametrize("words", [(), ("before",)], ids=["first call later", "calls before"])
def test_ranges_of_nvtx_are_recorded_from_the_attach_on(attached, words, work):
    (work / "ranges.c").write_text(NVTX)
    subprocess.run(["cc", f"-I{HEADERS}", "-o", "ranges", "ranges.c", "-ldl"], check=True)
    assert attached(["./ranges"], *words) == ("0\n", {"after": 3, "mark": 3})
