# SPDX-License-Identifier: MIT
"""Test operators of programs that link or open libtorch without Python's torch."""
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


def compile_sums(repo, torch_folder, output, *words):
    subprocess.run([
        "g++", "-std=c++20", "-w", *words, f"-I{torch_folder}/include",
        repo / "tests/torch_cpp/sums.cpp", "-o", output, f"-L{torch_folder}/lib", "-ltorch",
        "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch_folder}/lib"
    ], check=True)
    return output


@pytest.fixture(scope="module")
def sums(tmp_path_factory, repo, torch_folder):
    return compile_sums(repo, torch_folder, tmp_path_factory.mktemp("torch_cpp") / "sums")


@pytest.fixture(scope="module")
def library(tmp_path_factory, repo, torch_folder):
    return compile_sums(repo, torch_folder, tmp_path_factory.mktemp("torch_cpp") / "sums.so",
                        "-shared", "-fPIC")


@pytest.fixture(scope="module")
def opener(tmp_path_factory, repo):
    program = tmp_path_factory.mktemp("torch_cpp") / "opener"
    subprocess.run(["cc", "-Wall", "-Werror", repo / "tests/torch_cpp/opener.c", "-o", program,
                    "-ldl", "-lpthread"], check=True)
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
    # the layout in which pip installs torch and gputap, with the program's libraries in a separate
    # folder
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
    other = tmp_path / "observer.so"  # returns 2, as our observer does for another torch version
    subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", other], text=True, check=True,
                   input="int gputap_torch_attach(int shapes) { return 2; }")
    tap("run", "-o", "a.gputap", "--", sums, env={"GPUTAP_TORCH_OBSERVER": other})
    assert "built for another version of torch" in tap("info", "a.gputap").out


def test_a_cpp_programs_operators_can_be_left_out(tap, sums, observer, work):
    tap("run", "-o", "a.gputap", "--", sums, env={**observer, **NEVER})
    assert recorded(tap) == {}


# libtorch opened with dlopen() -------------------------------------------------------

TWICE = {"three sums": "2", "aten::item": "2", "SumBackward0": "2", "aten::sum": "20"}


def test_operators_of_a_library_that_a_program_opens_are_recorded_from_the_first_on(
        tap, run, opener, library, observer, work):
    bare = run([opener, library])
    assert tap("run", "-o", "a.gputap", "--", opener, library, env=observer).out == bare.out
    names = recorded(tap)
    assert {n: names.get(n) for n in TWICE} == TWICE
    inside = tap("report", "--csv", "-t", "ranges", "--where", "range='three sums'", "a.gputap").out
    assert {r["name"]: r["count"] for r in csv.DictReader(io.StringIO(inside))
            }["aten::sum"] == "20"
    assert "libtorch_cpu.so" in tap("info", "a.gputap").out


def test_an_extension_that_python_opens_needs_no_import_of_torch(tap, torch_python, library,
                                                                 observer, work):
    script = f"import ctypes; ctypes.CDLL({str(library)!r}).sums()"
    assert tap("run", "-o", "a.gputap", "--", torch_python, "-c", script, env=observer).out == "8\n"
    names = recorded(tap)
    assert names["three sums"] == names["aten::item"] == "1"


def test_torch_that_is_imported_after_the_extension_is_observed_once(tap, torch_python,
                                                                     torch_package, library,
                                                                     observer, work):
    script = (f"import ctypes; ctypes.CDLL({str(library)!r}).sums()\n"
              "import torch; torch.relu(torch.ones(3))\n")
    tap("run", "-o", "a.gputap", "--", torch_python, "-c", script,
        env={**observer, **torch_package})
    names = recorded(tap)
    assert names["three sums"] == names["aten::item"] == names["aten::relu"] == "1"


def test_where_python_imports_torch_its_own_switch_holds(tap, torch_python, observer, work):
    tap("run", "-o", "a.gputap", "--", torch_python, "-c", "import torch; torch.ones(3)",
        env={**observer, "TORCH_DEVICE_BACKEND_AUTOLOAD": 0})
    assert recorded(tap) == {}


@pytest.mark.parametrize("given, says", [
    ({"GPUTAP_TORCH_OBSERVER": "/nonexistent"}, "pip install ./torch"), (NEVER, None)
])
def test_an_opened_library_runs_without_an_observer(tap, opener, library, given, says, work):
    assert tap("run", "-o", "a.gputap", "--", opener, library, env=given).out == "8\n8\n"
    assert recorded(tap) == {}
    assert says is None or says in tap("info", "a.gputap").out


def test_shapes_of_an_opened_library_are_recorded_when_they_are_asked_for(tap, opener, library,
                                                                          observer, work):
    tap("run", "-o", "a.gputap", "--", opener, library, env={**observer, "GPUTAP_TORCH_SHAPES": 1})
    tap("export", "a.gputap", "-o", "a.csv")
    assert "shapes=[2, 4, 2" in (work / "a.csv").read_text()
