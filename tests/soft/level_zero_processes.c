/* SPDX-License-Identifier: MIT */
/* Uses Level Zero in two processes, for tests of the software devices.
 *
 *   level_zero_processes bytes|descriptor   one process uses memory and events of another: handles
 *                                           are sent unchanged, or as descriptors
 *                                           level_zero_processes late               a fork child
 *                                           after zeInit */
#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                                       \
	do {                                                                              \
		ze_result_t check_status = (call);                                        \
		if (check_status) {                                                       \
			printf("%d: %s: %#x\n", __LINE__, #call, (unsigned)check_status); \
			exit(1);                                                          \
		}                                                                         \
	} while (0)
#define EXPECT(condition)                                                 \
	do {                                                              \
		if (!(condition)) {                                       \
			printf("%d: not so: %s\n", __LINE__, #condition); \
			exit(1);                                          \
		}                                                         \
	} while (0)

enum { BYTES = 3 << 20, SMALL = 100, FILLED, DOUBLED, EVENTS };

static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_command_list_handle_t list;

static void start(void)
{
	ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
	ze_driver_handle_t driver;
	uint32_t count = 1;

	CHECK(zeInit(0));
	CHECK(zeDriverGet(&count, &driver));
	count = 1;
	CHECK(zeDeviceGet(driver, &count, &device));
	CHECK(zeContextCreate(driver, &desc, &context));
	CHECK(zeCommandListCreateImmediate(context, device, &queue, &list));
}

static ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index)
{
	ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = index - FILLED};
	ze_event_handle_t event;

	CHECK(zeEventCreate(pool, &desc, &event));
	return event;
}

/* Between the two processes ------------------------------------------------------------ */

/* Send the handle, or with @as_descriptor only its first four bytes, as a file descriptor. */
static void send_handle(int to, const char *handle, bool as_descriptor)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	char data[ZE_MAX_IPC_HANDLE_SIZE] = {0};
	struct iovec part = {data, sizeof data};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (as_descriptor) {
		struct cmsghdr *head;
		message.msg_control = control.room;
		message.msg_controllen = sizeof control.room;
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), handle, sizeof(int));
	} else
		memcpy(data, handle, sizeof data);
	EXPECT(sendmsg(to, &message, 0) == sizeof data);
}

static void receive_handle(int from, char *handle)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec part = {handle, ZE_MAX_IPC_HANDLE_SIZE};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.room,
				 .msg_controllen = sizeof control.room};
	struct cmsghdr *head;

	EXPECT(recvmsg(from, &message, 0) == ZE_MAX_IPC_HANDLE_SIZE);
	head = CMSG_FIRSTHDR(&message);
	if (head)
		memcpy(handle, CMSG_DATA(head), sizeof(int));
}

/* Memory and events -------------------------------------------------------------------- */

/* Wait for a command of the other process on the device, and double the values that it has
 * written. */
static int use_anothers(int from)
{
	ze_ipc_event_pool_handle_t pool_handle;
	ze_ipc_mem_handle_t handle, small_handle;
	ze_event_handle_t filled, doubled;
	ze_event_pool_handle_t pool;
	unsigned char *memory, *small;
	void *copy = malloc(BYTES);
	ze_memory_allocation_properties_t about = {
		.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};

	start();
	receive_handle(from, handle.data);
	receive_handle(from, small_handle.data);
	receive_handle(from, pool_handle.data);
	CHECK(zeMemOpenIpcHandle(context, device, handle, 0, (void **)&memory));
	CHECK(zeMemOpenIpcHandle(context, device, small_handle, 0, (void **)&small));
	CHECK(zeEventPoolOpenIpcHandle(context, pool_handle, &pool));
	CHECK(zeMemGetAllocProperties(context, memory, &about, NULL));
	EXPECT(about.type == ZE_MEMORY_TYPE_DEVICE);
	CHECK(zeMemGetAllocProperties(context, small, &about, NULL));
	EXPECT(about.type == ZE_MEMORY_TYPE_HOST);
	filled = make_event(pool, FILLED);
	doubled = make_event(pool, DOUBLED);
	CHECK(zeCommandListAppendMemoryCopy(list, copy, memory, BYTES, NULL, 1, &filled));
	CHECK(zeCommandListAppendMemoryFill(list, memory, "b", 1, BYTES / 2, NULL, 0, NULL));
	CHECK(zeCommandListAppendMemoryFill(list, small, "s", 1, SMALL, doubled, 0, NULL));
	CHECK(zeEventHostSynchronize(doubled, UINT64_MAX));
	EXPECT(((char *)copy)[0] == 'a' && ((char *)copy)[BYTES - 1] == 'a');
	EXPECT(zeMemFree(context, memory) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
	CHECK(zeMemCloseIpcHandle(context, memory));
	CHECK(zeMemCloseIpcHandle(context, small));
	EXPECT(zeMemCloseIpcHandle(context, memory) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
	CHECK(zeEventDestroy(filled));
	CHECK(zeEventDestroy(doubled));
	CHECK(zeEventPoolCloseIpcHandle(pool));
	free(copy);
	CHECK(zeCommandListDestroy(list));
	CHECK(zeContextDestroy(context));
	return 0;
}

static void share_own(int to, bool as_descriptor)
{
	ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
					  .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
						   ZE_EVENT_POOL_FLAG_IPC |
						   ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
					  .count = EVENTS - FILLED};
	ze_kernel_timestamp_result_t times;
	ze_ipc_event_pool_handle_t pool_handle;
	ze_ipc_mem_handle_t handle, small_handle;
	ze_event_handle_t filled, doubled;
	ze_event_pool_handle_t pool;
	char *memory, *small;

	start();
	CHECK(zeMemAllocDevice(context, &desc, BYTES, 64, device, (void **)&memory));
	CHECK(zeMemAllocHost(context, &host, SMALL, 64, (void **)&small));
	CHECK(zeEventPoolCreate(context, &pool_desc, 1, &device, &pool));
	filled = make_event(pool, FILLED);
	doubled = make_event(pool, DOUBLED);
	CHECK(zeMemGetIpcHandle(context, memory, &handle));
	CHECK(zeMemGetIpcHandle(context, small, &small_handle));
	CHECK(zeEventPoolGetIpcHandle(pool, &pool_handle));
	send_handle(to, handle.data, as_descriptor);
	send_handle(to, small_handle.data, as_descriptor);
	send_handle(to, pool_handle.data, as_descriptor);
	CHECK(zeCommandListAppendMemoryFill(list, memory, "a", 1, BYTES, filled, 0, NULL));
	CHECK(zeEventHostSynchronize(doubled, UINT64_MAX));
	EXPECT(memory[0] == 'b' && memory[BYTES / 2] == 'a' && small[SMALL - 1] == 's');
	CHECK(zeEventQueryKernelTimestamp(doubled, &times));
	EXPECT(times.global.kernelStart < times.global.kernelEnd);
	CHECK(zeEventDestroy(filled));
	CHECK(zeEventDestroy(doubled));
	CHECK(zeEventPoolDestroy(pool));
	CHECK(zeMemFree(context, memory));
	CHECK(zeMemFree(context, small));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeContextDestroy(context));
}

static int wait_for(pid_t child)
{
	int status;

	EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Fork --------------------------------------------------------------------------------- */

static void fork_late(void)
{
	ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	void *memory;
	pid_t child;

	start();
	fflush(stdout);
	child = fork();
	if (!child) {
		printf("child: %#x", (unsigned)zeMemAllocHost(context, &host, 10, 0, &memory));
		printf(" %#x\n", (unsigned)zeCommandListAppendBarrier(list, NULL, 0, NULL));
		exit(0);
	}
	EXPECT(wait_for(child) == 0);
	CHECK(zeMemAllocHost(context, &host, 10, 0, &memory));
	CHECK(zeMemFree(context, memory));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeContextDestroy(context));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int ends[2];
	pid_t child;

	if (!strcmp(what, "late")) {
		fork_late();
		return 0;
	}
	EXPECT(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
	child = fork();
	alarm(60); /* each process ends without waiting for the other */
	if (!child)
		exit(use_anothers(ends[1]));
	share_own(ends[0], !strcmp(what, "descriptor"));
	return wait_for(child);
}
