/* SPDX-License-Identifier: MIT */
/* Reports nodes, memory banks, caches and links as the kernel's topology does. Comments next to
 * values give the requirements of ROCr and HIP. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soft/amdgpu/amdgpu.h"

enum { GPU_BANKS = 4, GPU_CACHES = 2, CPU_CACHES = 3 };

/* ROCr uses the address of this page for the registers that flush the host data path. The page is
 * never read. */
static uint64_t flush_registers;

bool soft_topology_open(void)
{
	void *page =
		mmap(NULL, SOFT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED) {
		soft_say("no memory");
		return false;
	}
	flush_registers = (uint64_t)page;
	return true;
}

THUNK_API HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *system)
{
	if (soft_opened())
		return soft_opened();
	*system = (HsaSystemProperties){.NumNodes = 1 + soft_config()->gpus,
					.PlatformId = 2,
					.PlatformRev = 1};
	return HSAKMT_STATUS_SUCCESS;
}

/* ROCr calls this function before it acquires a snapshot of the topology, and after it has closed
 * the driver. */
THUNK_API HSAKMT_STATUS hsaKmtReleaseSystemProperties(void)
{
	return HSAKMT_STATUS_SUCCESS;
}

static void put_name(HSAuint16 out[HSA_PUBLIC_NAME_SIZE], const char *name)
{
	unsigned i = 0;

	for (; name[i] && i < HSA_PUBLIC_NAME_SIZE - 1; i++)
		out[i] = (unsigned char)name[i];
	out[i] = 0;
}

static void cpu_properties(HsaNodeProperties *p)
{
	p->NumCPUCores = (HSAuint32)sysconf(_SC_NPROCESSORS_ONLN);
	p->NumMemoryBanks = 1;
	p->NumCaches = CPU_CACHES;
	/* from a link from the CPU, ROCr concludes that the host reaches all device memory */
	p->NumIOLinks = soft_config()->large_bar ? soft_config()->gpus : 0;
	p->MaxEngineClockMhzCCompute = 3000;
	p->DrmRenderMinor = -1;
	put_name(p->MarketingName, "Host CPU of the software GPUs");
}

static void gpu_properties(HSAuint32 node, HsaNodeProperties *p)
{
	const struct soft_gpu_type *t = soft_config()->type;
	HSAuint32 units = t->shader_engines * t->arrays_per_engine * t->units_per_array;

	/* NumCPUCores stays 0: otherwise ROCr treats the GPU as part of the CPU */
	p->NumFComputeCores = units * t->simds_per_unit;
	p->NumMemoryBanks = GPU_BANKS;
	p->NumCaches = GPU_CACHES;
	p->NumIOLinks = soft_config()->gpus; /* links to the CPU and to each other GPU */
	p->FComputeIdLo = 0x80001000 + node * 0x100;
	p->Capability.ui32.DoorbellType = 2; /* 64 bits, plain memory */
	p->Capability.ui32.QueueSizePowerOfTwo = 1;
	p->Capability.ui32.WatchPointsSupported = 1;
	p->Capability.ui32.WatchPointsTotalBits = 2;
	p->Capability.ui32.ASICRevision = 1;
	p->MaxWavesPerSIMD = t->waves_per_simd;
	p->LDSSizeInKB = t->lds_kib;
	p->WaveFrontSize = t->wave_size;
	p->NumShaderBanks = t->shader_engines * t->arrays_per_engine;
	p->NumArrays = t->arrays_per_engine;
	p->NumCUPerArray = t->units_per_array;
	p->NumSIMDPerCU = t->simds_per_unit;
	p->MaxSlotsScratchCU = 32;
	p->EngineId.ui32.Major = t->major;
	p->EngineId.ui32.Minor = t->minor;
	p->EngineId.ui32.Stepping = t->stepping;
	p->EngineId.ui32.uCode = t->firmware;
	p->uCodeEngineVersions.uCodeSDMA = t->sdma_firmware;
	p->VendorId = 0x1002;
	p->DeviceId = t->device_id;
	p->LocationId = (2 + node) << 8; /* bus, device 0, function 0 */
	p->LocalMemSize = soft_config()->memory_bytes;
	p->MaxEngineClockMhzFCompute = t->clock_mhz;
	p->DrmRenderMinor = (HSAint32)(127 + node);
	p->NumSdmaEngines = 2;
	p->NumSdmaQueuesPerEngine = 8;
	p->NumCpQueues = 24;
	p->NumGws = SOFT_GWS;
	p->NumXcc = 1;
	p->KFDGpuID = 0x50f7 + node;
	p->FamilyID = 141;                          /* gfx9 */
	p->UniqueID = 0x50f7690000000000ull + node; /* HIP's "GPU-50f7.." */
	p->VGPRSizePerCU = t->vgpr_bytes_per_unit;
	p->SGPRSizePerCU = t->sgpr_bytes_per_unit;
	put_name(p->MarketingName, t->marketing_name);
	snprintf((char *)p->AMDName, sizeof p->AMDName, "%s", t->name);
}

HSAKMT_STATUS soft_dtif_node(HSAuint32 node, HsaNodeProperties *properties)
{
	if (soft_opened())
		return soft_opened();
	if (node > soft_config()->gpus)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	memset(properties, 0, sizeof *properties);
	if (node == 0)
		cpu_properties(properties);
	else
		gpu_properties(node, properties);
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties *properties)
{
	return soft_dtif_node(node, properties);
}

THUNK_API HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 count,
						      HsaMemoryProperties *banks)
{
	HsaMemoryProperties gpu[GPU_BANKS] = {
		{.HeapType = HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
		 .Width = 4096,
		 .MemoryClockMax = 1000},
		{.HeapType = HSA_HEAPTYPE_GPU_LDS,
		 .SizeInBytes = 64 << 10,
		 .VirtualBaseAddress = SOFT_LDS_APERTURE},
		{.HeapType = HSA_HEAPTYPE_GPU_SCRATCH,
		 .SizeInBytes = 1ull << 32,
		 .VirtualBaseAddress = SOFT_PRIVATE_APERTURE},
		{.HeapType = HSA_HEAPTYPE_MMIO_REMAP,
		 .SizeInBytes = SOFT_PAGE,
		 .VirtualBaseAddress = flush_registers},
	};
	HsaMemoryProperties host = {
		.HeapType = HSA_HEAPTYPE_SYSTEM,
		.Width = 64,
		.MemoryClockMax = 2400,
		.SizeInBytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * SOFT_PAGE,
	};

	if (soft_opened())
		return soft_opened();
	if (node > soft_config()->gpus)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	gpu[0].SizeInBytes = soft_config()->memory_bytes;
	if (soft_config()->large_bar)
		gpu[0].HeapType = HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC;
	memset(banks, 0, count * sizeof *banks);
	for (HSAuint32 i = 0; i < count && i < (node ? GPU_BANKS : 1); i++)
		banks[i] = node ? gpu[i] : host;
	return HSAKMT_STATUS_SUCCESS;
}

/* ROCr treats an empty list as an error, so each node has entries. */
THUNK_API HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 node, HSAuint32 processor,
						     HSAuint32 count, HsaCacheProperties *caches)
{
	const HSAuint32 cpu_kib[CPU_CACHES] = {32, 1024, 32768};
	HSAuint32 gpu_kib[GPU_CACHES] = {16, 0};

	if (soft_opened())
		return soft_opened();
	if (node > soft_config()->gpus)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	gpu_kib[1] = soft_config()->type->l2_kib;
	memset(caches, 0, count * sizeof *caches);
	for (HSAuint32 i = 0; i < count && i < (HSAuint32)(node ? GPU_CACHES : CPU_CACHES); i++) {
		caches[i].ProcessorIdLow = processor;
		caches[i].CacheLevel = i + 1;
		caches[i].CacheLineSize = 64;
		caches[i].CacheSize = node ? gpu_kib[i] : cpu_kib[i];
		caches[i].CacheType.ui32.Data = 1;
		if (node)
			caches[i].CacheType.ui32.HSACU = 1;
		else
			caches[i].CacheType.ui32.CPU = 1;
	}
	return HSAKMT_STATUS_SUCCESS;
}

/* The first link of a GPU leads to the CPU, with atomics (otherwise ROCr avoids 64-bit atomics).
 * The other links lead to the other GPUs. */
HSAKMT_STATUS soft_dtif_links(HSAuint32 node, HSAuint32 count, HsaIoLinkProperties *links)
{
	if (soft_opened())
		return soft_opened();
	if (node > soft_config()->gpus)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	memset(links, 0, count * sizeof *links);
	for (HSAuint32 i = 0; i < count; i++) {
		HSAuint32 to = node == 0 ? i + 1 : i == 0 ? 0 : i >= node ? i + 1 : i;
		links[i].IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
		links[i].NodeFrom = node;
		links[i].NodeTo = to;
		links[i].Weight = node && to ? 40 : 20;
		links[i].MinimumBandwidth = 312;
		links[i].MaximumBandwidth = 16000;
		links[i].Flags.ui32.Override = 1;
	}
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count,
						      HsaIoLinkProperties *links)
{
	return soft_dtif_links(node, count, links);
}

/* ROCr computes the memory size of an image from this value. The interpreter stores elements row by
 * row, which takes no more memory. */
THUNK_API HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 node, HsaGpuTileConfig *config)
{
	if (soft_opened())
		return soft_opened();
	if (!soft_is_gpu(node))
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	config->NumTileConfigs = 0;
	config->NumMacroTileConfigs = 0;
	config->GbAddrConfig = 0x2a110002;
	config->NumBanks = 4;
	config->NumRanks = 1;
	return HSAKMT_STATUS_SUCCESS;
}
