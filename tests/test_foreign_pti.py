# SPDX-License-Identifier: MIT
"""Run PTI's unmodified tests of its callback API (sdk/test/callback_api_test.cc) with gputap's
libpti_callback, and with Intel's libpti_view in the same program. tests/foreign/sycl replaces SYCL.
Requires GoogleTest, fmt and the requirements of tests/test_pti_sample.py."""
import os
import pathlib
import re
import subprocess

import pytest

from conftest import REPO, run_command

# These tests search the records of Intel's views, a different library, for operation ids from
# gputap's library and for external ids pushed in callbacks.
IDS = re.compile(r"BasicSubscription|ExternalCorrelationInAppendCallbacks")
OF_IDS = re.compile(r"from callback not found in view|External correlation record not found|"
                    r"Driver API record not found for correlation_id|ordering violations")


@pytest.fixture(scope="module")
def suite(build, tmp_path_factory):
    """Return a function: suite(arguments) runs PTI's test program and returns its status and
    output."""
    places = [os.environ.get(f"GPUTAP_{name}")
              for name in ("PTI_CHECKOUT", "SYCL_PYTHON", "LEVEL_ZERO_LOADER")]
    headers = pathlib.Path("/usr/include/gtest/gtest.h"), pathlib.Path("/usr/include/fmt/format.h")
    if not all(places) or not all(header.exists() for header in headers):
        pytest.skip("needs a checkout of intel/pti-gpu, GPUTAP_PTI_CHECKOUT, its library and a"
                    " loader: GPUTAP_SYCL_PYTHON, GPUTAP_LEVEL_ZERO_LOADER; apt install"
                    " libgtest-dev libfmt-dev")
    sdk, view = pathlib.Path(places[0]) / "sdk", pathlib.Path(places[1]).parent.parent / "lib"
    folder, ours = tmp_path_factory.mktemp("pti"), build / "src/compat/pti"
    version = (sdk / "include/pti/pti_version.h.in").read_text()
    (folder / "pti").mkdir()
    (folder / "pti/pti_export.h").write_text("#define PTI_EXPORT\n")
    (folder / "pti/pti_version.h").write_text(re.sub("@[A-Z_]*@", "1", version))
    run_command(["g++", "-std=c++17", "-DFMT_HEADER_ONLY", f"-I{REPO}/tests/foreign",
                 f"-I{REPO}/bench", f"-I{folder}", f"-I{sdk}/include", f"-I{sdk}/src",
                 f"-I{sdk}/src/levelzero", sdk / "test/callback_api_test.cc", "-o",
                 folder / "suite", f"-L{ours}", "-l:libpti_callback.so.1", f"-L{view}",
                 "-l:libpti_view.so.1", f"-L{places[2]}", "-lze_loader", "-lgtest_main",
                 "-lgtest", "-lpthread", f"-Wl,-rpath,{ours}:{build}:{view}"])
    environment = os.environ | {
        "ZE_ENABLE_ALT_DRIVERS": str(build / "soft/level_zero/libze_soft.so"),
        "SOFT_LEVEL_ZERO_EXECUTE": "0", "SOFT_LEVEL_ZERO_THREADS": "0",
        "LD_LIBRARY_PATH": f"{places[2]}:{view}"
    }

    def run_suite(*arguments):
        done = subprocess.run([folder / "suite", *arguments], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                              check=False)
        return done.returncode, done.stdout
    return run_suite


def names(suite):
    group = ""
    for line in suite("--gtest_list_tests")[1].splitlines():
        word = line.split("#")[0].strip()
        if line.startswith(" "):
            yield group + word
        elif word.endswith("."):
            group = word


def test_ptis_own_tests_of_callbacks_pass(suite):
    found = [name for name in names(suite) if not IDS.search(name)]
    assert len(found) >= 11
    for name in found:
        status, out = suite(f"--gtest_filter={name}")
        assert status == 0 and "[  PASSED  ] 1 test" in out, out


def test_those_that_compare_ids_with_intels_views_find_equal_counts(suite):
    found = [name for name in names(suite) if IDS.search(name)]
    assert len(found) >= 4
    for name in found:
        _, out = suite(f"--gtest_filter={name}")
        assert "should match count" not in out, out
        failures = re.findall(r": Failure\n(.*?)(?=\n\n|\n\S+: Failure|\n\[)", out, re.S)
        assert all(OF_IDS.search(failure) for failure in failures), failures
