/* SPDX-License-Identifier: MIT */
/* libdtif.so: the library through which ROCr 7 uses libhsakmt.so.1. ROCr 7 contains its thunk, but
 * with HSA_ENABLE_DTIF=1 it looks up all functions of the thunk, and the libdrm functions that ROCr
 * itself calls, in a library of this name, with dlsym().
 *
 *   ROCr 7 ──dlsym()──► libdtif.so      functions that only ROCr 7 has, or with another layout
 *                        └─ needs ────► libhsakmt.so.1      other functions: also found by
 *                          dlsym()
 *   dtif_drm.c contains the libdrm functions.
 *
 * A program that opens libhsakmt.so.1 itself, in addition to ROCr, thus gets the older layouts.
 * When it uses libdtif.so, ROCr polls its signals (there are no interrupts, and no events except
 * those that the program creates) and rings the doorbell of an AQL queue with a call. */
#include <stddef.h>
#include <string.h>

#include "soft/amdgpu/amdgpu.h"

#define DTIF_API __attribute__((visibility("default")))

DTIF_API void *DtifCreate(const char *user);
DTIF_API void DtifDestroy(void);

/* Return a non-NULL handle. ROCr 7 calls this before opening the driver, and treats NULL as a
 * failure.
 * hsaKmtOpenKFD() initialises the state. */
void *DtifCreate(const char *user)
{
	static char instance;

	(void)user;
	return &instance;
}

void DtifDestroy(void)
{
}

/* --- layouts of ROCr 7: those of ROCr 6 with inserted words --- */

struct gap {
	size_t before; /* offset in the older layout */
	size_t bytes;  /* number of zero bytes inserted for ROCr 7 */
};

/* Copy @from and insert gaps. The last entry of @gaps has `before` equal to the size of the older
 * layout. Return the end of the output. */
static char *spread(char *to, const void *from, const struct gap *gaps, size_t size)
{
	size_t at = 0;

	for (const struct gap *g = gaps;; g++) {
		memcpy(to, (const char *)from + at, g->before - at);
		to += g->before - at;
		memset(to, 0, g->bytes);
		to += g->bytes;
		at = g->before;
		if (at == size)
			return to;
	}
}

DTIF_API HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties *out)
{
	static const struct gap gaps[] = {
		{offsetof(HsaNodeProperties, NumMemoryBanks), 4},  /* neural cores */
		{offsetof(HsaNodeProperties, MaxWavesPerSIMD), 4}, /* more capabilities */
		/* version of the simulated engine */
		{offsetof(HsaNodeProperties, VendorId), 4},
		{sizeof(HsaNodeProperties), 8},
	};
	HsaNodeProperties older;
	HSAKMT_STATUS status = soft_dtif_node(node, &older);

	if (status == HSAKMT_STATUS_SUCCESS)
		spread((char *)out, &older, gaps, sizeof older);
	return status;
}

DTIF_API HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count,
						     HsaIoLinkProperties *out)
{
	static const struct gap gaps[] = {
		/* the preferred copy engines: all are equal */
		{offsetof(HsaIoLinkProperties, Flags), 4},
		{sizeof(HsaIoLinkProperties), 0},
	};
	HsaIoLinkProperties older[1 + SOFT_AMDGPU_MAX];
	HSAKMT_STATUS status = count > 1 + SOFT_AMDGPU_MAX ? HSAKMT_STATUS_INVALID_PARAMETER
							   : soft_dtif_links(node, count, older);
	char *to = (char *)out;

	for (HSAuint32 i = 0; status == HSAKMT_STATUS_SUCCESS && i < count; i++)
		to = spread(to, &older[i], gaps, sizeof older[i]);
	return status;
}

/* --- new calls in ROCr 7 --- */

/* Since 1.15 ROCr maps memory itself, with the functions of dtif_drm.c. */
DTIF_API HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *version)
{
	*version = (HsaVersionInfo){1, 15};
	return HSAKMT_STATUS_SUCCESS;
}

DTIF_API HSAKMT_STATUS hsaKmtModelEnabled(bool *enabled)
{
	*enabled = false; /* another simulator that ROCr supports */
	return HSAKMT_STATUS_SUCCESS;
}

DTIF_API HSAKMT_STATUS hsaKmtCreateQueueExt(HSAuint32 node, HSA_QUEUE_TYPE type,
					    HSAuint32 percentage, HSA_QUEUE_PRIORITY priority,
					    HSAuint32 engine, void *ring, HSAuint64 bytes,
					    HsaEvent *event, HsaQueueResource *resource)
{
	(void)engine; /* all engines are equal here */
	return hsaKmtCreateQueue(node, type == HSA_QUEUE_SDMA_BY_ENG_ID ? HSA_QUEUE_SDMA : type,
				 percentage, priority, ring, bytes, event, resource);
}

DTIF_API HSAKMT_STATUS hsaKmtQueueRingDoorbell(HSA_QUEUEID id)
{
	soft_dtif_ring(id);
	return HSAKMT_STATUS_SUCCESS;
}

DTIF_API HSAKMT_STATUS hsaKmtRegisterMemory(void *address, HSAuint64 bytes)
{
	return hsaKmtRegisterMemoryWithFlags(address, bytes, (HsaMemFlags){.Value = 0});
}

DTIF_API HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void *address, HSAuint64 bytes, HSAuint64 count,
						   HSAuint32 *nodes)
{
	(void)count; /* ignored: every GPU may use the memory */
	(void)nodes;
	return hsaKmtRegisterMemory(address, bytes);
}

/* Functions that a software GPU does not need; the arguments are ignored. */
#define X(name)                                     \
	DTIF_API HSAKMT_STATUS hsaKmt##name(void);  \
	HSAKMT_STATUS hsaKmt##name(void)            \
	{                                           \
		return HSAKMT_STATUS_NOT_SUPPORTED; \
	}
#include "soft/amdgpu/dtif_functions.h"
#undef X
