# SPDX-License-Identifier: MIT
"""Test the ABI between ROCr and the stand-in libraries without ROCr 5.7 and 7. Debian 12 lacks
both, and most machines have only one version."""
import os
import struct

import pytest

# Functions that ROCr 7.2.4 looks up in libdtif.so with dlsym(). ROCr stops at the first missing
# function.
WANTED_BY_ROCR_7 = """
    amdgpu_bo_cpu_map amdgpu_bo_export amdgpu_bo_free amdgpu_bo_import amdgpu_bo_query_info
    amdgpu_bo_set_metadata amdgpu_bo_va_op amdgpu_device_deinitialize amdgpu_device_initialize
    amdgpu_query_gpu_info drmCommandWriteRead hsaKmtAcquireSystemProperties hsaKmtAisReadWriteFile
    hsaKmtAllocMemory hsaKmtAllocMemoryAlign hsaKmtAllocQueueGWS hsaKmtAvailableMemory
    hsaKmtCheckRuntimeDebugSupport hsaKmtCloseKFD hsaKmtCreateEvent hsaKmtCreateQueue
    hsaKmtCreateQueueExt hsaKmtDbgAddressWatch hsaKmtDbgDisable hsaKmtDbgEnable
    hsaKmtDbgGetDeviceData hsaKmtDbgGetQueueData hsaKmtDbgRegister hsaKmtDbgUnregister
    hsaKmtDbgWavefrontControl hsaKmtDebugTrapIoctl hsaKmtDeregisterMemory hsaKmtDestroyEvent
    hsaKmtDestroyQueue hsaKmtExportDMABufHandle hsaKmtFreeMemory hsaKmtGetAMDGPUDeviceHandle
    hsaKmtGetClockCounters hsaKmtGetNodeCacheProperties hsaKmtGetNodeIoLinkProperties
    hsaKmtGetNodeMemoryProperties hsaKmtGetNodeProperties hsaKmtGetQueueInfo
    hsaKmtGetRuntimeCapabilities hsaKmtGetTileConfig hsaKmtGetVersion hsaKmtGetXNACKMode
    hsaKmtMapGraphicHandle hsaKmtMapMemoryToGPU hsaKmtMapMemoryToGPUNodes hsaKmtModelEnabled
    hsaKmtOpenKFD hsaKmtOpenSMI hsaKmtPcSamplingCreate hsaKmtPcSamplingDestroy
    hsaKmtPcSamplingQueryCapabilities hsaKmtPcSamplingStart hsaKmtPcSamplingStop
    hsaKmtPcSamplingSupport hsaKmtPmcAcquireTraceAccess hsaKmtPmcGetCounterProperties
    hsaKmtPmcQueryTrace hsaKmtPmcRegisterTrace hsaKmtPmcReleaseTraceAccess hsaKmtPmcStartTrace
    hsaKmtPmcStopTrace hsaKmtPmcUnregisterTrace hsaKmtProcessVMRead hsaKmtProcessVMWrite
    hsaKmtQueryEventState hsaKmtQueryPointerInfo hsaKmtQueueRingDoorbell
    hsaKmtRegisterGraphicsHandleToNodes hsaKmtRegisterGraphicsHandleToNodesExt hsaKmtRegisterMemory
    hsaKmtRegisterMemoryToNodes hsaKmtRegisterMemoryWithFlags hsaKmtRegisterSharedHandle
    hsaKmtRegisterSharedHandleToNodes hsaKmtReleaseSystemProperties hsaKmtReplaceAsanHeaderPage
    hsaKmtResetEvent hsaKmtReturnAsanHeaderPage hsaKmtRuntimeDisable hsaKmtRuntimeEnable
    hsaKmtSPMAcquire hsaKmtSPMRelease hsaKmtSPMSetDestBuffer hsaKmtSVMGetAttr hsaKmtSVMSetAttr
    hsaKmtSetEvent hsaKmtSetMemoryPolicy hsaKmtSetMemoryUserData hsaKmtSetQueueCUMask
    hsaKmtSetTrapHandler hsaKmtSetXNACKMode hsaKmtShareMemory hsaKmtUnmapGraphicHandle
    hsaKmtUnmapMemoryToGPU hsaKmtUpdateQueue hsaKmtWaitOnEvent hsaKmtWaitOnEvent_Ext
    hsaKmtWaitOnMultipleEvents hsaKmtWaitOnMultipleEvents_Ext DtifCreate DtifDestroy
"""

LAYOUTS = {  # type: fields
    "HsaNodeProperties": (
        "NumFComputeCores NumMemoryBanks Capability MaxWavesPerSIMD WaveFrontSize MaxSlotsScratchCU"
        " EngineId VendorId LocalMemSize DrmRenderMinor MarketingName AMDName uCodeEngineVersions"
        " DebugProperties HiveID NumSdmaEngines NumSdmaQueuesPerEngine NumCpQueues NumGws Domain"
        " UniqueID VGPRSizePerCU SGPRSizePerCU"
    ),
    "HsaMemoryProperties": "HeapType SizeInBytes Flags Width MemoryClockMax VirtualBaseAddress",
    "HsaCacheProperties": "CacheLevel CacheSize CacheLineSize CacheType SiblingMap",
    "HsaIoLinkProperties": (
        "IoLinkType NodeFrom NodeTo Weight MinimumBandwidth MaximumBandwidth RecTransferSize Flags"
    ),
    "HsaGpuTileConfig": (
        "TileConfig NumTileConfigs NumMacroTileConfigs GbAddrConfig NumBanks NumRanks"
    ),
    "HsaClockCounters": "GPUClockCounter CPUClockCounter SystemClockCounter SystemClockFrequencyHz",
    "HsaSystemProperties": "NumNodes PlatformId PlatformRev",
    "HsaVersionInfo": "KernelInterfaceMajorVersion KernelInterfaceMinorVersion",
    "HsaPointerInfo": (
        "Type Node MemFlags CPUAddress GPUAddress SizeInBytes NMappedNodes MappedNodes UserData"
    ),
    "HsaQueueResource": (
        "QueueId Queue_DoorBell_aql Queue_write_ptr_aql Queue_read_ptr_aql ErrorReason"
    ),
    "HsaEvent": (
        "EventId EventData EventData.EventData EventData.HWData1 EventData.HWData2"
        " EventData.HWData3"
    ),
    "HsaEventDescriptor": "EventType NodeId SyncVar",
    "HsaMemoryAccessFault": "NodeId VirtualAddress Failure Flags",
    "HsaMemFlags": "Value",
    "HsaMemMapFlags": "Value",
    "HsaSharedMemoryHandle": "",
}
FLAGS = [
    "NonPaged", "CachePolicy", "ReadOnly", "PageSize", "HostAccess", "NoSubstitute", "GDSMemory",
    "Scratch", "ExecuteAccess", "CoarseGrain", "AQLQueueMemory", "FixedAddress", "NoNUMABind",
    "Uncached"
]
CAPABILITIES = [
    "QueueSizePowerOfTwo", "WatchPointsSupported", "WatchPointsTotalBits", "DoorbellType",
    "ASICRevision", "SRAM_EDCSupport", "SVMAPISupported"
]
NUMBERS = """HSAKMT_STATUS_ERROR HSAKMT_STATUS_INVALID_PARAMETER HSAKMT_STATUS_INVALID_HANDLE
    HSAKMT_STATUS_INVALID_NODE_UNIT HSAKMT_STATUS_NO_MEMORY HSAKMT_STATUS_NOT_SUPPORTED
    HSAKMT_STATUS_OUT_OF_RESOURCES HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED
    HSAKMT_STATUS_KERNEL_ALREADY_OPENED HSAKMT_STATUS_WAIT_TIMEOUT
    HSAKMT_STATUS_MEMORY_NOT_REGISTERED HSA_HEAPTYPE_SYSTEM HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC
    HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE HSA_HEAPTYPE_GPU_LDS HSA_HEAPTYPE_GPU_SCRATCH
    HSA_HEAPTYPE_MMIO_REMAP HSA_IOLINKTYPE_PCIEXPRESS HSA_POINTER_ALLOCATED
    HSA_POINTER_REGISTERED_USER HSA_POINTER_REGISTERED_SHARED HSA_QUEUE_SDMA HSA_QUEUE_SDMA_XGMI
    HSA_QUEUE_COMPUTE_AQL HSA_EVENTTYPE_SIGNAL HSA_EVENTTYPE_DEBUG_EVENT HSA_EVENTTYPE_MEMORY
    HSA_EVENTTYPE_MAXID HSA_EVENTID_MEMORY_FATAL_PROCESS HSA_PUBLIC_NAME_SIZE"""


def agreed(run, repo, work, header):
    """Compile a program with this header. Return the sizes, offsets, flag bits and constants that
    it prints."""
    lines = [
        "#include <stdbool.h>", "#include <stddef.h>", "#include <stdio.h>", f"#include {header}",
        "int main(void) {"
    ]
    for kind, fields in LAYOUTS.items():
        lines.append(f'printf("{kind} %zu\\n", sizeof({kind}));')
        lines += [f'printf("{kind}.{f} %zu\\n", offsetof({kind}, {f}));' for f in fields.split()]
    for kind, fields in (("HsaMemFlags", FLAGS), ("HSA_CAPABILITY", CAPABILITIES)):
        lines += [
            f'{{ {kind} x = {{0}}; x.ui32.{f} = ~0u; printf("{f} %#x\\n", x.Value); }}'
            for f in fields
        ]
    lines += [f'printf("{n} %d\\n", (int){n});' for n in NUMBERS.split()]
    (work / "a.c").write_text("\n".join(lines + ["return 0; }"]))
    run(["cc", "-w", "-DLITTLEENDIAN_CPU", "-I", repo, "-o", "a", "a.c"])
    return run(["./a"]).out.splitlines()


def test_calls_types_are_those_of_the_installed_headers(run, repo, work):
    header = next(
        (h for h in ("hsakmt.h", "hsakmt/hsakmt.h") if os.path.exists(f"/usr/include/{h}")), None)
    if not header:
        pytest.skip("needs libhsakmt's headers: apt install libhsakmt-dev")
    ours = agreed(run, repo, work, '"soft/amdgpu/thunk_abi.h"')
    assert len(ours) > 100 and ours == agreed(run, repo, work, f"<{header}>")


# ROCr 5.7 reads the clock rate of a GPU in this way. ROCr 6.1 gets the device from libhsakmt.
CLOCK_RATE = """
#include <stdint.h>
#include <stdio.h>
int drmOpenRender(int);
int drmClose(int);
int amdgpu_device_initialize(int, uint32_t *, uint32_t *, void **);
int amdgpu_device_deinitialize(void *);
int amdgpu_query_gpu_info(void *, uint32_t *);
int ask(void)
{
	uint32_t major, minor, info[256];
	void *device;
	int file = drmOpenRender(128);
	if (file < 0 || amdgpu_device_initialize(file, &major, &minor, &device) ||
	    amdgpu_query_gpu_info(device, info))
		return -1;
	return amdgpu_device_deinitialize(device) || drmClose(file) ? -2 : (int)info[18];
}
"""
LIBDRM = """
int drmOpenRender(int minor) { return minor; }
int drmClose(int file) { return file - 128; }
int amdgpu_device_initialize(int file, int *major, int *minor, void **device)
{
	return *major = *minor = 0, *device = &ask, file - 128;
}
int amdgpu_device_deinitialize(void *device) { return device != (void *)&ask; }
int amdgpu_query_gpu_info(void *device, int *info)
{
	return info[18] = 77, device != (void *)&ask;
}
"""


def test_rocr_has_the_clocks_rate_from_the_stand_in_and_others_from_libdrm(run, build, work):
    (work / "ask.c").write_text(CLOCK_RATE)
    (work / "drm.c").write_text("static int ask;" + LIBDRM)
    (work / "main.c").write_text("#include <stdio.h>\nint ask(void);\n"
                                 "int main(void) { printf(\"%d\\n\", ask()); }")
    shared = ["cc", "-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]
    # both libraries are linked with a stub thunk, which has none of these functions
    (work / "stub").mkdir()
    stub = work / "stub/libhsakmt.so.1"
    run([*shared, stub, "-Wl,-soname,libhsakmt.so.1", "-x", "c", "/dev/null"])
    run([*shared, "libdrm.so", "-Wl,-soname,libdrm.so", "drm.c"])
    env = {"LD_LIBRARY_PATH": f"{work}:{build / 'soft/amdgpu'}"}
    for name, khz in (("libhsa-runtime64.so.1", "100000"), ("libanother.so", "77")):
        run([*shared, name, "ask.c", stub, "libdrm.so"])
        run(["cc", "-o", "a", "main.c", name, "-Wl,--unresolved-symbols=ignore-in-shared-libs"])
        assert run(["./a"], env=env).out == f"{khz}\n"


@pytest.fixture
def dtif(run, build, softgpu):
    """Return a function that runs code in a separate process, where `dtif` is the opened
    libdtif.so. The process is separate because the library is never unloaded."""
    def ask(text, **env):
        code = (
            "import ctypes, sys\ndtif ="
            f" ctypes.CDLL({str(build / 'soft/amdgpu/libdtif.so')!r})\n{text}"
        )
        return run(["python3", "-c", code], env=dict(softgpu, **env)).out
    return ask


def test_every_function_that_rocr_7_asks_for_is_there(dtif):
    assert (
        dtif(
            f"for name in {WANTED_BY_ROCR_7.split()!r}:\n    hasattr(dtif, name) or"
            " print(name)\nprint('end')"
        )
        == "end\n"
    )


def test_nodes_come_in_the_layout_of_rocr_7(dtif):
    out = dtif(
        "b = ctypes.create_string_buffer(b'\\xee' * 400)\nassert dtif.DtifCreate(b'HSA') and"
        " dtif.hsaKmtOpenKFD() == 0 and dtif.hsaKmtGetNodeProperties(1, b) =="
        " 0\nprint(b.raw[:400].hex())",
        SOFT_AMDGPU_GFX="90a",
    )
    node = bytes.fromhex(out)
    cores, neural, banks = struct.unpack_from("<III", node, 4)
    assert (cores, neural, banks) == (8 * 13 * 4, 0, 4)
    assert struct.unpack_from("<II", node,
                              36) == (0, 8), "no second word of capabilities, then the waves"
    engine, override, vendor = struct.unpack_from("<IIH", node, 76)
    assert (engine >> 10 & 63, engine >> 24, override, vendor) == (9, 10, 0, 0x1002)
    assert node[240:246] == b"gfx90a"
    assert struct.unpack_from("<Q", node, 340) == (0x50f7690000000001,)
    assert struct.unpack_from("<I", node, 364) == (141,) and node[368:376] == bytes(8)
    assert node[376:400] == b"\xee" * 24, "ROCr 7.2's structure ends here"


def test_links_come_in_the_layout_of_rocr_7(dtif):
    out = dtif(
        "b = ctypes.create_string_buffer(b'\\xee' * 128)\n"
        "assert dtif.hsaKmtOpenKFD() == 0 and dtif.hsaKmtGetNodeIoLinkProperties(2, 2, b) == 0\n"
        "print(b.raw[:128].hex())",
        SOFT_AMDGPU_GPUS="2")
    links = bytes.fromhex(out)
    assert [struct.unpack_from("<II", links, 52 * i + 12) for i in (0, 1)] == [(2, 0), (2, 1)]
    assert [struct.unpack_from("<II", links, 52 * i + 44)
            for i in (0, 1)] == [(0, 1), (0, 1)], "any copy engine; flags count"
    assert links[104:] == b"\xee" * 24


BY_HAND = """
from ctypes import byref, c_char, c_int, c_size_t, c_uint32, c_uint64, c_void_p, string_at
import mmap, os
u64 = c_uint64
class Imported(ctypes.Structure):
    _fields_ = [("buffer", c_void_p), ("bytes", u64)]
NO_ADDRESS, ONLY_ADDRESS, MAP, UNMAP, SIZE = 1 << 18, 1 << 19, 1, 2, 2 << 20
def ok(status):
    assert status == 0, status
def reserve():
    at = c_void_p()
    ok(dtif.hsaKmtAllocMemoryAlign(0, u64(SIZE), u64(0), ONLY_ADDRESS, byref(at)))
    return at.value
def bring(fd):
    got = Imported()
    ok(dtif.amdgpu_bo_import(None, 2, fd, byref(got)))
    assert got.bytes == SIZE
    return c_void_p(got.buffer)
def place(buffer, at, operation, flags=6):
    return dtif.amdgpu_bo_va_op(buffer, u64(0), u64(SIZE), u64(at), u64(flags), operation)
def left():
    n = u64()
    ok(dtif.hsaKmtAvailableMemory(1, byref(n)))
    return n.value
ok(dtif.hsaKmtOpenKFD())
handle, fd, offset, before = c_void_p(), c_int(), u64(), left()
ok(dtif.hsaKmtAllocMemory(1, u64(SIZE), NO_ADDRESS, byref(handle)))
assert left() == before - SIZE
ok(dtif.hsaKmtExportDMABufHandle(handle, u64(SIZE), byref(fd), byref(offset)))
assert offset.value == 0
"""


def test_memory_is_mapped_by_hand_until_nobody_needs_it(dtif):
    out = dtif(BY_HAND + """
a, b, buffer = reserve(), reserve(), bring(fd)
ok(place(buffer, a, MAP)); ok(place(buffer, a, MAP))  # two GPUs at a, one at b
ok(place(buffer, b, MAP))
(c_char * 5).from_address(a)[:] = b"hello"
ok(place(buffer, a, UNMAP))
print(string_at(a, 5), string_at(b, 5))
ok(place(buffer, a, UNMAP))
there = [line.split()[1] for line in open("/proc/self/maps") if line.startswith(f"{a:x}-")]
print("still at a:", there, place(buffer, a, UNMAP) != 0)
ok(place(buffer, b, UNMAP)); ok(dtif.amdgpu_bo_free(buffer))
for address in (handle, c_void_p(a), c_void_p(b)):
    ok(dtif.hsaKmtFreeMemory(address, u64(SIZE)))
print("all back:", left() == before)
""")
    assert out == "b'hello' b'hello'\nstill at a: ['---p'] True\nall back: True\n"


def test_the_host_maps_the_same_memory_from_the_devices_file(dtif):
    out = dtif(BY_HAND + """
device, kms, place_in_file = c_void_p(), c_uint32(), u64()
ok(dtif.hsaKmtGetAMDGPUDeviceHandle(1, byref(device)))
file = c_int.from_address(device.value + 16).value  # as libdrm's amdgpu_device_get_fd() reads it
buffer, a = bring(fd), reserve()
ok(place(buffer, a, MAP))
ok(dtif.amdgpu_bo_export(buffer, 1, byref(kms)))
place_in_file.value = kms.value
ok(dtif.drmCommandWriteRead(file, ctypes.c_ulong(1), byref(place_in_file), ctypes.c_ulong(8)))
mmap.mmap(file, SIZE, offset=place_in_file.value)[100:104] = b"host"
print(string_at(a + 100, 4))
""")
    assert out == "b'host'\n"


def test_a_buffer_that_another_process_has_outlives_its_owners_free(dtif):
    out = dtif(BY_HAND + """
import subprocess
buffer, a = bring(fd), reserve()
ok(place(buffer, a, MAP))
(c_char * 5).from_address(a)[:] = b"first"
theirs = [line for line in open("/proc/self/maps") if "libdtif" in line][0].split()[-1]
code = '''
import ctypes, sys
from ctypes import byref, c_char, c_void_p, string_at, c_uint64 as u64
dtif = ctypes.CDLL(sys.argv[1])
class Info(ctypes.Structure):
    _fields_ = [("address", c_void_p), ("bytes", u64), ("metadata", c_void_p),
                ("n", ctypes.c_uint32), ("node", ctypes.c_uint32)]
info = Info()
assert dtif.hsaKmtOpenKFD() == 0
buffer = u64(int(sys.argv[2]))
assert dtif.hsaKmtRegisterGraphicsHandleToNodesExt(buffer, byref(info), u64(0), None, 1) == 0
print(string_at(info.address, 5), info.bytes, info.node, flush=True)
(c_char * 5).from_address(info.address)[:] = b"other"
print("written", flush=True)
sys.stdin.read()
print(string_at(info.address, 5))
'''
os.set_inheritable(fd.value, True)
child = subprocess.Popen([sys.executable, "-c", code, theirs, str(fd.value)],
                         close_fds=False, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(child.stdout.readline() + child.stdout.readline(), string_at(a, 5))
ok(place(buffer, a, UNMAP)); ok(dtif.hsaKmtFreeMemory(handle, u64(SIZE)))
print(child.communicate()[0])
""")
    assert out == "b'first' 2097152 1\nwritten\n b'other'\nb'other'\n\n"
