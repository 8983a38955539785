/* SPDX-License-Identifier: MIT */
/* See remote_memory.h. */
#include "collector/remote_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

static size_t index_of(uintptr_t page)
{
	return page / GT_REMOTE_PAGE % GT_REMOTE_PAGES;
}

void gt_remote_begin(struct gt_remote_memory *m, uint32_t pid)
{
	m->pid = pid;
	m->error = 0;
	m->stack_bytes = 0;
	for (size_t i = 0; i < GT_REMOTE_PAGES; i++)
		m->at[i] = 1;
}

void gt_remote_fetch_stack(struct gt_remote_memory *m, uintptr_t sp)
{
	enum { PIECES = GT_REMOTE_STACK_BYTES / GT_REMOTE_PAGE };
	struct iovec to = {m->stack, GT_REMOTE_STACK_BYTES}, from[PIECES];
	uintptr_t at = sp;
	ssize_t n;

	/* a piece that is not mapped ends the copy */
	for (size_t i = 0; i < PIECES; i++) {
		const uintptr_t next = (at & ~(uintptr_t)(GT_REMOTE_PAGE - 1)) + GT_REMOTE_PAGE;

		from[i] = (struct iovec){(void *)at, next - at};
		at = next;
	}
	n = process_vm_readv((pid_t)m->pid, &to, 1, from, PIECES, 0);
	if (n < 0)
		m->error = errno;
	m->stack_at = sp;
	m->stack_bytes = n > 0 ? (size_t)n : 0;
}

static bool fetch_page(struct gt_remote_memory *m, uintptr_t page)
{
	struct iovec to = {m->pages[index_of(page)], GT_REMOTE_PAGE},
		     from = {(void *)page, GT_REMOTE_PAGE};

	m->at[index_of(page)] = 1;
	if (process_vm_readv((pid_t)m->pid, &to, 1, &from, 1, 0) != GT_REMOTE_PAGE) {
		m->error = errno;
		return false;
	}
	m->at[index_of(page)] = page;
	return true;
}

bool gt_remote_read(struct gt_remote_memory *m, uintptr_t at, void *to, size_t bytes)
{
	uint8_t *out = to;

	if (at - m->stack_at < m->stack_bytes && m->stack_bytes - (at - m->stack_at) >= bytes) {
		memcpy(to, m->stack + (at - m->stack_at), bytes);
		return true;
	}
	while (bytes) {
		const uintptr_t page = at & ~(uintptr_t)(GT_REMOTE_PAGE - 1);
		size_t n = page + GT_REMOTE_PAGE - at;

		n = n < bytes ? n : bytes;
		if (m->at[index_of(page)] != page && !fetch_page(m, page))
			return false;
		memcpy(out, m->pages[index_of(page)] + (at - page), n);
		out += n;
		at += n;
		bytes -= n;
	}
	return true;
}

bool gt_remote_copy(uint32_t pid, uintptr_t at, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)at, bytes};

	return process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}
