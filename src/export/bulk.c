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
 * ever empty. */
#include "export/bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

struct gt_bulk {
	char *path;
	int fd;
	int status;
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
static unsigned put_varint(uint8_t *p, uint64_t v)
{
	uint8_t reversed[9];
	unsigned n = 0;

	if (v < 0x80) {
		p[0] = (uint8_t)v;
		return 1;
	}
	if (v >> 56) {
		p[8] = (uint8_t)v;
		v >>= 8;
		for (int i = 7; i >= 0; i--, v >>= 7)
			p[i] = (uint8_t)(v | 0x80);
		return 9;
	}
	for (; v; v >>= 7)
		reversed[n++] = (uint8_t)(v & 0x7f) | 0x80;
	reversed[0] &= 0x7f;
	for (unsigned i = 0; i < n; i++)
		p[i] = reversed[n - 1 - i];
	return n;
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

static void write_at(struct gt_bulk *db, const void *data, size_t bytes, uint64_t offset)
{
	const char *p = data;

	while (bytes && !db->status) {
		ssize_t n = pwrite(db->fd, p, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			db->status = n < 0 ? -errno : -EIO;
			return;
		}
		p += n;
		bytes -= (size_t)n;
		offset += (uint64_t)n;
	}
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
	write_at(t->db, l->page, t->db->page_bytes, (uint64_t)(number - 1) * t->db->page_bytes);
}

static bool open_level(struct gt_bulk_tree *t, unsigned level)
{
	struct level *l = &t->level[level];

	if (level >= t->levels) {
		if (level == MAX_LEVELS || !(l->page = calloc(1, t->db->page_bytes))) {
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
	memcpy(cell, prefix, n);
	memcpy(cell + n, row->head, row->head_bytes);
	memcpy(cell + n + row->head_bytes, row->body, row->body_bytes);
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
	write_at(db, count, 4, 28);
	/* Change counter, and the counter value for which the page count is valid. */
	put_be32(count, get_be32(header + 24) + 1);
	write_at(db, count, 4, 24);
	write_at(db, count, 4, 92);
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
