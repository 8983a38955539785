# SPDX-License-Identifier: MIT
"""Test HSA's image and finalizer extensions with the distribution's real ROCr, called through
exported functions and through tables."""

import csv
import io
import os
import re
import subprocess

import pytest

# calls of tests/rocm/hsa_images.c, in order; ROCr has no finalizer, and its finalizer table is
# empty
MADE = [
    "hsa_ext_image_get_capability", "hsa_ext_image_get_capability_with_layout",
    "hsa_ext_image_data_get_info", "hsa_ext_image_data_get_info_with_layout",
    "hsa_ext_image_create", "hsa_ext_image_create_with_layout", "hsa_ext_sampler_create",
    "hsa_ext_sampler_destroy", "hsa_ext_image_destroy", "hsa_ext_image_destroy"
]
REFUSED = [
    "hsa_ext_image_import", "hsa_ext_image_export", "hsa_ext_image_copy", "hsa_ext_image_clear"
]
WAYS = ["exported", "table"]


@pytest.fixture(scope="module")
def program(tmp_path_factory, repo, softgpu):
    out = tmp_path_factory.mktemp("images") / "hsa_images"
    subprocess.run(
        ["cc", "-O1", "-Wall", repo / "tests/rocm/hsa_images.c", "-o", out, "-lhsa-runtime64"],
        check=True)
    return out


@pytest.fixture
def trace(tap, program, softgpu, work):
    def run(way, *options):
        result = tap("run", "-f", "-o", "a.gputap", *options, "--", program, way, env=softgpu)
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        rows = [
            r for r in csv.DictReader(io.StringIO((work / "a.csv").read_text()))
            if r["kind"] == "call"
        ]
        return result, [r for r in rows
                        if r["domain"] in ("hsa_image_ext", "hsa_finalize_ext")], rows
    return run


@pytest.mark.parametrize("way", WAYS)
def test_every_call_of_an_image_function_is_recorded_and_answers_as_before(
        trace, run, program, softgpu, way):
    result, rows, _ = trace(way, "--mode", "hsa")
    assert [r["operation"] for r in rows] == MADE + REFUSED
    assert [r["error"]
            for r in rows] == [""] * len(MADE) + ["HSA_STATUS_ERROR_INVALID_AGENT"] * len(REFUSED)
    assert result.out == run([program, way], env=softgpu).out


def test_arguments_of_images_read_as_the_program_wrote_them(trace):
    by_name = {r["operation"]: r["arguments"] for r in trace("exported", "--mode", "hsa")[1]}
    assert re.search(
        r"image_descriptor=\{geometry=HSA_EXT_IMAGE_GEOMETRY_2D, width=64, height=32, depth=0,"
        r" array_size=0, format.channel_type="
        r"HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8,"
        r" format.channel_order=HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA\}, image_data=0x\w+, "
        r"access_permission=HSA_ACCESS_PERMISSION_RO, image=0x\w+$",
        by_name["hsa_ext_image_create"],
    )
    assert by_name["hsa_ext_image_create_with_layout"].count(
        "HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, image_data_row_pitch=256, image_data_slice_pitch=8192"
    ) == 1
    assert by_name["hsa_ext_image_get_capability"].endswith(
        "capability_mask=HSA_EXT_IMAGE_CAPABILITY_READ_ONLY|"
        "HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY|HSA_EXT_IMAGE_CAPABILITY_READ_WRITE")
    assert "filter_mode=HSA_EXT_SAMPLER_FILTER_MODE_LINEAR" in by_name["hsa_ext_sampler_create"]
    assert "image_data_info={size=8192, alignment=" in by_name["hsa_ext_image_data_get_info"]


def test_image_functions_can_be_asked_for_alone(trace):
    assert {r["domain"]
            for r in trace("exported", "--domains", "hsa_image_ext")[2]} == {"hsa_image_ext"}
    assert [
        r["operation"] for r in trace("table", "--mode", "hsa", "--ops", "hsa_ext_sampler*")[2]
    ] == MADE[6:8]
    assert trace("table", "--mode", "hip")[2] == []


def test_a_runtime_without_a_finalizer_is_nothing_to_report(trace, tap):
    trace("exported", "--mode", "hsa")
    assert "finalize" not in tap("info", "a.gputap").out


# librocprofiler-sdk -------------------------------------------------------------

@pytest.fixture(scope="module")
def tool(repo, build, tmp_path_factory):
    sdk = build / "src/compat/rocprofiler"
    out = tmp_path_factory.mktemp("tool") / "extensions.so"
    subprocess.run([
        "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
        f"-I{repo}/include/compat", "-D__HIP_PLATFORM_AMD__",
        repo / "tests/rocprofiler/extensions.c", "-o", out, f"-L{sdk}", "-lrocprofiler-sdk",
        f"-Wl,-rpath-link,{build}", f"-Wl,-rpath,{sdk}"
    ],
                   check=True)
    return out


def log(build, tool, program, *words, library_path):
    done = subprocess.run(
        [program, *words],
        env={**os.environ, "LD_PRELOAD": str(tool), "LD_LIBRARY_PATH": f"{build}:{library_path}"},
        text=True,
        capture_output=True,
        timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split(" ", 1)[1] for line in done.stdout.splitlines() if line.startswith("tool: ")]


@pytest.mark.parametrize("way", WAYS)
def test_a_client_is_notified_of_image_functions_by_callbacks_and_by_records(
        build, tool, program, softgpu, way):
    lines = log(build, tool, program, way, library_path=softgpu["LD_LIBRARY_PATH"])
    assert [line.split()[1:3]
            for line in lines
            if line.startswith("call ")] == [[p, n] for n in MADE + REFUSED for p in ("1", "2")]
    assert [line.split()[1:]
            for line in lines
            if line.startswith("record ")] == [["HSA_IMAGE_EXT_API", n] for n in MADE + REFUSED]
    arguments = [line.removeprefix("argument ") for line in lines if line.startswith("argument ")]
    assert arguments[0] == "hsa_ext_image_create_with_layout 11hsa_agent_s agent"
    assert arguments[1:] == [
        f"hsa_ext_image_create_with_layout {a}"
        for a in ("PK26hsa_ext_image_descriptor_s image_descriptor", "PKv image_data",
                  "23hsa_access_permission_t access_permission",
                  "27hsa_ext_image_data_layout_t image_data_layout", "m image_data_row_pitch",
                  "m image_data_slice_pitch", "P15hsa_ext_image_s image")
    ]
    assert "layout 1 pitches 256 8192 retval 0" in lines
    assert "calls 14 records 14 wrong 0" in lines
