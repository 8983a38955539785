/* SPDX-License-Identifier: MIT */
/* Writes SQLite b-trees bottom-up; see bulk.h. "Database File Format" in SQLite's documentation
 * describes the pages. Each tree has one page buffer per level:
 *
 *   leaf    | header 8                 | cell offsets, 2 bytes each -> | free | <- cells |
 *   inner   | header 12, rightmost one | cell offsets -> | free | <- cells, each with left child |
 *
 * A full page is appended to the file, and its number is added to the level above. Entries come in
 * key order, so all pages except the last of each level are full and no page is ever read back. The
 * top page of a tree replaces the empty root that SQLite created. An inner page, or a leaf of an
 * index, passes its last entry to the level above only when a further entry comes, so no page is
 * ever empty.
 *
 * Written pages with consecutive numbers are collected in a batch. A level gives its page to the
 * batch and gets an empty one, so pages are not copied. A full batch is written with one call, by
 * another thread if there is one, while the next batch is collected. */
#include "export/bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "export/background.h"
#include "util/error.h"

enum {
	MAX_LEVELS = 8,
	LEAF_HEADER = 8,
	INNER_HEADER = 12,
	PAGE_INNER_INDEX = 2,
	PAGE_INNER_TABLE = 5,
	PAGE_LEAF_INDEX = 10,
	PAGE_LEAF_TABLE = 13,
	/* SQLite locks bytes at 1 GiB; the page at that offset stays unused. */
	LOCK_BYTE = 0x40000000,
	BATCH_PAGES = 16,
	/* Bytes allocated at once, if the file already has at least a quarter of this size. See
	 * out.c. */
	RESERVE = 32 << 20,
};

struct level {
	uint8_t *page;
	/* start: offset of the first cell; last_bytes: length of the cell added last */
	unsigned cells, start, last_bytes;
};

struct gt_bulk_tree {
	struct gt_bulk *db;
	struct gt_bulk_tree *next; /* next in gt_bulk.trees */
	char *name;
	uint32_t root;
	bool index;
	unsigned levels;
	uint64_t count;
	int64_t last_id;
	struct level level[MAX_LEVELS];
};

/* Pages to be written, with consecutive numbers. */
struct batch {
	struct gt_bulk *db;
	uint8_t *pages[BATCH_PAGES];
	unsigned count;
	uint32_t first;
	int status; /* of the write */
};

struct gt_bulk {
	char *path;
	int fd;
	int status;
	/* one batch is collected while the other one may be written; spare: pages for levels, as
	 * many as no batch has */
	struct batch batches[2], *batch;
	uint8_t *spare[2 * BATCH_PAGES];
	unsigned spare_count;
	struct gt_background *background; /* NULL: pages are written in this thread */
	uint64_t reserved;                /* offset up to which blocks are allocated */
	unsigned page_bytes;
	uint32_t pages; /* number of pages in the file so far */
	struct gt_bulk_tree *trees;
};

static void put_be16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put_be32(uint8_t *p, uint32_t v)
{
	put_be16(p, v >> 16);
	put_be16(p + 2, v & 0xffff);
}

static uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Write a varint in SQLite's format: big-endian, 7 bits per byte, 8 bits in the ninth byte. Return
 * its length. */
static __attribute__((noinline)) unsigned put_long_varint(uint8_t *p, uint64_t v)
{
	uint8_t reversed[9];
	unsigned n = 0;

	if (v >> 56) {
		p[8] = (uint8_t)v;
		v >>= 8;
		for (int i = 7; i >= 0; i--, v >>= 7)
			p[i] = (uint8_t)(v | 0x80);
		return 9;
	}
	do {
		reversed[n++] = (uint8_t)(v & 0x7f) | 0x80;
		v >>= 7;
	} while (v);
	reversed[0] &= 0x7f;
	for (unsigned i = 0; i < n; i++)
		p[i] = reversed[n - 1 - i];
	return n;
}

static inline unsigned put_varint(uint8_t *p, uint64_t v)
{
	if (v < 1 << 7) {
		p[0] = (uint8_t)v;
		return 1;
	}
	if (v < 1 << 14) {
		p[0] = (uint8_t)(v >> 7 | 0x80);
		p[1] = (uint8_t)(v & 0x7f);
		return 2;
	}
	if (v < 1 << 28) {
		unsigned more = v >= 1 << 21;

		p[0] = (uint8_t)(v >> 21 | 0x80); /* overwritten if the number has three bytes */
		p[more] = (uint8_t)(v >> 14 | 0x80);
		p[more + 1] = (uint8_t)(v >> 7 | 0x80);
		p[more + 2] = (uint8_t)(v & 0x7f);
		return more + 3;
	}
	return put_long_varint(p, v);
}

static unsigned header_bytes(unsigned level)
{
	return level ? INNER_HEADER : LEAF_HEADER;
}

static uint32_t take_page_number(struct gt_bulk *db)
{
	uint32_t number = ++db->pages;

	if (number == LOCK_BYTE / db->page_bytes + 1)
		number = ++db->pages;
	return number;
}

static int write_at(int fd, const void *data, size_t bytes, uint64_t offset)
{
	const char *p = data;

	while (bytes) {
		ssize_t n = pwrite(fd, p, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		bytes -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static void note_status(struct gt_bulk *db, int status)
{
	if (!db->status)
		db->status = status;
}

/* Write the pages of a batch. */
static void write_batch(void *data)
{
	struct batch *b = data;
	const unsigned page_bytes = b->db->page_bytes;
	uint64_t offset = (uint64_t)(b->first - 1) * page_bytes;
	struct iovec parts[BATCH_PAGES];
	ssize_t written;

	for (unsigned i = 0; i < b->count; i++)
		parts[i] = (struct iovec){b->pages[i], page_bytes};
	written = pwritev(b->db->fd, parts, (int)b->count, (off_t)offset);
	/* after an error or a short write, continue page by page */
	for (unsigned i = written < 0 ? 0 : (unsigned)((size_t)written / page_bytes);
	     i < b->count && !b->status; i++)
		b->status = write_at(b->db->fd, b->pages[i], page_bytes,
				     offset + (uint64_t)i * page_bytes);
}

/* Take back the pages of a batch that has been written. */
static void empty_batch(struct gt_bulk *db, struct batch *b)
{
	note_status(db, b->status);
	while (b->count)
		db->spare[db->spare_count++] = b->pages[--b->count];
}

/* Allocate blocks in advance; see reserve_out() in out.c. */
static void reserve_blocks(struct gt_bulk *db)
{
	uint64_t end = (uint64_t)db->pages * db->page_bytes;

	if (end < db->reserved || end < RESERVE / 4)
		return;
	fallocate(db->fd, FALLOC_FL_KEEP_SIZE, (off_t)end, RESERVE);
	db->reserved = end + RESERVE;
}

/* Write the current batch, or let the thread write it. */
static void flush_batch(struct gt_bulk *db)
{
	struct batch *b = db->batch, *other = b == db->batches ? b + 1 : db->batches;

	if (!b->count)
		return;
	reserve_blocks(db);
	gt_background_wait(db->background);
	empty_batch(db, other);
	if (db->status) {
		empty_batch(db, b);
	} else if (db->background) {
		gt_background_start(db->background, write_batch, b);
		db->batch = other;
	} else {
		write_batch(b);
		empty_batch(db, b);
	}
}

static uint8_t *take_page(struct gt_bulk *db)
{
	return db->spare_count ? db->spare[--db->spare_count] : calloc(1, db->page_bytes);
}

/* Add a level's page to the batch, and give the level another page. */
static void queue_page(struct gt_bulk *db, struct level *l, uint32_t number)
{
	struct batch *b = db->batch;
	uint8_t *page;

	if (b->count == BATCH_PAGES || (b->count && number != b->first + b->count)) {
		flush_batch(db);
		b = db->batch;
	}
	page = take_page(db);
	if (!page) {
		note_status(db, -ENOMEM);
		return;
	}
	if (!b->count)
		b->first = number;
	b->pages[b->count++] = l->page;
	l->page = page;
}

/* Complete the header of a level's page and write it as page @number. */
static void write_page(struct gt_bulk_tree *t, unsigned level, uint32_t number, uint32_t right)
{
	static const uint8_t types[2][2] = {{PAGE_LEAF_TABLE, PAGE_INNER_TABLE},
					    {PAGE_LEAF_INDEX, PAGE_INNER_INDEX}};
	struct level *l = &t->level[level];
	unsigned offsets_end = header_bytes(level) + 2 * l->cells;

	memset(l->page + offsets_end, 0, l->start - offsets_end);
	l->page[0] = types[t->index][level > 0];
	put_be16(l->page + 1, 0); /* no free blocks */
	put_be16(l->page + 3, l->cells);
	put_be16(l->page + 5, l->start & 0xffff); /* 65536 is stored as 0 */
	l->page[7] = 0;                           /* no fragments */
	if (level)
		put_be32(l->page + 8, right);
	queue_page(t->db, l, number);
}

static bool open_level(struct gt_bulk_tree *t, unsigned level)
{
	struct level *l = &t->level[level];

	if (level >= t->levels) {
		if (level == MAX_LEVELS || !(l->page = take_page(t->db))) {
			t->db->status = level == MAX_LEVELS ? -EFBIG : -ENOMEM;
			return false;
		}
		t->levels = level + 1;
	}
	l->cells = 0;
	l->start = t->db->page_bytes;
	return true;
}

static uint8_t *add_cell(struct level *l, unsigned level, size_t bytes)
{
	l->start -= (unsigned)bytes;
	l->last_bytes = (unsigned)bytes;
	put_be16(l->page + header_bytes(level) + 2 * l->cells++, l->start);
	return l->page + l->start;
}

static bool has_room(const struct level *l, unsigned level, size_t bytes)
{
	return header_bytes(level) + 2 * (l->cells + 1) + bytes <= l->start;
}

static void add_inner(struct gt_bulk_tree *t, unsigned level, uint32_t child, const uint8_t *key,
		      size_t key_bytes);

/* Write a full page, add its number to the level above, and start an empty page. */
static void turn_page(struct gt_bulk_tree *t, unsigned level)
{
	struct level *l = &t->level[level];
	uint32_t number = take_page_number(t->db);
	uint8_t key[9];

	if (!level && !t->index) {
		write_page(t, level, number, 0);
		add_inner(t, 1, number, key, put_varint(key, (uint64_t)t->last_id));
	} else {
		/* The last entry moves up. In an inner level, the entry's child becomes the
		 * rightmost child of this page. */
		uint8_t moved[GT_BULK_ROW_BYTES + GT_BULK_COLUMNS * 2 + 32];
		unsigned child_bytes = level ? 4 : 0;

		assert(l->last_bytes <= sizeof moved);
		memcpy(moved, l->page + l->start, l->last_bytes);
		l->cells--;
		l->start += l->last_bytes;
		write_page(t, level, number, level ? get_be32(moved) : 0);
		add_inner(t, level + 1, number, moved + child_bytes, l->last_bytes - child_bytes);
	}
	open_level(t, level);
}

/* Add "left child, key" to an inner level. The key is an index entry, or a table's rowid as a
 * varint. */
static void add_inner(struct gt_bulk_tree *t, unsigned level, uint32_t child, const uint8_t *key,
		      size_t key_bytes)
{
	uint8_t *cell;

	if (level >= t->levels && !open_level(t, level))
		return;
	if (!has_room(&t->level[level], level, 4 + key_bytes))
		turn_page(t, level);
	if (t->db->status)
		return;
	cell = add_cell(&t->level[level], level, 4 + key_bytes);
	put_be32(cell, child);
	memcpy(cell + 4, key, key_bytes);
}

void gt_bulk_add(struct gt_bulk_tree *t, int64_t id, const struct gt_bulk_row *row)
{
	uint8_t prefix[19], *cell;
	unsigned n;

	/* One byte stores the length of the header, including that byte. */
	n = put_varint(prefix, 1 + row->head_bytes + row->body_bytes);
	if (!t->index)
		n += put_varint(prefix + n, (uint64_t)id);
	prefix[n++] = (uint8_t)(1 + row->head_bytes);
	if (t->db->status || (!t->levels && !open_level(t, 0)))
		return;
	if (!has_room(&t->level[0], 0, n + row->head_bytes + row->body_bytes)) {
		turn_page(t, 0);
		if (t->db->status)
			return;
	}
	assert(t->index || !t->count || id > t->last_id);
	t->last_id = id;
	t->count++;
	cell = add_cell(&t->level[0], 0, n + row->head_bytes + row->body_bytes);
	gt_bulk_copy(cell, (const char *)prefix, n);
	gt_bulk_copy(cell + n, (const char *)row->head, row->head_bytes);
	gt_bulk_copy(cell + n + row->head_bytes, (const char *)row->body, row->body_bytes);
}

uint64_t gt_bulk_count(const struct gt_bulk_tree *t)
{
	return t->count;
}

/* Write the remaining buffers. The page of each level is the rightmost child of the level above. */
static void finish_tree(struct gt_bulk_tree *t)
{
	uint32_t right = 0;

	for (unsigned level = 0; level < t->levels && !t->db->status; level++) {
		uint32_t number = level + 1 == t->levels ? t->root : take_page_number(t->db);

		write_page(t, level, number, right);
		right = number;
	}
}

/* Update the header fields that SQLite checks: page count and change counters. */
static void finish_header(struct gt_bulk *db)
{
	uint8_t header[100], count[4];

	if (db->status)
		return;
	if (pread(db->fd, header, sizeof header, 0) != (ssize_t)sizeof header) {
		db->status = -EIO;
		return;
	}
	put_be32(count, db->pages);
	note_status(db, write_at(db->fd, count, 4, 28));
	/* Change counter, and the counter value for which the page count is valid. */
	put_be32(count, get_be32(header + 24) + 1);
	note_status(db, write_at(db->fd, count, 4, 24));
	note_status(db, write_at(db->fd, count, 4, 92));
	if (db->reserved && ftruncate(db->fd, (off_t)db->pages * (off_t)db->page_bytes) < 0)
		note_status(db, -errno);
}

/* Write all pages, and end the thread. */
static void finish_batches(struct gt_bulk *db)
{
	flush_batch(db);
	gt_background_destroy(db->background);
	db->background = NULL;
	for (int i = 0; i < 2; i++)
		empty_batch(db, &db->batches[i]);
}

/* Find out why a write failed, by appending to the file, because SQLite may not have passed on the
 * reason. The file is unusable anyway. */
static int find_reason(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), status = -EIO;

	if (fd >= 0 && write(fd, "", 1) < 0)
		status = -errno;
	if (fd >= 0)
		close(fd);
	return status;
}

static int sql_error(sqlite3 *sql, const char *path, const char *doing)
{
	int code = sqlite3_errcode(sql), system = code == SQLITE_CANTOPEN || code == SQLITE_IOERR
							  ? sqlite3_system_errno(sql)
							  : 0;
	int status = system                 ? -system
		     : code == SQLITE_FULL  ? -ENOSPC
		     : code == SQLITE_NOMEM ? -ENOMEM
		     : code == SQLITE_IOERR ? find_reason(path)
					    : -EIO;

	status = gt_error(status, "SQLite: %s", sqlite3_errmsg(sql));
	sqlite3_close(sql);
	return gt_error(status, "cannot %s %s", doing, path);
}

static int run_sql(const char *path, const char *before, const char *text, const char *doing)
{
	sqlite3 *sql = NULL;

	if (sqlite3_open_v2(path, &sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
		    SQLITE_OK ||
	    sqlite3_exec(sql,
			 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode "
			 "= EXCLUSIVE;",
			 NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(sql, before, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(sql, text, NULL, NULL, NULL) != SQLITE_OK)
		return sql_error(sql, path, doing);
	sqlite3_close(sql);
	return 0;
}

/* Find the root pages and names of all empty trees. */
static int find_trees(struct gt_bulk *db)
{
	sqlite3 *sql = NULL;
	sqlite3_stmt *row = NULL;
	struct gt_bulk_tree *t;
	int step;

	if (sqlite3_open_v2(db->path, &sql, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(
		    sql,
		    "SELECT name, type = 'index', rootpage FROM sqlite_master WHERE rootpage > 0",
		    -1, &row, NULL) != SQLITE_OK)
		return sql_error(sql, db->path, "read the schema of");
	while ((step = sqlite3_step(row)) == SQLITE_ROW) {
		t = calloc(1, sizeof *t);
		if (!t || !(t->name = strdup((const char *)sqlite3_column_text(row, 0)))) {
			free(t);
			break;
		}
		t->db = db;
		t->index = sqlite3_column_int(row, 1);
		t->root = (uint32_t)sqlite3_column_int64(row, 2);
		t->next = db->trees;
		db->trees = t;
	}
	sqlite3_finalize(row);
	if (step != SQLITE_DONE)
		return sql_error(sql, db->path, "read the schema of");
	sqlite3_close(sql);
	return 0;
}

int gt_bulk_create(const char *path, const char *schema, unsigned page_bytes, struct gt_bulk **out)
{
	struct gt_bulk *db = calloc(1, sizeof *db);
	char page_size[40];
	int status;

	*out = NULL;
	if (!db || !(db->path = strdup(path))) {
		free(db);
		return gt_error(-ENOMEM, "cannot create %s", path);
	}
	db->fd = -1;
	db->batch = db->batches;
	db->batches[0].db = db->batches[1].db = db;
	db->page_bytes = page_bytes;
	snprintf(page_size, sizeof page_size, "PRAGMA page_size = %u;", page_bytes);
	status = run_sql(path, page_size, schema, "create the tables of");
	if (!status)
		status = find_trees(db);
	if (!status) {
		off_t bytes;

		db->fd = open(path, O_RDWR | O_CLOEXEC);
		bytes = db->fd >= 0 ? lseek(db->fd, 0, SEEK_END) : -1;
		if (bytes < 0)
			status = gt_error(-errno, "cannot open %s", path);
		db->pages = (uint32_t)((uint64_t)bytes / page_bytes);
	}
	if (status) {
		gt_bulk_destroy(db);
		return status;
	}
	*out = db;
	return 0;
}

void gt_bulk_use_thread(struct gt_bulk *db)
{
	if (!db->background)
		db->background = gt_background_create();
}

struct gt_bulk_piece *gt_bulk_piece_create(const struct gt_bulk_row *row, uint32_t head_bytes,
					   uint32_t body_bytes)
{
	uint32_t heads = row->head_bytes - head_bytes, bytes = row->body_bytes - body_bytes;
	struct gt_bulk_piece *piece = malloc(sizeof *piece + bytes);

	if (!piece)
		return NULL;
	assert(heads <= sizeof piece->head);
	*piece = (struct gt_bulk_piece){.head_bytes = (uint8_t)heads, .body_bytes = bytes};
	memcpy(piece->head, row->head + head_bytes, heads);
	memcpy(piece->body, row->body + body_bytes, bytes);
	return piece;
}

struct gt_bulk_tree *gt_bulk_tree(struct gt_bulk *db, const char *name)
{
	for (struct gt_bulk_tree *t = db->trees; t; t = t->next)
		if (!strcmp(t->name, name))
			return t;
	gt_error(-ENOENT, "the schema has no table or index %s", name);
	return NULL;
}

int gt_bulk_status(const struct gt_bulk *db)
{
	return db->status;
}

int gt_bulk_finish(struct gt_bulk *db, const char *sql)
{
	int status;

	for (struct gt_bulk_tree *t = db->trees; t; t = t->next)
		finish_tree(t);
	finish_batches(db);
	finish_header(db);
	status = db->status ? gt_error(db->status, "cannot write %s", db->path) : 0;
	if (db->fd >= 0 && close(db->fd) && !status)
		status = gt_error(-errno, "cannot write %s", db->path);
	db->fd = -1;
	if (!status)
		status = run_sql(db->path, "", sql, "complete");
	gt_bulk_destroy(db);
	return status;
}

void gt_bulk_destroy(struct gt_bulk *db)
{
	struct gt_bulk_tree *t;

	if (!db)
		return;
	gt_background_destroy(db->background);
	for (int i = 0; i < 2; i++)
		empty_batch(db, &db->batches[i]);
	while (db->spare_count)
		free(db->spare[--db->spare_count]);
	while ((t = db->trees)) {
		db->trees = t->next;
		for (unsigned level = 0; level < MAX_LEVELS; level++)
			free(t->level[level].page);
		free(t->name);
		free(t);
	}
	if (db->fd >= 0)
		close(db->fd);
	free(db->path);
	free(db);
}
