# SPDX-License-Identifier: MIT
"""Test the torch versions that the package is built for, and the versions into which its libraries
are loaded. gputap refuses every other version in one sentence before it uses any of torch's C++."""
import json
import os
import pathlib
import re
import subprocess

import pytest

VERSION_HEADER = "include/torch/headeronly/version.h"
VERSION = "#define TORCH_VERSION_MAJOR {}\n#define TORCH_VERSION_MINOR {}\n" \
          "#define TORCH_VERSION_PATCH {}\n"


@pytest.fixture(scope="session")
def torch_folder(torch_python):
    return pathlib.Path(
        subprocess.run([torch_python, "-c", "import torch; print(torch.__path__[0])"], text=True,
                       stdout=subprocess.PIPE, check=True).stdout.strip())


@pytest.fixture
def make_torch(tmp_path):
    """Return a function: make() makes a folder that looks like torch's, with @numbers in
    version.py, @header or @numbers in the version header, and empty headers."""
    def make(numbers=(2, 13, 0), header=None, files=("ATen/record_function.h",)):
        folder = tmp_path / "torch"
        for name in (*files, "torch/headeronly/version.h"):
            (folder / "include" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "include" / name).touch()
        (folder / VERSION_HEADER).write_text(VERSION.format(*(header or numbers)))
        (folder / "version.py").write_text("__version__ = '%d.%d.%d'\n" % numbers)
        return folder
    return make


# Building ----------------------------------------------------------------------------

@pytest.fixture
def build_package(run, torch_python, repo, tmp_path):
    """Return a function: build_package(**environment) runs the build and returns stderr."""
    def call(status=1, **environment):
        script = ("import sys; sys.dont_write_bytecode = True\n"
                  f"sys.path.insert(0, {str(repo / 'torch')!r})\n"
                  f"import build_bridge; build_bridge.build_wheel({str(tmp_path)!r})")
        result = run([torch_python, "-c", script], env=environment, status=status)
        assert "Traceback" not in result.err
        return result.err
    return call


@pytest.mark.parametrize("given, sentence", [
    ({"GPUTAP_TORCH": "/nonexistent"}, "no torch in /nonexistent: install torch first"),
    ({"CXX": "/nonexistent/g++", "PATH": "/nonexistent"}, "no C++ compiler: install g++"),
    ({"GPUTAP_INCLUDE": "/nonexistent"},
     "no gputap headers in /nonexistent: build in the source tree"),
])
def test_what_a_build_lacks_is_one_sentence(build_package, given, sentence):
    err = build_package(**given)
    assert sentence in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("numbers", [(2, 10, 0), (2, 16, 0), (9, 1, 0)])
def test_an_unknown_torch_is_not_built_for(build_package, make_torch, numbers):
    err = build_package(GPUTAP_TORCH=make_torch(numbers))
    assert "this gputap supports torch 2.11, 2.12, " in err and ", not %d.%d.%d: " % numbers in err


def test_a_torch_without_headers_is_one_sentence(build_package, make_torch):
    err = build_package(GPUTAP_TORCH=make_torch(files=()))
    assert "has no C++ headers: install torch from a wheel (pip)" in err


def test_headers_of_another_torch_are_one_sentence(build_package, make_torch):
    err = build_package(GPUTAP_TORCH=make_torch((2, 13, 0), (2, 12, 1)))
    assert "torch 2.13.0 has the headers of 2.12.1 in " in err and "reinstall torch" in err


def test_headers_that_do_not_compile_are_named_with_the_compilers_words(build_package, make_torch):
    err = build_package(GPUTAP_TORCH=make_torch())
    assert re.search(r"observer.cpp does not compile with the headers of .*:\n.*error", err, re.S)


def test_without_kineto_operators_are_built_and_the_bridge_is_not(run, torch_python, torch_folder,
                                                                  repo, tmp_path):
    """The build uses a copy of the installed torch without Kineto's headers."""
    folder = tmp_path / "torch"
    (folder / "include").mkdir(parents=True)
    for name in ("version.py", "lib"):
        (folder / name).symlink_to(torch_folder / name)
    for header in (torch_folder / "include").iterdir():
        if header.name != "kineto":
            (folder / "include" / header.name).symlink_to(header)
    site = tmp_path / "site"
    run([torch_python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site,
         repo / "torch"], env={"GPUTAP_TORCH": folder})
    assert {p.name for p in (site / "gputap/_shim").glob("*.so")} == {"observer.so"}
    result = run([torch_python, "-c", "import gputap.torch"], env={"PYTHONPATH": site})
    assert result.err.count("\n") == 1
    assert "bridge: built for a torch without Kineto, but this one has it: pip" in result.err


# Loading -----------------------------------------------------------------------------

@pytest.fixture
def load(run, torch_python, torch_package, torch_version, tmp_path):
    """Return a function: load(library, body) loads @library next to a stub of libtorch_cpu that
    consists of @body, and returns the message. The stub has no C++ symbols, so a library that uses
    a C++ symbol would fail to load."""
    right = "%d" % (torch_version[0] << 24 | torch_version[1] << 16)

    def call(library, body, text=None):
        source, made = tmp_path / "torch.c", tmp_path / "libtorch_cpu.so"
        source.write_text(body.replace("RIGHT", f"(unsigned long){right} << 32"))
        subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libtorch_cpu.so", "-o", made,
                        source], check=True)
        script = (f"import ctypes, sys, types; fake = ctypes.CDLL({str(made)!r})\n"
                  f"sys.modules['torch'] = types.SimpleNamespace(__version__={text!r} or '')\n"
                  f"from gputap import _shim; print(_shim.load({library!r}))")
        result = run([torch_python, "-c", script], env=torch_package)
        assert result.out == "None\n" and len(result.err.splitlines()) == 1
        return result.err
    return call


RIGHT = "unsigned long aoti_torch_abi_version(void) { return RIGHT; }\n"


def test_a_torch_of_another_version_is_reported_by_a_c_call(load, torch_version):
    err = load("observer", "unsigned long aoti_torch_abi_version(void) { return 0x0263ul << 48; }")
    assert "observer: built for torch %d.%d.%d" % torch_version in err
    assert "this torch is 2.99: pip install --force-reinstall ./torch" in err


def test_a_torch_that_tells_no_version_is_not_guessed(load):
    assert "this torch is of an unknown version" in load("bridge", "int nothing;")


def test_a_torch_of_a_branch_in_work_is_no_release(load, torch_version):
    text = "%d.%d.%da0+git1234567" % torch_version
    assert f"this torch is {text}: pip install" in load("observer", RIGHT, text)


def test_a_torch_without_kineto_is_reported_by_its_symbol(load):
    err = load("bridge", RIGHT)
    assert "bridge: this torch was built without Kineto" in err and "install one with Kineto" in err


def test_without_torch_nothing_is_loaded(run, torch_python, torch_package):
    script = "from gputap import _shim; print(_shim.load('bridge'))"
    result = run([torch_python, "-c", script], env=torch_package)
    assert result.out == "None\n" and "bridge: torch is not loaded" in result.err


def test_a_package_that_was_never_built_says_so(run, torch_python, torch_sources):
    script = "import gputap.torch; print(gputap.torch.counts()['kept'])"
    result = run([torch_python, "-c", script], env=torch_sources)
    assert result.out == "0\n" and len(result.err.splitlines()) == 1
    assert "gputap: the package was not built for any torch: pip install" in result.err


def test_two_torches_refuse_each_others_package(run, torch_python, torch_package, torch_version,
                                                repo, tmp_path):
    """Use two real versions of torch. GPUTAP_TORCH_PYTHON_OTHER names a python with the second
    version."""
    other = os.environ.get("GPUTAP_TORCH_PYTHON_OTHER")
    if not other:
        pytest.skip("needs a python with another torch in GPUTAP_TORCH_PYTHON_OTHER")
    subprocess.run([other, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target",
                    tmp_path / "site", repo / "torch"], check=True)
    script = ("import torch, gputap.torch as g\n"
              "with g.profile() as p: torch.ones(2) + 1\n"
              "print(len(p.events()) > 0, torch.__version__)")
    says = {}
    for python, site in ((torch_python, tmp_path / "site"), (other, torch_package["PYTHONPATH"])):
        result = run([python, "-c", script], env={"PYTHONPATH": site})
        assert result.out.startswith("True ")
        says[result.out.split()[1]] = result.err
    for loaded, err in says.items():
        [built] = [v for v in says if v != loaded]
        version = ".".join(loaded.split(".")[:2])
        assert f"gputap: bridge: built for torch {built}, but this torch is {version}: pip" in err
        assert err.count("gputap:") == 1


# Differences between versions --------------------------------------------------------

ROWS = """
import json, sys
sys.path.insert(0, %r)
import gputap.torch, torch
import torch_opencl as t
with gputap.torch.profile() as p:
    t.fill(torch.ones(1))
    t.device.finish()
p.export_chrome_trace('trace.json')
"""


def test_a_streams_row_is_named_on_its_device(run, repo, build, torch_python, torch_package, work):
    """Up to torch 2.12, Kineto's description of a row has a different order of fields."""
    run([torch_python, "-c", ROWS % str(repo / "tests")],
        env={**torch_package, "GPUTAP_LIBRARIES": f"{build}:{build}/src/plugin"})
    events = json.loads((work / "trace.json").read_text())["traceEvents"]
    [fill] = [e for e in events if e.get("cat") == "gpu_memset"]
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert rows[fill["pid"], fill["tid"]].startswith(f"stream {fill['tid']}")


# The entry point ---------------------------------------------------------------------

def test_torch_finds_the_observer_and_nothing_more(run, torch_python, torch_package):
    script = "import torch, sys; print(sorted(m for m in sys.modules if m.startswith('gputap')))"
    result = run([torch_python, "-c", script], env=torch_package)
    assert result.out == "['gputap', 'gputap._shim', 'gputap.annotate']\n" and result.err == ""
