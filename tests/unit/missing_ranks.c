/* SPDX-License-Identifier: MIT */
/* The verdict on ranks that do not proceed, for jobs made by hand. */
#include "analysis/tables/missing_ranks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "record/operation.h"
#include "unit.h"

#define MS UINT64_C(1000000)

enum { MOST = 128, OTHER = 77 };

static struct hang_process processes[MOST];
static struct hang_thread threads[MOST];
static struct hang_member members[MOST];
static struct hang_job job;

static uint32_t mpi(const char *name)
{
	const struct gt_operation_info *info = gt_operation_find(gt_domain_find("mpi"), name);

	CHECK(info);
	return info->op;
}

static uint32_t nccl(const char *name)
{
	const struct gt_operation_info *info = gt_operation_find(gt_domain_find("nccl"), name);

	CHECK(info);
	return info->op;
}

static void start_job(unsigned ranks)
{
	job = (struct hang_job){.processes = processes,
				.threads = threads,
				.members = members,
				.least_ns = 1000 * MS};
	for (unsigned i = 0; i < ranks; i++)
		processes[job.process_count++] = (struct hang_process){.rank = i, .pid = 100 + i};
}

static struct hang_thread *add_thread(unsigned process)
{
	struct hang_thread *t = &threads[job.thread_count++];

	*t = (struct hang_thread){.process = process, .ordinal = 1, .peer = -1};
	return t;
}

static void wait_in(unsigned process, const char *call, uint64_t communicator, unsigned sequence,
		    unsigned ms)
{
	struct hang_thread *t = add_thread(process);

	t->is_open = true;
	t->op = mpi(call);
	t->communicator = communicator;
	t->sequence = sequence;
	t->for_ns = ms * MS;
}

static void wait_for(unsigned process, const char *call, int peer, unsigned ms)
{
	wait_in(process, call, HANG_WORLD, 0, ms);
	threads[job.thread_count - 1].peer = peer;
}

static void stay_outside(unsigned process, const char *last, const char *state, unsigned ms)
{
	struct hang_thread *t = add_thread(process);

	t->op = last ? mpi(last) : 0;
	t->state = state;
	t->for_ns = ms * MS;
}

static void begin(unsigned process, uint32_t op, uint64_t communicator, unsigned number)
{
	members[job.member_count++] = (struct hang_member){.process = process,
							   .communicator = communicator,
							   .begun = number,
							   .op = op,
							   .rank = -1};
}

static int find_verdict(void *data)
{
	hang_find(&job, data);
	return 0;
}

static void release_verdict(void *data)
{
	hang_fini(data);
}

/* Check the sentences, which @wanted has on a line each. */
static void check_verdict(const char *file, int line, const char *wanted)
{
	struct hang_verdict v = {0};
	char text[8192] = "";
	size_t used = 0;

	fail_each_allocation(find_verdict, release_verdict, &v);
	hang_find(&job, &v);
	for (size_t i = 0; i < v.count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "\n" : "",
					 v.sentences[i]);
	if (strcmp(text, wanted))
		unit_fail(file, line, "the verdict is\n%s\nnot\n%s", text, wanted);
	hang_fini(&v);
}
#define CHECK_VERDICT(wanted) check_verdict(__FILE__, __LINE__, wanted)

UNIT_TEST(a_rank_that_computes_is_named_with_its_last_call)
{
	start_job(64);
	for (unsigned i = 0; i < 64; i++)
		if (i != 3)
			wait_in(i, "MPI_Barrier", HANG_WORLD, 50, 6200);
	stay_outside(3, "MPI_Allreduce", "computing on the host", 6300);
	begin(3, mpi("MPI_Allreduce"), HANG_WORLD, 49);
	CHECK_VERDICT("Rank 3 has not entered MPI_Barrier #50 on MPI_COMM_WORLD; ranks 0 to 2 and "
		      "4 to 63 wait there for 6.20 s.\n"
		      "Rank 3 is outside any call for 6.30 s, computing on the host (its last "
		      "call there: MPI_Allreduce #49).");
}

UNIT_TEST(a_rank_whose_progress_is_not_known_is_not_in_the_call)
{
	start_job(3);
	wait_in(0, "MPI_Barrier", HANG_WORLD, 5, 2000);
	wait_in(1, "MPI_Barrier", HANG_WORLD, 5, 4000);
	stay_outside(2, NULL, NULL, 0);
	CHECK_VERDICT("Rank 2 is not in MPI_Barrier #5 on MPI_COMM_WORLD; ranks 0 and 1 wait there "
		      "for 2.00 s to 4.00 s.\n"
		      "Rank 2 is outside any call.");
}

UNIT_TEST(a_rank_that_was_killed_is_named)
{
	start_job(4);
	for (unsigned i = 0; i < 4; i++)
		if (i != 2)
			wait_in(i, "MPI_Allreduce", HANG_WORLD, 7, 3000);
	begin(2, mpi("MPI_Bcast"), HANG_WORLD, 6);
	processes[2].has_ended = processes[2].has_status = true;
	processes[2].wait_status = SIGKILL;
	CHECK_VERDICT("Rank 2 has not entered MPI_Allreduce #7 on MPI_COMM_WORLD; ranks 0, 1 and 3 "
		      "wait there for 3.00 s.\n"
		      "Rank 2 has ended (killed by signal 9).");
}

UNIT_TEST(a_rank_without_a_process_is_named)
{
	start_job(2);
	job.size = 3;
	wait_in(0, "MPI_Barrier", HANG_WORLD, 1, 3000);
	wait_in(1, "MPI_Barrier", HANG_WORLD, 1, 3000);
	CHECK_VERDICT("Rank 2 is not in MPI_Barrier #1 on MPI_COMM_WORLD; ranks 0 and 1 wait there "
		      "for 3.00 s.\n"
		      "Rank 2 has no process that is recorded.");
}

UNIT_TEST(only_one_end_of_a_job_is_named_if_no_rank_waits)
{
	start_job(3);
	processes[1].has_ended = processes[1].has_status = true;
	processes[1].wait_status = 3 << 8;
	stay_outside(0, NULL, NULL, 0);
	CHECK_VERDICT("Rank 1 has ended (exit status 3).");
	processes[1].wait_status = 0;
	CHECK_VERDICT("");
}

UNIT_TEST(different_calls_with_one_number_are_named)
{
	start_job(4);
	for (unsigned i = 0; i < 4; i++)
		wait_in(i, i == 2 ? "MPI_Bcast" : "MPI_Allreduce", HANG_WORLD, 17, 5000);
	CHECK_VERDICT("Ranks 0, 1 and 3 wait in MPI_Allreduce #17 for 5.00 s, rank 2 in MPI_Bcast "
		      "#17 on MPI_COMM_WORLD: the collective calls differ.");
}

UNIT_TEST(a_rank_in_an_earlier_call_is_the_one_that_is_missing)
{
	start_job(3);
	wait_in(0, "MPI_Barrier", HANG_WORLD, 9, 2000);
	wait_in(1, "MPI_Barrier", HANG_WORLD, 9, 2000);
	wait_in(2, "MPI_Bcast", HANG_WORLD, 8, 2500);
	CHECK_VERDICT("Rank 2 waits in MPI_Bcast #8 on MPI_COMM_WORLD for 2.50 s; ranks 0 and 1 "
		      "have left it.\n"
		      "Rank 2 has not entered MPI_Barrier #9 on MPI_COMM_WORLD; ranks 0 and 1 wait "
		      "there for 2.00 s.\n"
		      "Rank 2 is in MPI_Bcast #8 for 2.50 s.");
}

UNIT_TEST(all_ranks_in_one_call_are_said_to_be_there)
{
	start_job(3);
	for (unsigned i = 0; i < 3; i++)
		wait_in(i, "MPI_Barrier", HANG_WORLD, 9, 2000);
	CHECK_VERDICT("Ranks 0 to 2 wait in MPI_Barrier #9 on MPI_COMM_WORLD for 2.00 s; all ranks "
		      "of the communicator have entered it.");
}

UNIT_TEST(short_waits_and_single_processes_have_no_verdict)
{
	start_job(2);
	wait_in(0, "MPI_Barrier", HANG_WORLD, 9, 20);
	stay_outside(1, NULL, NULL, 20);
	CHECK_VERDICT("");
	start_job(1);
	wait_in(0, "MPI_Barrier", HANG_WORLD, 9, 20000);
	CHECK_VERDICT("");
	start_job(0);
	CHECK_VERDICT("");
}

UNIT_TEST(only_members_of_a_communicator_are_missing)
{
	start_job(6);
	wait_in(0, "MPI_Barrier", OTHER, 4, 3000);
	wait_in(2, "MPI_Barrier", OTHER, 4, 3000);
	for (unsigned i = 0; i < 6; i += 2)
		begin(i, mpi("MPI_Barrier"), OTHER, 3);
	wait_in(4, "MPI_Finalize", 0, 0, 3000);
	CHECK_VERDICT("Rank 4 has not entered MPI_Barrier #4 on a communicator of 3 ranks; ranks 0 "
		      "and 2 wait there for 3.00 s.\n"
		      "Rank 4 is in MPI_Finalize for 3.00 s.");
}

UNIT_TEST(a_communicator_without_an_id_has_no_verdict_on_others)
{
	start_job(4);
	wait_in(0, "MPI_Barrier", HANG_NOT_KNOWN, 4, 3000);
	wait_in(2, "MPI_Barrier", HANG_NOT_KNOWN, 4, 3000);
	stay_outside(1, NULL, NULL, 3000);
	CHECK_VERDICT("Ranks 0 and 2 wait in MPI_Barrier #4 for 3.00 s; not known: which ranks "
		      "share their communicator.");
}

UNIT_TEST(a_receive_without_its_send_is_named_with_what_the_sender_does)
{
	start_job(2);
	wait_for(1, "MPI_Recv", 0, 4000);
	stay_outside(0, "MPI_Send", "sleeping", 4100);
	CHECK_VERDICT("Rank 1 waits for a message from rank 0 in MPI_Recv for 4.00 s; rank 0 is "
		      "outside any call for 4.10 s, sleeping (its last call: MPI_Send).");
	threads[0].peer = -1;
	CHECK_VERDICT("Rank 1 waits for a message from any rank, or one that is not known in "
		      "MPI_Recv for 4.00 s.");
}

UNIT_TEST(a_cycle_of_receives_is_a_deadlock)
{
	start_job(4);
	wait_for(0, "MPI_Recv", 1, 4000);
	wait_for(1, "MPI_Recv", 2, 4000);
	wait_for(2, "MPI_Recv", 0, 4000);
	wait_for(3, "MPI_Recv", 0, 4000);
	CHECK_VERDICT("Ranks 0 to 2 wait for each other for 4.00 s: rank 0 in MPI_Recv for rank "
		      "1, rank 1 in MPI_Recv for rank 2, rank 2 in MPI_Recv for rank 0.\n"
		      "Rank 3 waits for a message from rank 0 in MPI_Recv for 4.00 s; rank 0 is "
		      "in MPI_Recv for 4.00 s.");
}

UNIT_TEST(two_sends_to_each_other_are_a_deadlock)
{
	start_job(2);
	wait_for(0, "MPI_Send", 1, 2000);
	wait_for(1, "MPI_Ssend", 0, 2000);
	CHECK_VERDICT("Ranks 0 and 1 wait for each other for 2.00 s: rank 0 in MPI_Send for rank "
		      "1, rank 1 in MPI_Ssend for rank 0.");
}

UNIT_TEST(a_receive_from_a_rank_in_a_barrier_is_a_deadlock)
{
	start_job(2);
	wait_for(0, "MPI_Recv", 1, 2000);
	wait_in(1, "MPI_Barrier", HANG_WORLD, 3, 2000);
	begin(0, mpi("MPI_Barrier"), HANG_WORLD, 2);
	CHECK_VERDICT("Ranks 0 and 1 wait for each other for 2.00 s: rank 0 in MPI_Recv for rank "
		      "1, rank 1 in MPI_Barrier #3 for rank 0.\n"
		      "Rank 0 has not entered MPI_Barrier #3 on MPI_COMM_WORLD; rank 1 waits there "
		      "for 2.00 s.\n"
		      "Rank 0 is in MPI_Recv for 2.00 s.");
}

UNIT_TEST(long_chains_of_messages_are_cut)
{
	struct hang_verdict v = {0};

	start_job(40);
	for (unsigned i = 1; i < 40; i++)
		wait_for(i, "MPI_Recv", (int)i - 1, 2000);
	stay_outside(0, NULL, NULL, 2000);
	hang_find(&job, &v);
	CHECK_EQ(v.count, 9);
	CHECK(!strcmp(v.sentences[0], "Rank 1 waits for a message from rank 0 in MPI_Recv for "
				      "2.00 s; rank 0 is outside any call for 2.00 s."));
	CHECK(!strcmp(v.sentences[8], "31 more ranks wait for messages."));
	hang_fini(&v);
}

UNIT_TEST(a_kernel_of_a_collective_waits_for_a_rank_that_did_not_start_it)
{
	start_job(4);
	for (unsigned i = 0; i < 4; i++) {
		begin(i, nccl("ncclAllReduce"), OTHER, i == 3 ? 16 : 17);
		if (i == 3)
			continue;
		wait_in(i, "MPI_Barrier", 0, 0, 6200);
		threads[job.thread_count - 1].op =
			gt_operation_find(gt_domain_find("cuda_driver"), "cuStreamSynchronize")->op;
	}
	stay_outside(3, NULL, "reading or writing a file", 6300);
	CHECK_VERDICT(
		"Rank 3 has not started ncclAllReduce #17 on a communicator of 4 ranks; ranks "
		"0 to 2 have started it and wait in cuStreamSynchronize for 6.20 s.\n"
		"Rank 3 is outside any call for 6.30 s, reading or writing a file (its last "
		"call there: ncclAllReduce #16).");
}

UNIT_TEST(a_rank_whose_recording_has_no_end_is_not_missing)
{
	start_job(3);
	wait_in(0, "MPI_Barrier", HANG_WORLD, 2, 3000);
	begin(1, mpi("MPI_Barrier"), HANG_WORLD, 1);
	begin(2, mpi("MPI_Barrier"), HANG_WORLD, 1);
	processes[1].is_unknown = true;
	stay_outside(2, NULL, NULL, 3000);
	CHECK_VERDICT("Rank 2 has not entered MPI_Barrier #2 on MPI_COMM_WORLD; rank 0 waits there "
		      "for 3.00 s.\n"
		      "Rank 2 is outside any call for 3.00 s (its last call there: MPI_Barrier "
		      "#1).\n"
		      "Not known: the last call of rank 1, because the recording has no end.");
}

UNIT_TEST(a_worker_of_a_rank_is_not_its_rank)
{
	start_job(2);
	processes[job.process_count++] = (struct hang_process){.rank = 0, .pid = 7};
	processes[job.process_count++] = (struct hang_process){.rank = HANG_NO_RANK, .pid = 8};
	wait_in(0, "MPI_Barrier", HANG_WORLD, 2, 3000);
	wait_in(1, "MPI_Barrier", HANG_WORLD, 2, 3000);
	stay_outside(2, NULL, NULL, 5000);
	CHECK_VERDICT(
		"Ranks 0 and 1 wait in MPI_Barrier #2 on MPI_COMM_WORLD for 3.00 s; all ranks "
		"of the communicator have entered it.");
}
