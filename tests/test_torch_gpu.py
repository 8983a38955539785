# SPDX-License-Identifier: MIT
"""Test tools/try-torch-gpu, which needs a GPU, on a machine without a GPU."""
import gzip
import json


def test_without_a_gpu_the_trial_goes_as_far_as_it_can(run, repo, build, torch_python, work):
    run([repo / "tools/try-torch-gpu", "--python", torch_python, "--gputap", build, "--pairs", "1",
         "--no-backend", work / "out"], timeout=240)
    result = json.loads((work / "out/result.json").read_text())
    if not result["machine"]["gpu"]:
        assert result["skipped"] == ["torch finds no GPU: the CPU is used instead"]
    assert result["failures"] == [] and len(result["checks"]) > 12
    assert [what for what, holds in result["checks"].items() if not holds] == []
    assert result["capture"]["of these"]["aten::gelu"] > 0
    with gzip.open(work / "out/trace.json.gz", "rt") as f:
        names = [e["name"] for e in json.load(f)["traceEvents"] if e.get("cat") == "kernel"]
    assert names.count("refdev_saxpy") == result["both, by ctypes"]["launched by ctypes"]
