# SPDX-License-Identifier: MIT
"""Compare the declarations of src/runtime/hsa/hsa_abi.h with the distribution's HSA headers."""

import pathlib
import subprocess

import pytest

HEADERS = pathlib.Path("/usr/include/hsa")

# gputap's structure, the HSA structure, {gputap's member: HSA's member}
LAYOUTS = (
    ("struct gt_hsa_kernel_packet", "hsa_kernel_dispatch_packet_t", {
        "header": "header", "setup": "setup", "local": "workgroup_size_x", "grid": "grid_size_x",
        "private_bytes": "private_segment_size", "group_bytes": "group_segment_size",
        "kernel_object": "kernel_object", "kernarg": "kernarg_address",
        "completion_signal": "completion_signal"
    }),
    ("struct gt_hsa_barrier_packet", "hsa_barrier_and_packet_t", {
        "header": "header", "dependency": "dep_signal", "completion_signal": "completion_signal"
    }),
    ("struct gt_hsa_signal", "amd_signal_t", {
        "kind": "kind", "value": "value", "event_mailbox": "event_mailbox_ptr",
        "event_id": "event_id", "start_ts": "start_ts", "end_ts": "end_ts", "queue": "queue_ptr"
    }),
    ("struct gt_hsa_queue_abi", "amd_queue_t", {
        "type": "hsa_queue.type", "features": "hsa_queue.features",
        "base_address": "hsa_queue.base_address", "doorbell_signal": "hsa_queue.doorbell_signal",
        "size": "hsa_queue.size", "id": "hsa_queue.id", "write_dispatch_id": "write_dispatch_id",
        "read_dispatch_id": "read_dispatch_id",
        "scratch_address": "scratch_backing_memory_location",
        "scratch_lane_bytes": "scratch_wave64_lane_byte_size",
        "properties": "queue_properties"
    }),
    ("struct gt_hsa_event", "hsa_amd_event_t", {
        "type": "event_type", "agent": "memory_fault.agent",
        "address": "memory_fault.virtual_address", "reasons": "memory_fault.fault_reason_mask"
    }),
    ("struct gt_hsa_times", "hsa_amd_profiling_dispatch_time_t", {"start": "start", "end": "end"}),
    ("struct gt_hsa_times", "hsa_amd_profiling_async_copy_time_t", {"start": "start",
                                                                    "end": "end"}),
    ("struct gt_hsa_dim3", "hsa_dim3_t", {"x": "x", "y": "y", "z": "z"}),
    ("struct gt_hsa_loader", "hsa_ven_amd_loader_1_03_pfn_t", {
        "query_host_address": "hsa_ven_amd_loader_query_host_address",
        "query_segment_descriptors": "hsa_ven_amd_loader_query_segment_descriptors",
        "query_executable": "hsa_ven_amd_loader_query_executable",
        "iterate_loaded_code_objects": "hsa_ven_amd_loader_executable_iterate_loaded_code_objects",
        "loaded_code_object_get_info": "hsa_ven_amd_loader_loaded_code_object_get_info",
        "create_reader":
            "hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size",
        "iterate_executables": "hsa_ven_amd_loader_iterate_executables"
    }),
)

VALUES = {
    "GT_HSA_SUCCESS": "HSA_STATUS_SUCCESS",
    "GT_HSA_INFO_BREAK": "HSA_STATUS_INFO_BREAK",
    "GT_HSA_AGENT_NAME": "HSA_AGENT_INFO_NAME",
    "GT_HSA_AGENT_VENDOR_NAME": "HSA_AGENT_INFO_VENDOR_NAME",
    "GT_HSA_AGENT_WAVEFRONT_SIZE": "HSA_AGENT_INFO_WAVEFRONT_SIZE",
    "GT_HSA_AGENT_NODE": "HSA_AGENT_INFO_NODE",
    "GT_HSA_AGENT_QUEUE_MIN_SIZE": "HSA_AGENT_INFO_QUEUE_MIN_SIZE",
    "GT_HSA_AGENT_QUEUE_MAX_SIZE": "HSA_AGENT_INFO_QUEUE_MAX_SIZE",
    "GT_HSA_POOL_SEGMENT": "HSA_AMD_MEMORY_POOL_INFO_SEGMENT",
    "GT_HSA_POOL_FLAGS": "HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS",
    "GT_HSA_SEGMENT_GLOBAL": "HSA_AMD_SEGMENT_GLOBAL",
    "GT_HSA_POOL_FINE_GRAINED": "HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED",
    "GT_HSA_AGENT_DEVICE": "HSA_AGENT_INFO_DEVICE",
    "GT_HSA_AGENT_CHIP_ID": "HSA_AMD_AGENT_INFO_CHIP_ID",
    "GT_HSA_AGENT_COMPUTE_UNITS": "HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT",
    "GT_HSA_AGENT_MAX_CLOCK_MHZ": "HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY",
    "GT_HSA_AGENT_DRIVER_NODE": "HSA_AMD_AGENT_INFO_DRIVER_NODE_ID",
    "GT_HSA_AGENT_BDFID": "HSA_AMD_AGENT_INFO_BDFID",
    "GT_HSA_AGENT_PRODUCT_NAME": "HSA_AMD_AGENT_INFO_PRODUCT_NAME",
    "GT_HSA_AGENT_MAX_WAVES_PER_CU": "HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU",
    "GT_HSA_AGENT_SIMDS_PER_CU": "HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU",
    "GT_HSA_AGENT_SHADER_ENGINES": "HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES",
    "GT_HSA_AGENT_PCI_DOMAIN": "HSA_AMD_AGENT_INFO_DOMAIN",
    "GT_HSA_AGENT_UUID": "HSA_AMD_AGENT_INFO_UUID",
    "GT_HSA_DEVICE_CPU": "HSA_DEVICE_TYPE_CPU",
    "GT_HSA_DEVICE_GPU": "HSA_DEVICE_TYPE_GPU",
    "GT_HSA_SYSTEM_TIMESTAMP": "HSA_SYSTEM_INFO_TIMESTAMP",
    "GT_HSA_SYSTEM_TIMESTAMP_FREQUENCY": "HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY",
    "GT_HSA_EXECUTABLE_STATE": "HSA_EXECUTABLE_INFO_STATE",
    "GT_HSA_EXECUTABLE_FROZEN": "HSA_EXECUTABLE_STATE_FROZEN",
    "GT_HSA_QUEUE_PROFILED": "AMD_QUEUE_PROPERTIES_ENABLE_PROFILING",
    "GT_HSA_FEATURE_KERNELS": "HSA_QUEUE_FEATURE_KERNEL_DISPATCH",
    "GT_HSA_SYMBOL_TYPE": "HSA_EXECUTABLE_SYMBOL_INFO_TYPE",
    "GT_HSA_SYMBOL_KERNEL": "HSA_SYMBOL_KIND_KERNEL",
    "GT_HSA_SYMBOL_NAME_LENGTH": "HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH",
    "GT_HSA_SYMBOL_NAME": "HSA_EXECUTABLE_SYMBOL_INFO_NAME",
    "GT_HSA_SYMBOL_KERNARG_BYTES": "HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE",
    "GT_HSA_SYMBOL_KERNARG_ALIGNMENT": (
        "HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT"
    ),
    "GT_HSA_SYMBOL_GROUP_BYTES": "HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE",
    "GT_HSA_SYMBOL_PRIVATE_BYTES": "HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE",
    "GT_HSA_SYMBOL_KERNEL_OBJECT": "HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT",
    "GT_HSA_LOADED_AGENT": "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT",
    "GT_HSA_LOADED_STORAGE_TYPE": (
        "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE"
    ),
    "GT_HSA_LOADED_MEMORY_BASE": (
        "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE"
    ),
    "GT_HSA_LOADED_MEMORY_BYTES": (
        "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE"
    ),
    "GT_HSA_LOADED_FILE": "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE",
    "GT_HSA_LOADED_DELTA": "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA",
    "GT_HSA_LOADED_BASE": "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE",
    "GT_HSA_LOADED_BYTES": "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE",
    "GT_HSA_LOADED_URI_LENGTH": "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH",
    "GT_HSA_LOADED_URI": "HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI",
    "GT_HSA_EXTENSION_AMD_LOADER": "HSA_EXTENSION_AMD_LOADER",
    "GT_HSA_PACKET_VENDOR": "HSA_PACKET_TYPE_VENDOR_SPECIFIC",
    "GT_HSA_PACKET_INVALID": "HSA_PACKET_TYPE_INVALID",
    "GT_HSA_PACKET_KERNEL": "HSA_PACKET_TYPE_KERNEL_DISPATCH",
    "GT_HSA_PACKET_BARRIER_AND": "HSA_PACKET_TYPE_BARRIER_AND",
    "GT_HSA_PACKET_AGENT": "HSA_PACKET_TYPE_AGENT_DISPATCH",
    "GT_HSA_PACKET_BARRIER_OR": "HSA_PACKET_TYPE_BARRIER_OR",
    "GT_HSA_PACKET_BARRIER_BIT": "(1 << HSA_PACKET_HEADER_BARRIER)",
    "GT_HSA_SIGNAL_USER": "AMD_SIGNAL_KIND_USER",
    "GT_HSA_SIGNAL_GPU_ONLY": "HSA_AMD_SIGNAL_AMD_GPU_ONLY",
    "GT_HSA_MEMORY_FAULT": "HSA_AMD_GPU_MEMORY_FAULT_EVENT",
    "GT_HSA_ERROR": "HSA_STATUS_ERROR",
}

PRELUDE = """
#define LITTLEENDIAN_CPU
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <hsa/amd_hsa_signal.h>
#include "runtime/hsa/hsa_abi.h"
"""


def compiled(repo, work, lines):
    source = work / "abi.c"
    source.write_text(PRELUDE + "\n".join(lines) + "\n")
    return subprocess.run(["gcc", "-std=gnu11", "-fsyntax-only", "-I", repo / "src", source],
                          capture_output=True,
                          text=True)


@pytest.fixture(autouse=True)
def headers():
    if not (HEADERS / "amd_hsa_signal.h").exists():
        pytest.skip("libhsa-runtime-dev is not installed")


def test_structures_are_laid_out_as_the_runtimes(repo, work):
    lines = []
    for ours, theirs, members in LAYOUTS:
        if not theirs.startswith("hsa_amd_event"):  # a union that HSA may extend
            lines.append(f'_Static_assert(sizeof({ours}) == sizeof({theirs}), "{theirs}");')
        lines += [
            f'_Static_assert(offsetof({ours}, {a}) == offsetof({theirs}, {b}), "{theirs}.{b}");'
            for a, b in members.items()
        ]
    result = compiled(repo, work, lines)
    assert result.returncode == 0, result.stderr


def test_values_are_the_runtimes(repo, work):
    result = compiled(
        repo, work, [f'_Static_assert((long){a} == (long){b}, "{b}");' for a, b in VALUES.items()])
    assert result.returncode == 0, result.stderr


def test_a_wrong_belief_is_noticed(repo, work):
    result = compiled(
        repo,
        work,
        [
            '_Static_assert(offsetof(struct gt_hsa_signal, end_ts) == offsetof(amd_signal_t,'
            ' start_ts), "swapped");'
        ],
    )
    assert result.returncode != 0 and "swapped" in result.stderr
