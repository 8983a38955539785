# SPDX-License-Identifier: MIT
"""Run PTI's own sample of its callback API (sdk/samples/callback), unchanged except for its
program, on our libpti_callback, together with Intel's libpti_view. Needs a checkout of
intel/pti-gpu (GPUTAP_PTI_CHECKOUT), and the requirements of tests/test_soft_level_zero_sycl.py."""
import os
import pathlib
import re

import pytest

from conftest import REPO

# files that the sample includes apart from PTI's: made by PTI's build, or by SYCL's compiler
STUBS = {
    "pti/pti_export.h": "#define PTI_EXPORT\n",
    "sycl/sycl.hpp": "#pragma once\n#include <variant>\n#include <level_zero/ze_api.h>\n"
                     "namespace sycl { enum class backend { ext_oneapi_level_zero };\n"
                     "class queue {};\ntemplate <backend> std::variant<ze_command_queue_handle_t,\n"
                     "ze_command_list_handle_t> get_native(const queue &)\n"
                     "{ return ze_command_queue_handle_t{}; } }\n",
}


@pytest.fixture
def sample(build, run, work):
    """Return sample(flags), which returns the sample's output for three kernels and three
    copies."""
    places = [os.environ.get(f"GPUTAP_{name}")
              for name in ("PTI_CHECKOUT", "SYCL_PYTHON", "LEVEL_ZERO_LOADER")]
    if not all(places):
        pytest.skip("needs a checkout of intel/pti-gpu, GPUTAP_PTI_CHECKOUT, its library and a"
                    " loader: GPUTAP_SYCL_PYTHON, GPUTAP_LEVEL_ZERO_LOADER")
    sdk, view = pathlib.Path(places[0]) / "sdk", pathlib.Path(places[1]).parent.parent / "lib"
    version = (sdk / "include/pti/pti_version.h.in").read_text()
    files = STUBS | {"pti/pti_version.h": re.sub("@[A-Z_]*@", "1", version)}
    for name, text in files.items():
        path = work / "stubs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def sample_it(*flags):
        library = build / "src/compat/pti"
        run(["g++", "-std=c++17", *flags, f"-I{work}/stubs", f"-I{sdk}/include",
             f"-I{sdk}/samples/callback", f"-I{sdk}/samples/samples_utilities", f"-I{REPO}/bench",
             REPO / "tests/pti/sample_main.cc", sdk / "samples/callback/client.cc", "-o", "sample",
             f"-L{library}", "-l:libpti_callback.so.1", f"-L{view}", "-l:libpti_view.so.1",
             "-lze_loader", f"-Wl,-rpath,{library}:{build}:{view}"])
        return run([work / "sample", "3"], env={
            "ZE_ENABLE_ALT_DRIVERS": build / "soft/level_zero/libze_soft.so",
            "SOFT_LEVEL_ZERO_EXECUTE": "0", "SOFT_LEVEL_ZERO_THREADS": "0",
            "LD_LIBRARY_PATH": f"{places[2]}:{view}"
        }).out
    return sample_it


@pytest.mark.parametrize("flags", [[], ["-DPTI_CALLBACK_SHIPPED", f"-I{REPO}/include/compat"]],
                         ids=["Intel's header", "ours"])
def test_ptis_own_sample_runs_beside_its_views(sample, flags):
    out = sample(*flags)
    assert out.count("In CallbackGPUOperationAppend") == 12
    assert out.count("In CallbackGPUOperationCompletion") == 6
    assert out.count("Found Kernel Record") == out.count("Found Memory Copy Record") == 3
    ids = re.findall(r"Operation Id: (\d+)", out)
    assert len(ids) == 18 and len(set(ids)) == 6 and "0" not in ids
    assert "Pushing External Correlation Id: 6, Result: 0" in out
