# SPDX-License-Identifier: MIT
"""Run rocprofiler-register's own mock-runtime tests with our librocprofiler-sdk.so.1 in place of
upstream's mock.

GPUTAP_ROCPROFILER_REGISTER names a built librocprofiler-register.so.0, and
GPUTAP_ROCPROFILER_REGISTER_SOURCE names the checkout that it was built from
(docs/internals/conformance.md names the commit). The programs, the ways to start them and their
expected output are read from tests/CMakeLists.txt of the checkout. No upstream code is copied. Our
library need not print the output of upstream's SDK mock. If that mock puts its own functions into
the tables, the test expects the runtimes' functions instead, because our client requests no
interception."""

import functools
import os
import pathlib
import re
import shutil
import subprocess

import pytest

MOCKS = {  # library: folder, version, requirements
    "hsa-runtime64": ("hsa-runtime", "2", []),
    "amdhip64": ("amdhip", "6", ["hsa-runtime64"]),
    "roctx64": ("roctx", "4", []),
    "rccl": ("rccl", "1", []),
    "rocdecode": ("rocdecode", "1", []),
    "rocjpeg": ("rocjpeg", "1", []),
}
LINKED = {
    "hsa-runtime::hsa-runtime": ["-lhsa-runtime64"],
    "amdhip::amdhip": ["-lamdhip64", "-lhsa-runtime64"],
    "roctx::roctx": ["-lroctx64"],
    "rocprofiler-register::tests-weak": ["-DROCP_REG_TEST_WEAK=1"],
    "rocprofiler-register::tests-strong": ["-DROCP_REG_TEST_WEAK=0"],
    "rocprofiler-register::tests-tool": ["-Wl,--no-as-needed", "-lgeneric-tool"],
    "rocprofiler-register::tests-rocp": [
        "-Wl,--no-as-needed", "-l:librocprofiler-sdk.so", "-lgeneric-tool"
    ],
}
WAYS = {  # suffix of the test: key of the expected output, variables
    "": ("CORE", {}),
    "-preload": ("PRELOAD", {"LD_PRELOAD": "libgeneric-tool.so"}),
    "-env": ("PRELOAD", {"ROCP_TOOL_LIBRARIES": "libgeneric-tool.so"}),
    "-wrap": ("WRAP", {"ROCP_REG_TEST_WRAP": "1"}),
    "-preload-wrap": (
        "PRELOAD_WRAP",
        {"LD_PRELOAD": "libgeneric-tool.so", "ROCP_REG_TEST_WRAP": "1"},
    ),
    "-env-wrap": (
        "PRELOAD_WRAP",
        {"ROCP_TOOL_LIBRARIES": "libgeneric-tool.so", "ROCP_REG_TEST_WRAP": "1"},
    ),
}


def source():
    path = os.environ.get("GPUTAP_ROCPROFILER_REGISTER_SOURCE", "")
    return pathlib.Path(path) if path and os.environ.get("GPUTAP_ROCPROFILER_REGISTER") else None


def programs():
    """Return {name: (source, libraries, {key: expected})} from upstream's list."""
    if not source():
        return {}
    text, found = (source() / "tests/CMakeLists.txt").read_text(), {}
    for body in re.findall(r"^rocp_register_test_executable\(\s*(.*?)^\s*\)$", text, re.M | re.S):
        words = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', body)
        libraries = words[words.index("LIBRARIES") + 1:words.index("CORE_PASS_REGEX")]
        expected = {
            key: words[words.index(f"{key}_PASS_REGEX") + 1].strip('"')
            for key in ("CORE", "PRELOAD", "WRAP", "PRELOAD_WRAP")
        }
        found[words[0]] = (words[words.index("SOURCES") + 1], tuple(libraries), expected, "SECURE"
                           in words)
    return found


def of_ours(expected):
    """Return the output expected with our library: without lines of the mock, and with the
    runtimes' own functions."""
    ours = re.sub(r"\.rocprofiler\.cpp\. (rocp_ctor|\w+ :: \d+ :: \d+ :: \d+)\\n", "", expected)
    for name, library in (("hsa_init", "hsa-runtime"), ("hip_init", "amdhip")):
        ours = ours.replace(f".rocprofiler.cpp. {name}", f".{library}.cpp. {name}")
    return ours.replace(".rocprofiler.cpp..p", ".roctx.cpp..p")


class Mocks:
    """Folder in which upstream's libraries and programs are compiled, and the function that runs
    them."""

    def __init__(self, folder, tests, build):
        self.folder, self.tests, self.build = folder, tests, build
        self.cxx = [
            "g++", "-std=c++17", "-w", "-O1", f"-I{tests}",
            *(f"-I{tests / where}" for where, *_ in MOCKS.values()),
            f"-I{tests.parent}/source/include", f"-I{tests.parent}/build/source/include",
            f"-L{folder}", f"-Wl,-rpath-link,{folder}:{build}"
        ]

    def library(self, name, version, folder):
        where, _, needs = MOCKS[name]
        out = folder / f"lib{name}.so.{version}"
        subprocess.run([
            self.cxx[0], f"-L{folder}", *self.cxx[1:], "-shared", "-fPIC",
            self.tests / where / f"{where}.cpp", "-o", out, f"-Wl,-soname,{out.name}",
            *(f"-l{need}" for need in needs), "-l:librocprofiler-register.so.0"
        ],
                       check=True)
        (folder / f"lib{name}.so").symlink_to(out.name)

    @functools.cache
    def program(self, file, libraries, first="."):
        out = self.folder / f"{pathlib.Path(file).stem}-{len(list(self.folder.iterdir()))}"
        subprocess.run([
            self.cxx[0], f"-L{self.folder / first}", *self.cxx[1:], self.tests / file, "-o", out,
            "-Wl,--as-needed", *(word for library in libraries
                                 for word in LINKED[library]), "-lpthread", "-ldl"
        ],
                       check=True)
        return out

    def run(self, program, first=".", **environment):
        path = (
            f"{self.folder / first}:{self.folder}:{self.build}:{self.build}/src/compat/rocprofiler"
        )
        return subprocess.run(
            [program],
            env={"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": path, **environment},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600)


@pytest.fixture(scope="session")
def mocks(tmp_path_factory, build):
    if not source():
        pytest.skip(
            "needs rocprofiler-register, built and its source: GPUTAP_ROCPROFILER_REGISTER,"
            " GPUTAP_ROCPROFILER_REGISTER_SOURCE"
        )
    made = Mocks(tmp_path_factory.mktemp("mocks"), source() / "tests", build)
    shutil.copy(os.environ["GPUTAP_ROCPROFILER_REGISTER"],
                made.folder / "librocprofiler-register.so.0")
    (made.folder / "librocprofiler-register.so").symlink_to("librocprofiler-register.so.0")
    for name in ("librocprofiler-sdk.so", "librocprofiler-sdk.so.0"):  # a test opens the second
        (made.folder / name).symlink_to(build / "src/compat/rocprofiler/librocprofiler-sdk.so.1")
    for name, (_, version, _) in MOCKS.items():
        made.library(name, version, made.folder)
    (made.folder / "invalid").mkdir()
    for name, version in (("hsa-runtime64", "1"), ("amdhip64", "6")):
        made.library(name, version, made.folder / "invalid")
    subprocess.run([
        *made.cxx, "-shared", "-fPIC", made.tests / "generic-tool/generic-tool.cpp", "-o",
        made.folder / "libgeneric-tool.so", "-Wl,-soname,libgeneric-tool.so"
    ],
                   check=True)
    return made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", programs() or ["none"])
def test_upstreams_mock_runtimes_work_with_our_library(mocks, name, way):
    file, libraries, expected, secure = programs()[name]
    key, environment = WAYS[way]
    done = mocks.run(mocks.program(file, libraries), **environment,
                     **({"ROCPROFILER_REGISTER_SECURE": "true"} if secure else {}))
    assert done.returncode == 0, done.stdout
    assert re.search(of_ours(expected[key]).replace("\\n", "\n"), done.stdout), done.stdout


INVALID = ("test-amdhip-roctx.cpp", ("roctx::roctx", "amdhip::amdhip"))
FORCED = ("test-amdhip-hsart-roctx.cpp", ("hsa-runtime::hsa-runtime", "amdhip::amdhip",
                                          "roctx::roctx"))


@pytest.mark.parametrize("secure", ["1", "0"])
def test_a_runtime_of_a_wrong_version_is_refused_where_that_is_asked_for(mocks, secure):
    done = mocks.run(mocks.program(*INVALID, first="invalid"),
                     first="invalid",
                     ROCPROFILER_REGISTER_SECURE=secure,
                     ROCPROFILER_REGISTER_FORCE_LOAD="1")
    assert (done.returncode != 0) == (secure == "1"), done.stdout


@pytest.mark.parametrize("way", ["ROCPROFILER_REGISTER_FORCE_LOAD", "base", "absolute"])
def test_the_register_library_opens_ours(mocks, way):
    named = {
        "base": "librocprofiler-sdk.so.0", "absolute": str(mocks.folder / "librocprofiler-sdk.so.0")
    }
    done = mocks.run(
        mocks.program(*FORCED),
        ROCPROFILER_REGISTER_SECURE="yes",
        ROCPROFILER_REGISTER_VERBOSE="3",
        ROCPROFILER_REGISTER_MONOCHROME="true",
        LD_DEBUG="files",
        **({"ROCPROFILER_REGISTER_LIBRARY": named[way]} if way in named else {way: "1"}))
    assert done.returncode == 0, done.stdout
    assert (
        f"calling init: {mocks.folder}/librocprofiler-sdk.so" in done.stdout
        and "hsa identifier 0" in done.stdout
    ), done.stdout
