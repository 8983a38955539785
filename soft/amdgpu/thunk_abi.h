/* SPDX-License-Identifier: MIT */
/* The interface between ROCr and its thunk: the types and numbers that this library needs. The
 * names are the vendor's. The declarations are our own, because Debian has had no libhsakmt headers
 * since ROCr contains its thunk. Layouts are those of ROCr 5 and 6, which have the same size: ROCr
 * 6 uses reserved fields of ROCr 5. dtif.c converts the layouts that differ in ROCr 7.
 * tests/test_soft_amdgpu_abi_hsa.py compares these types with the installed headers. */
#ifndef SOFT_AMDGPU_THUNK_ABI_H
#define SOFT_AMDGPU_THUNK_ABI_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t HSAuint8;
typedef uint16_t HSAuint16;
typedef uint32_t HSAuint32;
typedef int32_t HSAint32;
typedef uint64_t HSAuint64;
typedef int64_t HSAint64;
typedef HSAuint64 HSA_QUEUEID;
typedef HSAuint32 HSA_EVENTID;

typedef enum {
	HSAKMT_STATUS_SUCCESS = 0,
	HSAKMT_STATUS_ERROR = 1,
	HSAKMT_STATUS_INVALID_PARAMETER = 3,
	HSAKMT_STATUS_INVALID_HANDLE = 4,
	HSAKMT_STATUS_INVALID_NODE_UNIT = 5,
	HSAKMT_STATUS_NO_MEMORY = 6,
	HSAKMT_STATUS_NOT_SUPPORTED = 11,
	HSAKMT_STATUS_OUT_OF_RESOURCES = 13,
	HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED = 20,
	HSAKMT_STATUS_KERNEL_ALREADY_OPENED = 22,
	HSAKMT_STATUS_WAIT_TIMEOUT = 31,
	HSAKMT_STATUS_MEMORY_NOT_REGISTERED = 36,
} HSAKMT_STATUS;

#pragma pack(push, 4) /* aligned to at most 4 bytes, so pointers may be unaligned */

/* --- the system and its nodes --- */

typedef struct {
	HSAuint32 KernelInterfaceMajorVersion, KernelInterfaceMinorVersion;
} HsaVersionInfo;

typedef struct {
	HSAuint32 NumNodes, PlatformOem, PlatformId, PlatformRev;
} HsaSystemProperties;

typedef union {
	HSAuint32 Value;
	struct {
		unsigned uCode : 10, Major : 6, Minor : 8, Stepping : 8;
	} ui32;
} HSA_ENGINE_ID;

typedef union {
	HSAuint32 Value;
	struct {
		unsigned uCodeSDMA : 10, Reserved : 22;
	};
} HSA_ENGINE_VERSION;

typedef union {
	HSAuint32 Value;
	struct {
		unsigned HotPluggable : 1, HSAMMUPresent : 1, SharedWithGraphics : 1,
			QueueSizePowerOfTwo : 1;
		unsigned QueueSize32bit : 1, QueueIdleEvent : 1, VALimit : 1,
			WatchPointsSupported  : 1;
		unsigned WatchPointsTotalBits : 4;
		unsigned DoorbellType : 2, AQLQueueDoubleMap : 1, Debug : 5, Memory : 2;
		unsigned ASICRevision    : 4;
		unsigned SRAM_EDCSupport : 1, SVMAPISupported : 1, CoherentHostAccess : 1, Rest : 3;
	} ui32;
} HSA_CAPABILITY;

#define HSA_PUBLIC_NAME_SIZE 64

typedef struct {
	HSAuint32 NumCPUCores, NumFComputeCores;
	HSAuint32 NumMemoryBanks, NumCaches, NumIOLinks;
	HSAuint32 CComputeIdLo, FComputeIdLo;
	HSA_CAPABILITY Capability;
	HSAuint32 MaxWavesPerSIMD, LDSSizeInKB, GDSSizeInKB, WaveFrontSize;
	HSAuint32 NumShaderBanks, NumArrays, NumCUPerArray, NumSIMDPerCU, MaxSlotsScratchCU;
	HSA_ENGINE_ID EngineId;
	HSAuint16 VendorId, DeviceId;
	HSAuint32 LocationId;
	HSAuint64 LocalMemSize;
	HSAuint32 MaxEngineClockMhzFCompute, MaxEngineClockMhzCCompute;
	HSAint32 DrmRenderMinor;
	HSAuint16 MarketingName[HSA_PUBLIC_NAME_SIZE];
	HSAuint8 AMDName[HSA_PUBLIC_NAME_SIZE];
	HSA_ENGINE_VERSION uCodeEngineVersions;
	HSAuint64 DebugProperties, HiveID;
	HSAuint32 NumSdmaEngines, NumSdmaXgmiEngines;
	HSAuint8 NumSdmaQueuesPerEngine, NumCpQueues, NumGws, Integrated;
	HSAuint32 Domain;
	HSAuint64 UniqueID;
	HSAuint32 VGPRSizePerCU, SGPRSizePerCU;
	HSAuint32 NumXcc, KFDGpuID, FamilyID; /* reserved in ROCr 5 */
} HsaNodeProperties;

typedef enum {
	HSA_HEAPTYPE_SYSTEM = 0,
	HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC = 1,
	HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE = 2,
	HSA_HEAPTYPE_GPU_LDS = 4,
	HSA_HEAPTYPE_GPU_SCRATCH = 5,
	HSA_HEAPTYPE_MMIO_REMAP = 7,
} HSA_HEAPTYPE;

typedef struct {
	HSA_HEAPTYPE HeapType;
	HSAuint64 SizeInBytes;
	HSAuint32 Flags, Width, MemoryClockMax;
	HSAuint64 VirtualBaseAddress;
} HsaMemoryProperties;

typedef struct {
	HSAuint32 ProcessorIdLow, CacheLevel, CacheSize, CacheLineSize, CacheLinesPerTag,
		CacheAssociativity, CacheLatency;
	union {
		HSAuint32 Value;
		struct {
			unsigned Data : 1, Instruction : 1, CPU : 1, HSACU : 1, Reserved : 28;
		} ui32;
	} CacheType;
	HSAuint32 SiblingMap[256];
} HsaCacheProperties;

typedef enum { HSA_IOLINKTYPE_PCIEXPRESS = 2 } HSA_IOLINKTYPE;

typedef struct {
	HSA_IOLINKTYPE IoLinkType;
	HSAuint32 VersionMajor, VersionMinor, NodeFrom, NodeTo, Weight;
	HSAuint32 MinimumLatency, MaximumLatency, MinimumBandwidth, MaximumBandwidth,
		RecTransferSize;
	union {
		HSAuint32 LinkProperty;
		struct {
			unsigned Override : 1, NonCoherent : 1, NoAtomics32bit : 1,
				NoAtomics64bit : 1, NoPeerToPeerDMA : 1, Reserved : 27;
		} ui32;
	} Flags;
} HsaIoLinkProperties;

typedef struct {
	HSAuint32 *TileConfig, *MacroTileConfig;
	HSAuint32 NumTileConfigs, NumMacroTileConfigs;
	HSAuint32 GbAddrConfig, NumBanks, NumRanks;
	HSAuint32 Reserved[7];
} HsaGpuTileConfig;

typedef struct {
	HSAuint64 GPUClockCounter, CPUClockCounter, SystemClockCounter, SystemClockFrequencyHz;
} HsaClockCounters;

/* --- memory --- */

typedef struct {
	union {
		struct {
			unsigned NonPaged : 1, CachePolicy : 2, ReadOnly : 1, PageSize : 2,
				HostAccess : 1, NoSubstitute : 1;
			unsigned GDSMemory : 1, Scratch : 1, AtomicAccessFull : 1,
				AtomicAccessPartial : 1, ExecuteAccess : 1;
			unsigned CoarseGrain : 1, AQLQueueMemory : 1, FixedAddress : 1,
				NoNUMABind : 1, Uncached : 1;
			/* ROCr 6 */
			unsigned NoAddress : 1, OnlyAddress : 1, ExtendedCoherent : 1,
				GTTAccess : 1, Contiguous : 1, Rest : 9;
		} ui32;
		HSAuint32 Value;
	};
} HsaMemFlags;

typedef struct {
	HSAuint32 Value;
} HsaMemMapFlags;

typedef enum {
	HSA_POINTER_UNKNOWN = 0,
	HSA_POINTER_ALLOCATED = 1,
	HSA_POINTER_REGISTERED_USER = 2,
	HSA_POINTER_REGISTERED_SHARED = 4,
	HSA_POINTER_RESERVED = 5, /* ROCr 6 */
} HSA_POINTER_TYPE;

typedef struct {
	HSA_POINTER_TYPE Type;
	HSAuint32 Node;
	HsaMemFlags MemFlags;
	void *CPUAddress;
	HSAuint64 GPUAddress, SizeInBytes;
	HSAuint32 NRegisteredNodes, NMappedNodes;
	const HSAuint32 *RegisteredNodes, *MappedNodes;
	void *UserData;
} HsaPointerInfo;

typedef HSAuint32 HsaSharedMemoryHandle[8];

/* --- queues --- */

typedef enum {
	HSA_QUEUE_SDMA = 2,
	HSA_QUEUE_SDMA_XGMI = 5,
	HSA_QUEUE_SDMA_BY_ENG_ID = 6, /* ROCr 7 */
	HSA_QUEUE_COMPUTE_AQL = 21,
} HSA_QUEUE_TYPE;

typedef HSAint32 HSA_QUEUE_PRIORITY; /* -3 to 3 */

typedef struct {
	HSA_QUEUEID QueueId;
	HSAuint64 *Queue_DoorBell_aql, *Queue_write_ptr_aql, *Queue_read_ptr_aql;
	volatile HSAint64 *ErrorReason;
} HsaQueueResource;

/* --- events --- */

typedef enum {
	HSA_EVENTTYPE_SIGNAL = 0,
	HSA_EVENTTYPE_DEBUG_EVENT = 5,
	HSA_EVENTTYPE_MEMORY = 8,
	HSA_EVENTTYPE_MAXID,
} HSA_EVENTTYPE;

typedef struct {
	union {
		void *UserData;
		HSAuint64 UserDataPtrValue;
	} SyncVar;
	HSAuint64 SyncVarSize;
} HsaSyncVar;

enum { HSA_EVENTID_MEMORY_FATAL_PROCESS = 1 };

typedef struct {
	HSAuint32 NodeId;
	HSAuint64 VirtualAddress;
	struct {
		unsigned NotPresent : 1, ReadOnly : 1, NoExecute : 1, Rest : 29;
	} Failure;
	HSAuint32 Flags;
} HsaMemoryAccessFault;

typedef struct {
	HSA_EVENTTYPE EventType;
	union {
		HsaSyncVar SyncVar;
		HsaMemoryAccessFault MemoryAccessFault;
	} EventData;
	/* owned by the thunk; ROCr reads HWData2: address of the mailbox */
	HSAuint64 HWData1, HWData2;
	HSAuint32 HWData3;
} HsaEventData;

typedef struct {
	HSA_EVENTTYPE EventType;
	HSAuint32 NodeId;
	HsaSyncVar SyncVar;
} HsaEventDescriptor;

typedef struct {
	HSA_EVENTID EventId;
	HsaEventData EventData;
} HsaEvent;

#pragma pack(pop)

/* --- calls --- */

HSAKMT_STATUS hsaKmtOpenKFD(void);
HSAKMT_STATUS hsaKmtCloseKFD(void);
HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *version);
HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *system);
HSAKMT_STATUS hsaKmtReleaseSystemProperties(void);
HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties *properties);
HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 count,
					    HsaMemoryProperties *banks);
HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 node, HSAuint32 processor, HSAuint32 count,
					   HsaCacheProperties *caches);
HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count,
					    HsaIoLinkProperties *links);
HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 node, HsaGpuTileConfig *config);
HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters *counters);
HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enabled);
HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable);
HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *mask);
HSAKMT_STATUS hsaKmtRuntimeEnable(void *debug, bool setup_ttmp);
HSAKMT_STATUS hsaKmtRuntimeDisable(void);
HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 node, void *code, HSAuint64 code_bytes, void *buffer,
				   HSAuint64 buffer_bytes);
HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void **device);
HSAKMT_STATUS hsaKmtOpenSMI(HSAuint32 node, int *fd);

HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 bytes, HsaMemFlags flags, void **out);
HSAKMT_STATUS hsaKmtAllocMemoryAlign(HSAuint32 node, HSAuint64 bytes, HSAuint64 align,
				     HsaMemFlags flags, void **out);
HSAKMT_STATUS hsaKmtFreeMemory(void *address, HSAuint64 bytes);
HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 node, HSAuint64 *bytes);
HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *address, HSAuint64 bytes, HsaMemFlags flags);
HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 handle, void *info, HSAuint64 count,
						  HSAuint32 *nodes);
HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodesExt(HSAuint64 handle, void *info, HSAuint64 count,
						     HSAuint32 *nodes, HSAuint32 flags);
HSAKMT_STATUS hsaKmtDeregisterMemory(void *address);
HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *address, HSAuint64 bytes, HSAuint64 *gpu_address);
HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *address, HSAuint64 bytes, HSAuint64 *gpu_address,
					HsaMemMapFlags flags, HSAuint64 count, HSAuint32 *nodes);
HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *address);
HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *address, HsaPointerInfo *info);
HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *address, void *data);
HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32 node, HSAuint32 policy, HSAuint32 alternate,
				    void *address, HSAuint64 bytes);
HSAKMT_STATUS hsaKmtShareMemory(void *address, HSAuint64 bytes, HsaSharedMemoryHandle *handle);
HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *handle, void **address,
					 HSAuint64 *bytes);
HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *handle, void **address,
						HSAuint64 *bytes, HSAuint64 count,
						HSAuint32 *nodes);
HSAKMT_STATUS hsaKmtSVMSetAttr(void *address, HSAuint64 bytes, unsigned count, void *attributes);
HSAKMT_STATUS hsaKmtSVMGetAttr(void *address, HSAuint64 bytes, unsigned count, void *attributes);
HSAKMT_STATUS hsaKmtExportDMABufHandle(void *address, HSAuint64 bytes, int *fd, HSAuint64 *offset);
HSAKMT_STATUS hsaKmtReplaceAsanHeaderPage(void *page);
HSAKMT_STATUS hsaKmtReturnAsanHeaderPage(void *page);

HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
				HSA_QUEUE_PRIORITY priority, void *ring, HSAuint64 bytes,
				HsaEvent *event, HsaQueueResource *resource);
HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID id, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority,
				void *ring, HSAuint64 bytes, HsaEvent *event);
HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID id);
HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID id, HSAuint32 count, HSAuint32 *mask);
HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID id, HSAuint32 count, HSAuint32 *first);

HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *wanted, bool manual_reset, bool set,
				HsaEvent **out);
HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *event);
HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *event);
HSAKMT_STATUS hsaKmtResetEvent(HsaEvent *event);
HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent *event);
HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *event, HSAuint32 milliseconds);
HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *events[], HSAuint32 count, bool all,
					 HSAuint32 milliseconds);
HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *event, HSAuint32 milliseconds, uint64_t *age);
HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *events[], HSAuint32 count, bool all,
					     HSAuint32 milliseconds, uint64_t *ages);

/* ROCr 7, in libdtif.so */
HSAKMT_STATUS hsaKmtModelEnabled(bool *enabled);
HSAKMT_STATUS hsaKmtCreateQueueExt(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
				   HSA_QUEUE_PRIORITY priority, HSAuint32 engine, void *ring,
				   HSAuint64 bytes, HsaEvent *event, HsaQueueResource *resource);
HSAKMT_STATUS hsaKmtQueueRingDoorbell(HSA_QUEUEID id);
HSAKMT_STATUS hsaKmtRegisterMemory(void *address, HSAuint64 bytes);
HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void *address, HSAuint64 bytes, HSAuint64 count,
					  HSAuint32 *nodes);

HSAKMT_STATUS hsaKmtDbgDisable(void);
HSAKMT_STATUS hsaKmtDbgEnable(void **runtime_info, HSAuint32 *bytes);
HSAKMT_STATUS hsaKmtDbgGetDeviceData(void **data, HSAuint32 *count, HSAuint32 *entry_bytes);
HSAKMT_STATUS hsaKmtDbgGetQueueData(void **data, HSAuint32 *count, HSAuint32 *entry_bytes,
				    bool suspend);
HSAKMT_STATUS hsaKmtSPMAcquire(HSAuint32 node);
HSAKMT_STATUS hsaKmtSPMRelease(HSAuint32 node);
HSAKMT_STATUS hsaKmtSPMSetDestBuffer(HSAuint32 node, HSAuint32 bytes, HSAuint32 *timeout,
				     HSAuint32 *copied, void *buffer, bool *lost);

#endif
