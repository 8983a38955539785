/* SPDX-License-Identifier: MIT */
/* See hung_jobs.h. Processes belong to one job if they are in one session with several ranks, or if
 * their launchers' variables, or else the parents of their `gputap run`, are the same. If a rank
 * occurs twice in a job, several jobs cannot be told apart, and there is no verdict. */
#include "cli/hung_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lookup.h"
#include "cli/mpi_world.h"
#include "record/operation.h"

enum { KEY_BYTES = 256, ENVIRONMENT_BYTES = 1 << 18 };

struct job {
	const struct stuck_list *list;
	bool *is_member; /* by process of the list */
	bool by_order;   /* ranks are numbers in the order of pids */
	struct hang_process *processes;
	uint32_t *number; /* by process of the list: index in processes */
	size_t process_count;
	struct hang_thread *threads;
	size_t thread_count, thread_room;
	struct hang_member *members;
	size_t member_count, member_room;
	uint32_t size;
};

/* Jobs ------------------------------------------------------------------------------- */

/* Read the value of a launcher's variable that all ranks of a job share. Return false if there is
 * none. */
static bool read_job_id(uint32_t pid, char *key, size_t room)
{
	static const char *const names[] = {"PMIX_NAMESPACE=", "OMPI_MCA_ess_base_jobid=",
					    "SLURM_JOB_ID=", "MASTER_PORT="};
	char path[64], *text = allocate_list(ENVIRONMENT_BYTES, 1);
	bool found = false;
	size_t bytes;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%u/environ", pid);
	f = fopen(path, "re");
	bytes = f ? fread(text, 1, ENVIRONMENT_BYTES - 1, f) : 0;
	if (f)
		fclose(f);
	for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
		for (const char *p = text; p < text + bytes && !found; p += strlen(p) + 1)
			if (!strncmp(p, names[i], strlen(names[i]))) {
				snprintf(key, room, "%s", p);
				found = true;
			}
	free(text);
	return found;
}

static uint32_t read_parent(uint32_t pid)
{
	char path[64], line[512];
	uint32_t parent = 0;
	const char *end;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	f = fopen(path, "re");
	/* the name of the program is in parentheses and may contain any character */
	if (f && fgets(line, sizeof line, f) && (end = strrchr(line, ')')) &&
	    sscanf(end + 1, " %*c %u", &parent) != 1)
		parent = 0;
	if (f)
		fclose(f);
	return parent;
}

/* Return true if the process takes part in a job: it has a rank, or made collective calls. */
static bool is_of_job(const struct stuck_process *p)
{
	return p->rank >= 0 || *p->communicators;
}

/* Return true if the session has several processes that take part in a job. */
static bool has_several(const struct stuck_list *l, uint32_t collector)
{
	const struct stuck_process *first = NULL;

	for (size_t i = 0; i < l->process_count; i++) {
		const struct stuck_process *p = &l->processes[i];

		if (p->collector != collector || !is_of_job(p))
			continue;
		if (first && (p->rank < 0 || p->rank != first->rank))
			return true;
		first = p;
	}
	return false;
}

static void make_key(const struct stuck_list *l, const struct stuck_process *p, char *key,
		     size_t room)
{
	if (has_several(l, p->collector))
		snprintf(key, room, "session %u", p->collector);
	else if (p->is_unseen || !read_job_id(p->pid, key, room))
		snprintf(key, room, "parent %u", read_parent(p->collector));
}

/* Ranks ------------------------------------------------------------------------------- */

/* Return true if the ranks of the job are known, and each has one process with collective calls. */
static bool are_ranks_distinct(const struct job *j)
{
	struct idmap seen = {0};
	bool distinct = true;

	for (size_t i = 0; i < j->list->process_count; i++) {
		const struct stuck_process *p = &j->list->processes[i];

		if (!j->is_member[i] || !*p->communicators || p->rank < 0)
			continue;
		distinct &= idmap_get(&seen, (uint64_t)p->rank) == LOOKUP_NONE;
		idmap_put(&seen, (uint64_t)p->rank, 1);
	}
	idmap_fini(&seen);
	return distinct;
}

/* Number the processes with collective calls in the order of their pids, if none has a rank. */
static void number_by_order(struct job *j)
{
	const struct stuck_list *l = j->list;
	uint32_t count = 0;

	for (size_t i = 0; i < l->process_count; i++)
		if (j->is_member[i] && l->processes[i].rank >= 0)
			return;
	for (size_t i = 0; i < l->process_count; i++) {
		uint32_t rank = 0;

		if (!j->is_member[i] || !*l->processes[i].communicators)
			continue;
		for (size_t k = 0; k < l->process_count; k++)
			rank += j->is_member[k] && *l->processes[k].communicators &&
				l->processes[k].pid < l->processes[i].pid;
		j->processes[j->number[i]].rank = rank;
		count++;
	}
	j->by_order = count > 1;
}

static void add_processes(struct job *j)
{
	const struct stuck_list *l = j->list;

	j->processes = allocate_list(l->process_count + 1, sizeof *j->processes);
	j->number = allocate_list(l->process_count + 1, sizeof *j->number);
	for (size_t i = 0; i < l->process_count; i++) {
		const struct stuck_process *p = &l->processes[i];

		if (!j->is_member[i])
			continue;
		j->number[i] = (uint32_t)j->process_count;
		j->processes[j->process_count++] = (struct hang_process){
			.rank = p->rank >= 0 ? (uint32_t)p->rank : HANG_NO_RANK,
			.pid = p->pid,
			.is_busy = p->busy > 0,
			.has_ended = p->ended,
		};
		if (p->size > 0 && (uint64_t)p->size > j->size)
			j->size = (uint32_t)p->size;
	}
	number_by_order(j);
}

/* Communicators and threads ----------------------------------------------------------- */

/* Add the numbers of collective calls on MPI_COMM_WORLD, the only communicator whose handles can be
 * matched between running processes. */
static void add_members(struct job *j, size_t process)
{
	const struct stuck_process *p = &j->list->processes[process];

	for (const char *at = p->communicators; *at;) {
		size_t bytes = strcspn(at, ",");
		unsigned handle;
		uint64_t count;

		if (!strncmp(at, "mpi:", 4) &&
		    sscanf(at + 4, "%u:%" SCNu64, &handle, &count) == 2 &&
		    mpi_world_is(p->pid, handle)) {
			GROW_LIST(j->members, j->member_count, j->member_room);
			j->members[j->member_count++] = (struct hang_member){
				.process = j->number[process],
				.communicator = HANG_WORLD,
				.begun = count,
				.rank = (int32_t)j->processes[j->number[process]].rank,
			};
		}
		at += bytes + (at[bytes] == ',');
	}
}

/* Return the innermost call that joins other ranks, otherwise the outermost; 0: none. */
static uint32_t find_call(const struct stuck_thread *t, enum gt_domain domain)
{
	uint32_t found = 0;

	for (const char *at = t->calls; *at;) {
		size_t bytes = strcspn(at, ",");
		char *name = strndup(at, bytes);
		const struct gt_operation_info *info = NULL;

		for (int k = 0; name && k <= GT_DOMAIN_COUNT && !info; k++) {
			enum gt_domain d = k ? (enum gt_domain)(k - 1) : domain;

			info = d == GT_DOMAIN_NONE ? NULL : gt_operation_find(d, name);
		}
		free(name);
		if (info && (!found || info->joins))
			found = GT_OP(GT_OP_DOMAIN(info->op), GT_OP_NUMBER(info->op), 0);
		at += bytes + (at[bytes] == ',');
	}
	return found;
}

static uint32_t find_last(const struct stuck_thread *t)
{
	for (int k = 0; k < GT_DOMAIN_COUNT && *t->last; k++) {
		const struct gt_operation_info *info =
			k == GT_DOMAIN_NONE ? NULL : gt_operation_find((enum gt_domain)k, t->last);

		if (info)
			return GT_OP(k, GT_OP_NUMBER(info->op), 0);
	}
	return 0;
}

static void add_thread(struct job *j, const struct stuck_thread *t)
{
	const struct stuck_process *p = &j->list->processes[t->process];
	struct hang_thread *h;

	GROW_LIST(j->threads, j->thread_count, j->thread_room);
	h = &j->threads[j->thread_count++];
	*h = (struct hang_thread){.process = j->number[t->process],
				  .ordinal = t->tid,
				  .is_open = *t->calls,
				  .for_ns = *t->calls ? t->for_ns : t->last_ns,
				  .sequence = t->sequence,
				  .peer = t->peer ? (int32_t)t->peer - 1 : -1};
	h->op = h->is_open ? find_call(t, gt_domain_find(t->domain)) : find_last(t);
	if (h->is_open && t->communicator && GT_OP_DOMAIN(h->op) == GT_DOMAIN_MPI &&
	    mpi_world_is(p->pid, (uint32_t)t->communicator))
		h->communicator = HANG_WORLD;
	if (!h->is_open && t->state != GT_HOST_STATE_UNKNOWN)
		h->state = gt_host_state_text(t->state);
}

static void find_in_job(struct job *j, uint64_t least_ns, struct hang_verdict *out)
{
	const struct stuck_list *l = j->list;

	if (!are_ranks_distinct(j))
		return;
	add_processes(j);
	for (size_t i = 0; i < l->process_count; i++)
		if (j->is_member[i])
			add_members(j, i);
	for (size_t i = 0; i < l->thread_count; i++)
		if (j->is_member[l->threads[i].process])
			add_thread(j, &l->threads[i]);
	hang_find(&(struct hang_job){.processes = j->processes,
				     .process_count = j->process_count,
				     .threads = j->threads,
				     .thread_count = j->thread_count,
				     .members = j->members,
				     .member_count = j->member_count,
				     .size = j->size,
				     .by_order = j->by_order,
				     .least_ns = least_ns},
		  out);
}

void hung_jobs_find(const struct stuck_list *l, uint64_t least_ns, struct hang_verdict *out)
{
	struct texts keys = {0};
	uint32_t *key_of = allocate_list(l->process_count + 1, sizeof *key_of);

	for (size_t i = 0; i < l->process_count; i++) {
		char key[KEY_BYTES] = "";

		key_of[i] = LOOKUP_NONE;
		if (!is_of_job(&l->processes[i]))
			continue;
		make_key(l, &l->processes[i], key, sizeof key);
		key_of[i] = texts_put(&keys, key);
	}
	for (uint32_t k = 0; k < keys.count; k++) {
		struct job j = {.list = l};

		j.is_member = allocate_list(l->process_count + 1, sizeof *j.is_member);
		for (size_t i = 0; i < l->process_count; i++)
			j.is_member[i] = key_of[i] == k;
		find_in_job(&j, least_ns, out);
		free(j.is_member);
		free(j.processes);
		free(j.number);
		free(j.threads);
		free(j.members);
	}
	free(key_of);
	texts_fini(&keys);
}

void hung_jobs_print_json(const struct hang_verdict *v, struct json *j)
{
	json_array(j, "waiting_ranks");
	for (size_t i = 0; i < v->count; i++) {
		const struct hang_subject *s = &v->subjects[i];

		json_object(j, NULL);
		json_string(j, "sentence", v->sentences[i]);
		json_array(j, "ranks");
		for (size_t k = 0; k < s->count; k++)
			json_count(j, NULL, s->ranks[k]);
		json_close(j);
		json_string(j, "call", s->op ? gt_operation_name(s->op) : NULL);
		if (s->sequence)
			json_count(j, "number", s->sequence);
		else
			json_null(j, "number");
		json_close(j);
	}
	json_close(j);
}
