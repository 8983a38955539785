/* SPDX-License-Identifier: MIT */
/* Reads captures (`.gputap`): as Arrow streams, one for each table, or record by record.
 *
 *   paths ─► gputap_capture_open() ─┬─► gputap_capture_stream()   struct ArrowArrayStream, for
 *                  │                │                             pyarrow, DuckDB, polars and so on
 *                  ▼                └─► gputap_capture_cursor()   fixed structs, for C
 *        gputap_capture_where()
 *
 * Link with libgputap-capture (pkg-config gputap-capture). The library is independent of libgputap
 * and of the command. It reads files, prints nothing, never ends the process, and needs no Arrow
 * library.
 *
 * Rules for all functions, unless a function's comment says otherwise:
 *   - Functions return 0 or a negative errno. After an error, gputap_capture_error() returns the
 *     causes as text.
 *   - Any number of captures may be open, and any thread may use any of them. One thread at a
 *     time uses a stream or a cursor; concurrent use returns -EBUSY. Several streams and cursors
 *     of one capture may be read at the same time, by several threads.
 *   - Structs start with their size: set it with sizeof. The library neither reads nor writes
 *     fields beyond this size.
 *   - Times (`.._ns`, except durations) are ns since 1970 (CLOCK_REALTIME), on one clock for all
 *     sessions. Subtract sessions.realtime_offset_ns for CLOCK_BOOTTIME, which other outputs of
 *     gputap use.
 *   - Ids of calls and ranges, and numbers of sessions, processes, threads, devices and queues, are
 *     unique among all captures that are opened together. They stay the same whenever the same
 *     finished captures are opened together.
 *   - Captures may be damaged or unfinished. Everything readable is returned, and
 *     gputap_capture_health() reports the rest. */
#ifndef GPUTAP_CAPTURE_H
#define GPUTAP_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GPUTAP_API
#define GPUTAP_API __attribute__((visibility("default")))
#endif

/* Arrow's C interfaces ------------------------------------------------------- */

/* The layouts that Arrow's C data interface and C stream interface define. Programs that include
 * Arrow's own header use the definitions there. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1 /* the order of the dictionary is meaningful */
#define ARROW_FLAG_NULLABLE           2 /* rows may have no value */
#define ARROW_FLAG_MAP_KEYS_SORTED    4 /* the keys of a map are sorted */

/* Arrow's description of a column, or of a table as a struct of columns. */
struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

/* Arrow's array: the values of a column, or the columns of a batch. */
struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE /* the struct below is defined */

/* Arrow's stream: a schema, then batches of the same schema. */
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

/* Captures ------------------------------------------------------------------- */

/* One or more captures that are read as one. */
struct gputap_capture;

/* Counts of everything that the captures lack. seen = recorded + lost + evicted + open_ranges. */
struct gputap_capture_health {
	size_t size;       /* sizeof(struct gputap_capture_health) */
	uint64_t seen;     /* calls and GPU activities that gputap saw */
	uint64_t recorded; /* those that are in the captures */
	uint64_t lost;     /* those that gputap could not record; table `losses` has the reasons */
	uint64_t evicted;  /* those that a flight recorder removed because they left its window */
	/* ranges that the program had not ended; they are not in the captures */
	uint64_t open_ranges;
	uint64_t uncounted; /* places at which an unknown number of records is missing */
	uint64_t untraced;  /* programs that could not be traced */
	uint64_t bytes;     /* size of the captures */
	uint64_t bad_bytes; /* bytes that were damaged and skipped, as far as they have been read */
	uint32_t sessions;  /* number of sessions */
	/* sessions whose captures have no end: the session is still running, or its gputap was
	 * killed */
	uint32_t unfinished;
	/* true if nothing is lost, damaged, untraced or unfinished: sums over the tables are sums
	 * over everything that the programs did while they were recorded */
	bool is_whole;
};

/**
 * gputap_capture_open() - open captures together
 * @paths:  @count paths of captures (also of sessions that are still running, which are read as far
 *          as they have been written) or of folders, whose files *.gputap are opened
 * @health: receives what is missing; must not be NULL, because sums are meaningless without it
 * @out:    receives the captures
 * Return: 0; -EINVAL (no path, NULL); -ENOENT, -EACCES and so on (errno of a file); -EBADMSG
 *         (not a capture); -ENODATA (an empty file, or a folder without captures); -ENOTSUP
 *         (written by a newer gputap); -E2BIG (more than 32,767 sessions); -ENOMEM.
 * Reads everything but the records. Memory: proportional to the numbers of blocks, threads, names
 * and objects, not to the number of records.
 * Owner:  caller; gputap_capture_close().
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_open(const char *const *paths, size_t count,
				   struct gputap_capture_health *health,
				   struct gputap_capture **out);

/**
 * gputap_capture_close() - close captures
 * Streams and cursors that are still open stay valid; the files are closed with the last of them.
 * Return: nothing.
 * Owner:  takes over @capture; NULL: does nothing.
 * Thread: any, once.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API void gputap_capture_close(struct gputap_capture *capture);

/**
 * gputap_capture_where() - select records
 * @expression: as for `gputap report --where`: "range=step#7 and rank=3", "duration>10us"
 * @error_at:   receives the offset in bytes of an error in the expression; may be NULL
 * @out:        receives a capture whose tables calls, activities, ranges, memory and idle contain
 *              only matching rows; the other tables stay complete. @capture is unchanged. If
 *              @capture already has an expression, both must match.
 * Return: 0; -EINVAL: invalid expression; -ENOMEM.
 * Expressions that bound the time read only the blocks concerned.
 * Owner:  caller; gputap_capture_close(). Both captures are closed separately, in any order.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_where(const struct gputap_capture *capture, const char *expression,
				    size_t *error_at, struct gputap_capture **out);

/**
 * gputap_capture_health() - return what is missing
 * @health: receives the state; includes damage that streams and cursors have found since the
 *          captures were opened
 * Return: 0; -EINVAL.
 * Owner:  @health stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_health(const struct gputap_capture *capture,
				     struct gputap_capture_health *health);

/**
 * gputap_capture_session_health() - return what is missing in one session
 * @session: number of the session, from 0, as in table `sessions`
 * @health:  receives the state of this session; `sessions` is 1
 * Return: 0; -ENOENT: no such session; -EINVAL.
 * Owner:  @health stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_session_health(const struct gputap_capture *capture, size_t session,
					     struct gputap_capture_health *health);

/**
 * gputap_capture_error() - return the causes of this thread's last error
 * Return: one line, outermost cause first; "": no error. Valid until the thread's next call of a
 *         function of this header.
 * Owner:  gputap.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_capture_error(void);

/* Tables --------------------------------------------------------------------- */

/* A table. Texts are valid as long as the library is loaded. */
struct gputap_capture_table {
	size_t size;             /* sizeof(struct gputap_capture_table) */
	const char *name;        /* "calls", "activities" and so on */
	const char *description; /* content of the table */
	size_t columns;          /* number of columns */
	bool is_partitioned;     /* true if gputap_capture_stream() can divide the table */
};

/* A column. Numbers are signed. */
struct gputap_capture_column {
	size_t size;             /* sizeof(struct gputap_capture_column) */
	const char *name;        /* "duration_ns" and so on */
	const char *description; /* meaning of the values */
	/* Arrow's format: "b" bool, "s" int16, "i" int32, "l" int64, "u" text, "+l" list of
	 * int32 */
	const char *format;
	const char *unit;   /* "ns", "bytes", "": none */
	bool is_dictionary; /* true: `format` is that of the indexes into a dictionary of texts */
	bool is_nullable;   /* true if rows may have no value */
	bool is_on_request; /* true: only in streams whose options name the column */
};

/**
 * gputap_capture_table_at() - describe a table
 * Return: 0; -ENOENT: @index is not below the number of tables; -EINVAL.
 * Owner:  @table stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_table_at(size_t index, struct gputap_capture_table *table);

/**
 * gputap_capture_column_at() - describe a column of a table
 * Return: 0; -ENOENT: no such table, or @index is not below its number of columns; -EINVAL.
 * Owner:  @column stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_column_at(const char *table, size_t index,
					struct gputap_capture_column *column);

/* Options of a stream; zero means default. */
struct gputap_capture_stream_options {
	size_t size; /* sizeof(struct gputap_capture_stream_options) */
	/* names of the wanted columns, in the wanted order; NULL: all but those on request. Other
	 * columns cost nothing */
	const char *const *columns;
	size_t column_count; /* number of names in `columns` */
	size_t batch_rows;   /* rows of a batch, at most; 0: 65,536 */
	/* number of the part to read, from 0, if the table is divided */
	size_t partition;
	/* Number of parts into which the table is divided, of similar size and independent of each
	 * other: one for each thread or task. Together the parts contain each row once, in the
	 * order of the whole table. Tables that are not partitioned are in part 0. 0: the whole
	 * table */
	size_t partitions;
	size_t first_session; /* first session whose rows are read, if session_count is not 0 */
	/* Number of sessions whose rows are read; 0: all. Rows that belong to no session are in the
	 * first session */
	size_t session_count;
};

/**
 * gputap_capture_stream() - read a table as batches of columns
 * @options: may be NULL
 * @out:     receives a stream of struct arrays, one for each batch
 * Return: 0; -ENOENT: no such table or column; -EINVAL (options); -EBADMSG, -EIO, -ENOMEM and so on
 * Batches own their memory: they stay valid after the stream is released, and children may outlive
 * their parent. Dictionaries may differ between batches. get_next() reads records, so damage and
 * errors of files are found there; get_last_error() returns the text.
 * Memory of a stream: one batch, and buffers of at most a few 10 MiB; larger tables that must be
 * sorted use an unnamed temporary file in TMPDIR. Names are kept once.
 * Owner:  caller; out->release(out).
 * Thread: one at a time for a stream.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_stream(const struct gputap_capture *capture, const char *table,
				     const struct gputap_capture_stream_options *options,
				     struct ArrowArrayStream *out);

/* PyCapsule_GetPointer() of Python; takes a PyObject. */
typedef void *gputap_capture_capsule_pointer(void *capsule, const char *name);
/* A PyCapsule_Destructor; takes a PyObject. */
typedef void gputap_capture_capsule_release(void *capsule);

/**
 * gputap_capture_capsule_destructor() - return a destructor for Python's capsules of streams
 * @get_pointer: address of PyCapsule_GetPointer()
 * Return: the destructor; NULL if @get_pointer is NULL. It takes capsules named
 *         "arrow_array_stream" whose pointer is a struct ArrowArrayStream from malloc(). It
 *         releases the stream, unless a consumer has moved it, and frees the struct.
 * The destructor runs no Python code, so that capsules can be destroyed while an exception is
 * propagated and while the interpreter ends.
 * Owner:  library.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API gputap_capture_capsule_release *gputap_capture_capsule_destructor(
	gputap_capture_capsule_pointer *get_pointer);

/* Records -------------------------------------------------------------------- */

/* Value of numbers and times that are not known. */
#define GPUTAP_UNKNOWN INT64_MIN

/* A call of a runtime's API. Texts are valid until the cursor is closed. */
struct gputap_capture_call {
	size_t size;           /* sizeof(struct gputap_capture_call); set before the first call */
	int64_t id;            /* unique among all calls */
	int64_t parent;        /* id of the enclosing call; GPUTAP_UNKNOWN: none */
	int32_t session;       /* number of the session */
	int32_t process;       /* number of the process */
	int32_t thread;        /* number of the thread */
	int32_t depth;         /* number of the thread's enclosing calls */
	const char *domain;    /* API: "opencl", "cuda_runtime" and so on */
	const char *operation; /* function: "clFinish" */
	const char *kind;      /* "launch", "copy", "synchronisation" and so on */
	int64_t start_ns;      /* start, since 1970 */
	int64_t duration_ns;   /* duration */
	int64_t status;        /* GPUTAP_UNKNOWN: none */
	const char *error;     /* name of the status, if the call failed and the name is known */
};

/* A GPU activity: a kernel, a copy and so on. Texts are valid until the cursor is closed. */
struct gputap_capture_activity {
	size_t size;         /* sizeof(struct gputap_capture_activity); set before the first call */
	int64_t call;        /* id of the launching call; GPUTAP_UNKNOWN: not known */
	int32_t session;     /* number of the session */
	int32_t process;     /* number of the process */
	int32_t thread;      /* number of the thread that made the launching call */
	int32_t device;      /* number of the device; -1: not known */
	int32_t queue;       /* number of the queue or stream; -1: not known */
	const char *kind;    /* "kernel", "memcpy H2D" and so on */
	const char *name;    /* name of the kernel; NULL: none */
	int64_t start_ns;    /* start on the device, since 1970; GPUTAP_UNKNOWN: not known */
	int64_t duration_ns; /* GPUTAP_UNKNOWN: not known */
	int64_t queued_ns;   /* time at which the runtime queued it, or GPUTAP_UNKNOWN */
	int64_t submitted_ns;  /* time at which the runtime submitted it, or GPUTAP_UNKNOWN */
	int64_t call_start_ns; /* start of the launching call, or GPUTAP_UNKNOWN */
	int64_t bytes;         /* bytes moved or set; GPUTAP_UNKNOWN: none */
	int64_t global[3];     /* kernel: number of work-items (threads) in x, y and z */
	int64_t local[3];      /* kernel: work-items of a group (block) in x, y and z; 0: unknown */
	int64_t status;        /* 0: completed; < 0: error of the runtime */
};

/* A range or a mark of the program. Texts are valid until the cursor is closed. */
struct gputap_capture_range {
	size_t size;         /* sizeof(struct gputap_capture_range); set before the first call */
	int64_t id;          /* id of the call that began the range, or GPUTAP_UNKNOWN */
	int64_t parent;      /* id of the enclosing range; GPUTAP_UNKNOWN: none */
	int32_t session;     /* number of the session */
	int32_t process;     /* number of the process */
	int32_t thread;      /* number of the thread that began the range */
	const char *kind;    /* "user_annotation", "cpu_op", "mark" and so on */
	const char *name;    /* name that the program gave */
	int64_t start_ns;    /* start, since 1970 */
	int64_t duration_ns; /* 0: a mark */
};

/* Position in a table. */
struct gputap_capture_cursor;

/**
 * gputap_capture_cursor() - read one record at a time
 * @table: "calls", "activities" or "ranges"
 * Return: 0; -ENOENT: no such table; -EINVAL; -ENOMEM and so on
 * Owner:  caller; gputap_capture_cursor_close().
 * Thread: one at a time for a cursor.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_cursor(const struct gputap_capture *capture, const char *table,
				     struct gputap_capture_cursor **out);

/**
 * gputap_capture_next_call() - read the next call
 * @call: call->size is set; receives the call
 * Return: 1: a call was read; 0: there are no more; -EINVAL: the cursor is for another table;
 *         -EBUSY: another thread uses the cursor; -EBADMSG, -EIO, -ENOMEM and so on.
 * Calls of a thread come in the order of their starts. Threads follow each other in any order.
 * Owner:  @call stays the caller's; its texts are valid until the cursor is closed.
 * Thread: one at a time for a cursor.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_next_call(struct gputap_capture_cursor *cursor,
					struct gputap_capture_call *call);

/**
 * gputap_capture_next_activity() - read the next GPU activity
 * @activity: activity->size is set; receives the activity
 * Return: as gputap_capture_next_call().
 * Activities come in the order in which they were written.
 * Owner:  @activity stays the caller's; its texts are valid until the cursor is closed.
 * Thread: one at a time for a cursor.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_next_activity(struct gputap_capture_cursor *cursor,
					    struct gputap_capture_activity *activity);

/**
 * gputap_capture_next_range() - read the next range or mark of the program
 * @range: range->size is set; receives the range
 * Return: as gputap_capture_next_call().
 * Ranges of a thread come in the order of their starts.
 * Owner:  @range stays the caller's; its texts are valid until the cursor is closed.
 * Thread: one at a time for a cursor.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_capture_next_range(struct gputap_capture_cursor *cursor,
					 struct gputap_capture_range *range);

/**
 * gputap_capture_cursor_close() - close a cursor
 * Return: nothing.
 * Owner:  takes over @cursor; NULL: does nothing.
 * Thread: any, once.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API void gputap_capture_cursor_close(struct gputap_capture_cursor *cursor);

#ifdef __cplusplus
}
#endif
#endif
