# SPDX-License-Identifier: MIT
"""Test the libraries for torch that gputap's wheel contains: built once by tools/torch-observers,
chosen by the version of the torch that a program imports, and absent for any other torch."""
import csv
import filecmp
import io
import os
import pathlib
import shutil
import subprocess

import pytest

LIBRARIES = ("observer.so", "bridge.so")


@pytest.fixture(scope="module")
def folder_name(torch_version):
    return "torch-%d.%d" % torch_version[:2]


@pytest.fixture(scope="module")
def torch_folder(torch_python):
    """Return the folder of the installed torch."""
    found = subprocess.run([torch_python, "-c", "import torch; print(torch.__path__[0])"],
                           text=True, stdout=subprocess.PIPE, check=True)
    return pathlib.Path(found.stdout.strip())


@pytest.fixture(scope="module")
def build_observers(repo, torch_python, torch_version, torch_folder):
    """Return a function: build_observers(folder) builds the libraries of the installed torch for
    this machine, from the installed headers."""
    zig = subprocess.run([torch_python, "-c", "import ziglang"], check=False, capture_output=True)
    if zig.returncode:
        pytest.skip("needs ziglang: tools/setup torch")

    def call(folder):
        subprocess.run([
            torch_python, "-B", repo / "tools/torch-observers", "-o", folder, "--torch",
            "%d.%d" % torch_version[:2], "--processor", os.uname().machine, "--headers",
            torch_folder / "include"
        ], check=True)
        return folder / os.uname().machine
    return call


@pytest.fixture(scope="module")
def observers(build_observers, tmp_path_factory):
    return build_observers(tmp_path_factory.mktemp("observers"))


@pytest.fixture(scope="module")
def pristine(repo, torch_python, observers, tmp_path_factory):
    """Return a folder with gputap's Python package and the libraries, as a wheel installs it."""
    site = tmp_path_factory.mktemp("prebuilt") / "site"
    subprocess.run([torch_python, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
                    "--target", site, repo / "python"], check=True)
    shutil.copytree(observers, site, dirs_exist_ok=True)
    return site


@pytest.fixture
def site(pristine, tmp_path):
    """Return a copy of the installed package that the test may change."""
    return pathlib.Path(shutil.copytree(pristine, tmp_path / "site"))


@pytest.fixture
def trace(tap, torch_python, repo, work):
    """Return a function: trace(site, *words) traces the training loop with the package in @site and
    returns the result."""
    def call(site, *words, **environment):
        return tap("run", "-f", "-o", "a.gputap", *words, "--", torch_python,
                   repo / "tests/torch_loop.py",
                   env={"PYTHONPATH": site, "OMP_NUM_THREADS": 1, **environment})
    return call


def recorded(tap):
    rows = csv.DictReader(io.StringIO(tap("report", "--csv", "-t", "ranges", "a.gputap").out))
    return {r["name"]: int(r["count"]) for r in rows}


# Building ----------------------------------------------------------------------------

def test_the_libraries_are_the_same_in_each_build(build_observers, observers, folder_name,
                                                  tmp_path):
    again = build_observers(tmp_path)
    for name in LIBRARIES:
        path = pathlib.Path("gputap/_shim") / folder_name / name
        assert filecmp.cmp(observers / path, again / path, shallow=False), name


def test_every_supported_torch_has_headers_in_the_table(repo):
    """`pip install ./torch` and tools/torch-observers support the same versions."""
    table = (repo / "torch/prebuilt/observers.txt").read_text()
    rows = [line.split() for line in table.splitlines() if line and line[0] != "#"]
    versions = [wheel.split("-")[1].split(".")[:2] for wheel, _ in rows]
    found = subprocess.run(
        ["python3", "-Bc", "import build_bridge; print(*('%d.%d' % v for v in "
         "build_bridge.SUPPORTED))"], cwd=repo / "torch", check=True, text=True,
        stdout=subprocess.PIPE)
    assert [".".join(v) for v in versions] == found.stdout.split()
    assert all(len(digest) == 64 for _, digest in rows)


# A torch that fits -------------------------------------------------------------------

def test_operators_of_an_unchanged_program_are_recorded(trace, tap, pristine, torch_version):
    result = trace(pristine)
    assert result.out == "trained\n" and "no libraries" not in result.err
    names = recorded(tap)
    assert names["step"] == names["load"] == 25 and names["aten::linear"] == 50
    assert names["AddmmBackward0"] == 50 and names["gputap_test::fill"] == 25
    assert "libtorch_cpu.so" in (info := tap("info", "a.gputap").out)
    assert "%d.%d.%d" % torch_version in info and "tool failed" not in info


def test_a_recording_window_opens_at_torchs_range(trace, tap, pristine):
    trace(pristine, "--from", "step#20")
    assert recorded(tap)["step"] == 6 and recorded(tap)["aten::linear"] == 12


def test_idle_time_names_torchs_ranges(trace, tap, pristine):
    trace(pristine)
    assert "load" in tap("report", "-t", "idle", "a.gputap").out


def test_torchs_profiler_shows_the_activities(run, build, repo, torch_python, pristine, work):
    script = ("import sys; sys.path.insert(0, %r)\n"
              "import gputap.torch, torch, torch_opencl as t\n"
              "with gputap.torch.profile() as p:\n"
              "    t.fill(torch.ones(3)); t.device.finish()\n"
              "print([e.name for e in p.events() if e.device_type.name != 'CPU'])\n"
              "print(gputap.torch.counts()['kept'] > 0)\n") % str(repo / "tests")
    result = run([torch_python, "-c", script],
                 env={"PYTHONPATH": pristine, "GPUTAP_LIBRARIES": f"{build}:{build}/src/plugin"})
    assert result.out == "['Memset (Device)']\nTrue\n" and "gputap:" not in result.err


def test_torchs_import_loads_the_observer_alone(run, torch_python, pristine):
    script = "import torch, sys; print(sorted(m for m in sys.modules if m.startswith('gputap')))"
    result = run([torch_python, "-c", script], env={"PYTHONPATH": pristine})
    assert result.out == "['gputap', 'gputap._shim', 'gputap.annotate']\n" and result.err == ""


# Libraries that were built for the installed torch -----------------------------------

CHOSEN = "import torch; from gputap import _shim; print(_shim.find_library('observer')[0])"


def add_built(site, folder_name, version):
    shim = site / "gputap/_shim"
    for name in LIBRARIES:
        shutil.copy(shim / folder_name / name, shim / name)
    numbers = tuple(int(n) for n in version.split("+")[0].split("."))
    (shim / "built.py").write_text(f"VERSION = {version!r}\nNUMBERS = {numbers}\n")
    return shim


def test_libraries_built_on_this_machine_take_precedence(run, torch_python, site, folder_name,
                                                         torch_version):
    shim = add_built(site, folder_name, "%d.%d.%d" % torch_version)
    result = run([torch_python, "-c", CHOSEN], env={"PYTHONPATH": site})
    assert result.out == f"{shim / 'observer.so'}\n"


def test_libraries_built_for_another_torch_are_not_used(run, torch_python, site, folder_name):
    shim = add_built(site, folder_name, "2.10.0")
    result = run([torch_python, "-c", CHOSEN], env={"PYTHONPATH": site})
    assert result.out == f"{shim / folder_name / 'observer.so'}\n"


# A torch that none fits --------------------------------------------------------------

@pytest.fixture
def claim(tap, torch_python, site, tmp_path, work):
    """Return a function: claim(major, minor, text) traces a program with a package torch that
    claims this version, and returns the result. Its libtorch_cpu.so has no C++ symbols, so that a
    library that uses one would fail to load."""
    def call(major, minor, text):
        package = tmp_path / "fake/torch"
        package.mkdir(parents=True)
        number = (major << 24 | minor << 16) << 32
        subprocess.run(
            ["cc", "-shared", "-x", "c", "-", "-Wl,-soname,libtorch_cpu.so", "-o",
             package / "libtorch_cpu.so"], check=True, text=True,
            input=f"unsigned long aoti_torch_abi_version(void) {{ return {number}ul; }}\n")
        (package / "__init__.py").write_text(
            f"import ctypes, importlib.metadata, os\n__version__ = {text!r}\n"
            "ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libtorch_cpu.so'))\n"
            "for entry in importlib.metadata.entry_points(group='torch.backends'):\n"
            "    entry.load()()\n")
        return tap("run", "-o", "a.gputap", "--", torch_python, "-c",
                   "import torch; from gputap import _shim; _shim.load('bridge'); print(1)",
                   env={"PYTHONPATH": f"{package.parent}:{site}"})
    return call


@pytest.mark.parametrize("minor", [10, 99])
def test_a_torch_that_none_fits_is_one_line(claim, tap, folder_name, minor):
    result = claim(2, minor, f"2.{minor}.0")
    assert result.out == "1\n"
    known = folder_name[len("torch-"):]
    sentence = (f"no libraries for torch 2.{minor}: operators and devices of torch.profiler are "
                f"not recorded; use torch {known}, or a newer gputap")
    assert result.err.count(sentence) == 1
    assert sentence in " ".join(tap("info", "a.gputap").out.split())


def test_a_development_version_of_torch_is_told_how_to_build(claim, torch_version):
    text = "%d.%d.%da0+git1234567" % torch_version
    err = claim(*torch_version[:2], text).err
    assert f"no libraries for torch {text}: " in err
    assert "build them in gputap's source tree: pip install ./torch" in err


def test_a_library_that_cannot_be_loaded_is_one_line(trace, tap, site, folder_name):
    (site / "gputap/_shim" / folder_name / "observer.so").write_bytes(b"")
    result = trace(site)
    assert result.out == "trained\n"
    assert result.err.count("observer cannot be loaded (") == 1
    assert "aten::linear" not in recorded(tap)


@pytest.mark.parametrize("version, sentence", [
    ("2.99.0", "PyTorch 2.99.0 in python3: no libraries for torch 2.99: "),
    (None, "in python3: operators are recorded"),
])
def test_doctor_says_whether_operators_are_recorded(tap, torch_python, site, tmp_path, version,
                                                    sentence):
    if version:
        about = site / f"torch-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
    python = tmp_path / "bin/python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {torch_python} "$@"\n')
    python.chmod(0o755)
    out = tap("doctor", env={"PATH": f"{python.parent}:{os.environ['PATH']}", "PYTHONPATH": site},
              status=None).out
    assert sentence in " ".join(out.split())


# Programs without Python's torch -----------------------------------------------------

@pytest.fixture
def sums(repo, torch_folder, tmp_path):
    subprocess.run([
        "g++", "-std=c++20", "-w", f"-I{torch_folder}/include", repo / "tests/torch_cpp/sums.cpp",
        "-o", tmp_path / "sums", f"-L{torch_folder}/lib", "-ltorch", "-ltorch_cpu", "-lc10",
        f"-Wl,-rpath,{torch_folder}/lib"
    ], check=True)
    return tmp_path / "sums"


def test_a_cpp_program_gets_the_observer_of_its_torch(tap, sums, site, torch_folder, folder_name,
                                                      work):
    (site / "torch").mkdir()
    (site / "torch/lib").symlink_to(torch_folder / "lib")
    environment = {"LD_PRELOAD": site / "torch/lib/libtorch_cpu.so"}
    tap("run", "-o", "a.gputap", "--", sums, env=environment)
    assert recorded(tap)["aten::item"] == 1
    shutil.rmtree(site / "gputap/_shim" / folder_name)
    tap("run", "-f", "-o", "a.gputap", "--", sums, env=environment)
    assert recorded(tap) == {}
    info = " ".join(tap("info", "a.gputap").out.split())
    assert "no observer for torch %s in gputap/_shim" % folder_name[len("torch-"):] in info


# Other versions of torch -------------------------------------------------------------

OTHER = os.environ.get("GPUTAP_TORCH_PYTHONS", "").split(":")


@pytest.mark.parametrize("python", OTHER)
def test_each_torch_gets_its_own_libraries(tap, run, repo, pristine, tmp_path, work, python):
    """Use libraries in build/torch-observers. GPUTAP_TORCH_PYTHONS names pythons with other
    versions of torch, separated by colons."""
    made = repo / "build/torch-observers" / os.uname().machine
    if not python or not made.exists():
        pytest.skip("needs pythons with other torches in GPUTAP_TORCH_PYTHONS, and "
                    "tools/torch-observers")
    site = pathlib.Path(shutil.copytree(pristine, tmp_path / "site"))
    shutil.copytree(made, site, dirs_exist_ok=True)
    environment = {"PYTHONPATH": site, "OMP_NUM_THREADS": 1}
    result = tap("run", "-o", "a.gputap", "--", python, repo / "tests/torch_loop.py",
                 env=environment)
    assert result.out == "trained\n" and "libraries" not in result.err
    assert recorded(tap)["aten::linear"] == 50 and recorded(tap)["step"] == 25
    script = ("import gputap.torch as g, torch\nwith g.profile() as p: torch.ones(2) + 1\n"
              "print(len(p.events()) > 0)")
    result = run([python, "-c", script], env=environment)
    assert result.out == "True\n" and "libraries for torch" not in result.err
