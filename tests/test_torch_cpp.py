# SPDX-License-Identifier: MIT
"""Operators of C++ programs that are linked with libtorch, without Python."""
import csv
import io
import pathlib
import subprocess

import pytest

NEVER = {"GPUTAP_TORCH_OPERATORS": 0}


@pytest.fixture(scope="module")
def torch_folder(torch_python):
    found = subprocess.run([torch_python, "-c", "import torch; print(torch.__file__)"], check=True,
                           text=True, stdout=subprocess.PIPE)
    return pathlib.Path(found.stdout.strip()).parent


@pytest.fixture(scope="module")
def sums(tmp_path_factory, repo, torch_folder):
    program = tmp_path_factory.mktemp("torch_cpp") / "sums"
    subprocess.run([
        "g++", "-std=c++20", "-w", f"-I{torch_folder}/include", repo / "tests/torch_cpp/sums.cpp",
        "-o", program, f"-L{torch_folder}/lib", "-ltorch", "-ltorch_cpu", "-lc10",
        f"-Wl,-rpath,{torch_folder}/lib"
    ], check=True)
    return program


@pytest.fixture
def observer(torch_package):
    return {"GPUTAP_TORCH_OBSERVER": torch_package["PYTHONPATH"] / "gputap/_shim/observer.so"}


def recorded(tap):
    rows = csv.DictReader(io.StringIO(tap("report", "--csv", "-t", "ranges", "a.gputap").out))
    return {r["name"]: r["count"] for r in rows}


def test_a_cpp_programs_operators_are_recorded_without_python(tap, sums, observer, work):
    assert tap("run", "-o", "a.gputap", "--", sums, env=observer).out == "8\n"
    names = recorded(tap)
    assert names["aten::item"] == names["SumBackward0"] == "1"
    assert "libtorch_cpu.so" in tap("info", "a.gputap").out


def test_the_observer_is_found_beside_torch(tap, sums, observer, torch_folder, tmp_path, work):
    # as pip installs both: the program's libraries come from a folder of its own
    site = tmp_path / "site-packages"
    (site / "torch").mkdir(parents=True)
    (site / "torch/lib").symlink_to(torch_folder / "lib")
    (site / "gputap").symlink_to(observer["GPUTAP_TORCH_OBSERVER"].parent.parent)
    tap("run", "-o", "a.gputap", "--", sums, env={"LD_PRELOAD": site / "torch/lib/libtorch_cpu.so"})
    assert recorded(tap)["aten::item"] == "1"


def test_without_an_observer_the_capture_says_so(tap, sums, work):
    tap("run", "-o", "a.gputap", "--", sums, env={"GPUTAP_TORCH_OBSERVER": "/nonexistent"})
    assert "pip install ./torch" in tap("info", "a.gputap").out


def test_an_observer_of_another_torch_is_not_used(tap, sums, tmp_path, work):
    other = tmp_path / "observer.so"  # says what ours says to another torch's version
    subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", other], text=True, check=True,
                   input="int gputap_torch_attach(int shapes) { return 2; }")
    tap("run", "-o", "a.gputap", "--", sums, env={"GPUTAP_TORCH_OBSERVER": other})
    assert "built for another torch" in tap("info", "a.gputap").out


def test_a_cpp_programs_operators_can_be_left_out(tap, sums, observer, work):
    tap("run", "-o", "a.gputap", "--", sums, env={**observer, **NEVER})
    assert recorded(tap) == {}
