/* SPDX-License-Identifier: MIT */
/* Ways in which processes that use HIP end and fork: ends WORD...
 *   kernels:N     N launches of `count` on a separate stream, waited for; prints their sum
 *   queued:N      the same, not waited for
 *   device stream event copy   wait in this way for everything launched, and do nothing else
 *   fork-before   the parent and a child that is forked now execute all following words;
 *                 the parent waits for it
 *   fork-idle     forks a child that does nothing but _exit(7); prints that
 *   fork-look     forks a child that queries a stream's flags, which HIP also answers there, and
 *                 _exit(6)s
 *   fork-exec:N   forks a child that starts this program anew, with kernels:N
 *   fault         a kernel stores to unmapped memory; waits for the device
 *   abort exit _exit   these; exit without waiting for anything
 *   pause:MS      does nothing for that time
 *   kill          SIGKILL
 *   forever       launches until it is killed, slowly if it is not killed soon; stores the
 *                 number of returned launches in ./tally */
#include <hip/hip_runtime.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define MUST(call)                                                         \
	do {                                                               \
		hipError_t e_ = call;                                      \
		if (e_ != hipSuccess) {                                    \
			fprintf(stderr, "ends: %s: %d\n", #call, (int)e_); \
			_exit(3);                                          \
		}                                                          \
	} while (0)

extern "C" __global__ void count(int *sum)
{
	if (threadIdx.x == 0)
		atomicAdd(sum, 1);
}

extern "C" __global__ void stray(int *nowhere)
{
	*nowhere = 1;
}

static int *sum;
static hipStream_t stream;

static void prepare()
{
	if (sum)
		return;
	MUST(hipMalloc((void **)&sum, sizeof *sum));
	MUST(hipMemset(sum, 0, sizeof *sum));
	MUST(hipStreamCreate(&stream));
}

static void kernels(int n, bool wait)
{
	int found;

	prepare();
	for (int i = 0; i < n; i++)
		count<<<1, 64, 0, stream>>>(sum);
	if (!wait)
		return;
	MUST(hipStreamSynchronize(stream));
	MUST(hipMemcpy(&found, sum, sizeof found, hipMemcpyDeviceToHost));
	printf("%d\n", found);
	fflush(stdout);
}

static bool wait_by(const char *way)
{
	hipEvent_t event;
	int found;

	if (!strcmp(way, "device")) {
		MUST(hipDeviceSynchronize());
	} else if (!strcmp(way, "stream")) {
		MUST(hipStreamSynchronize(stream));
	} else if (!strcmp(way, "event")) {
		MUST(hipEventCreate(&event));
		MUST(hipEventRecord(event, stream));
		MUST(hipEventSynchronize(event));
	} else if (!strcmp(way, "copy")) {
		MUST(hipMemcpyWithStream(&found, sum, sizeof found, hipMemcpyDeviceToHost, stream));
	} else {
		return false;
	}
	return true;
}

static void wait_for(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	printf("child %d\n", status);
	fflush(stdout);
}

static void forever()
{
	int fd = open("tally", O_RDWR | O_CREAT, 0600);
	uint64_t *tally;

	if (ftruncate(fd, sizeof *tally))
		exit(2);
	tally = (uint64_t *)mmap(nullptr, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (prepare();; __atomic_fetch_add(tally, 1, __ATOMIC_RELEASE)) {
		count<<<1, 64, 0, stream>>>(sum);
		/* the killing process gets no processor: make no more records than can be read
		 * quickly */
		if (*tally > 5000)
			usleep(1000);
	}
}

static void again(const char *self, const char *count)
{
	char word[64];

	snprintf(word, sizeof word, "kernels:%s", count);
	execl(self, self, word, nullptr);
	_exit(9);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *number = strchr(word, ':');
		pid_t child = -1;

		number = number ? number + 1 : "0";
		if (!strncmp(word, "kernels:", 8)) {
			kernels(atoi(number), true);
		} else if (!strncmp(word, "queued:", 7)) {
			kernels(atoi(number), false);
		} else if (!strcmp(word, "fork-before")) {
			child = fork();
			if (child)
				wait_for(child);
		} else if (!strcmp(word, "fork-idle")) {
			if (!(child = fork()))
				_exit(7);
			wait_for(child);
		} else if (!strcmp(word, "fork-look")) {
			if (!(child = fork())) {
				unsigned flags;

				_exit(hipStreamGetFlags(stream, &flags) == hipSuccess ? 6 : 5);
			}
			wait_for(child);
		} else if (!strncmp(word, "fork-exec:", 10)) {
			if (!(child = fork()))
				again(argv[0], number);
			wait_for(child);
		} else if (!strcmp(word, "fault")) {
			prepare();
			stray<<<1, 1, 0, stream>>>((int *)0x10000);
			hipStreamSynchronize(stream);
		} else if (!strcmp(word, "abort")) {
			abort();
		} else if (!strcmp(word, "exit")) {
			exit(0);
		} else if (!strcmp(word, "_exit")) {
			_exit(0);
		} else if (!strncmp(word, "pause:", 6)) {
			usleep((useconds_t)atoi(number) * 1000);
		} else if (!strcmp(word, "kill")) {
			kill(getpid(), SIGKILL);
		} else if (!strcmp(word, "forever")) {
			forever();
		} else if (!wait_by(word)) {
			fprintf(stderr, "ends: %s?\n", word);
			return 2;
		}
	}
	return 0;
}
