/* SPDX-License-Identifier: MIT */
/* The layout of a capture file. docs/reference/capture-format.md describes it in prose.
 *
 *   | gt_file_header 64 | block | block | ... | END block |
 *
 *   block: | gt_file_block 32 | extension of its type, up to head_bytes | payload, stored_bytes |
 *
 * All integers are little-endian. Blocks lie back to back, unaligned. Each block is checked on its
 * own (header and payload apart), so that a file is readable up to any byte at which its writer
 * stopped, and around any damaged part. A reader that finds a bad header looks for the next good
 * one. A reader skips everything that it does not know: block types, bytes after the known fields
 * of a header extension or a payload, kinds of records.
 *
 * STREAM payload: rows of one thread's records, decodable without any other block. A row is
 *
 *   slot u8                 which shape: index of a head word (gt_record: words, kind, detail, op)
 *                           seen before in this block; GT_ROW_NEW_SHAPE: the head word follows and
 *                           takes the next index
 *   CALL:   control u8      bits 0-1 size of start (1 2 4 8), 2-3 of duration, 4-5 code of ret,
 *                           6: id is not the last one + 1, 7: start lies before the last end
 *           codes           2 bits per word after ret, lowest first, padded to a byte
 *           start           |start - end of the previous call in this block (first: base_ticks)|
 *           duration        end - start
 *           id              if bit 6: zigzag LEB128 of (id - expected)
 *           ret, words      sizes given in their codes
 *   others: codes           2 bits per word after the head
 *                   words           sizes given in their codes
 *   tail                    words after the first GT_ROW_PREDICTED of a row, unchanged
 *
 * A word's code: 0: equal to the word in the previous row of this shape (first: 0); 1, 2, 3: 1, 3,
 * 8 bytes of zigzag(value - previous value). Device rows store submitted, start, end as differences
 * to the preceding stamp. */
#ifndef GPUTAP_CAPTURE_FORMAT_H
#define GPUTAP_CAPTURE_FORMAT_H

#include <assert.h>
#include <stdint.h>

#include "record/record.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "captures are little-endian; this machine needs conversions");

/* 8 bytes, stored without the final NUL; not text, and damaged by a conversion of line ends */
#define GT_FILE_MAGIC        "\x89GPUTAP\n"
#define GT_FILE_MAJOR        1 /* one session */
/* version of a file with several sessions, which a reader that knows only version 1 would mix up. A
 * reader refuses higher versions */
#define GT_FILE_MAJOR_MERGED 2
#define GT_FILE_MINOR        5 /* incremented for each addition that readers may skip */

struct gt_file_header {
	char magic[8];
	uint16_t major, minor;
	uint32_t header_bytes; /* offset of the first block: 64 */
	uint8_t uuid[16];      /* random id of this capture */
	uint8_t reserved[28];
	uint32_t crc; /* crc32c of the preceding 60 bytes; at the same offset in every version */
};
static_assert(sizeof(struct gt_file_header) == 64, "file format");

#define GT_BLOCK_MAGIC UINT32_C(0x6b6c4254) /* "TBlk" */

enum gt_block_type {
	GT_BLOCK_SESSION = 1,     /* gt_session_info */
	GT_BLOCK_PROCESS = 2,     /* start of a process; head.process is its index */
	GT_BLOCK_PROCESS_END = 3, /* since version 1.4: also domains from 32 on */
	GT_BLOCK_THREAD = 4,      /* written again at the thread's end; the newest block counts */
	GT_BLOCK_CLOCK = 5,       /* gt_clock_tuple */
	GT_BLOCK_COUNTS = 6,      /* gt_counts of a process; newer blocks replace older ones */
	/* strings, objects, modules, events, clock readings: copies of ring records */
	GT_BLOCK_RECORDS = 7,
	/* rows of calls, GPU activities and external ids; extension: gt_file_stream,
	 * gt_file_bounds */
	GT_BLOCK_STREAM = 8,
	GT_BLOCK_END = 9, /* last block of the file: gt_file_end */
	/* session of a merged file: gt_file_section and the path; newer blocks replace older
	 * ones */
	GT_BLOCK_SECTION = 10,
	/* since version 1.2: gt_file_index and copies of heads (block_index.h) */
	GT_BLOCK_INDEX = 11,
	/* a snapshot, or a flight recorder's window: gt_file_retained; newer blocks replace older
	 * ones */
	GT_BLOCK_KEPT = 12,
	GT_BLOCK_LOAD = 13, /* gt_file_load of a session; newer blocks replace older ones */
	/* since version 1.3: gt_file_summary and a part of a summary (summary_block.h) */
	GT_BLOCK_SUMMARY = 14,
};

enum gt_block_flag {
	GT_BLOCK_ZSTD = 1,   /* the payload is a zstd frame of raw_bytes */
	GT_BLOCK_DEVICE = 2, /* STREAM: the block contains GPU activities */
	/* the last 4 bytes of the head are the number of the block's section */
	GT_BLOCK_OF_SECTION = 4,
};

struct gt_file_block {
	uint32_t magic;
	uint8_t type, flags;
	uint16_t head_bytes;   /* size of this struct and of the extension */
	uint32_t stored_bytes; /* size of the payload in the file */
	/* size of the payload after decompression; equals stored_bytes without compression */
	uint32_t raw_bytes;
	uint32_t process, ordinal;
	uint32_t payload_crc; /* crc32c of the stored payload */
	uint32_t head_crc;    /* crc32c of the head_bytes, with this field set to 0 */
};
static_assert(sizeof(struct gt_file_block) == 32, "file format");

#define GT_FILE_HEAD_MAX    2048u      /* head_bytes */
#define GT_FILE_PAYLOAD_MAX (4u << 20) /* maximum of stored_bytes and raw_bytes */
#define GT_FILE_PROCESS_MAX (1u << 20) /* upper limit of process indexes, exclusive */
#define GT_FILE_SECTION_MAX 4096u      /* upper limit of section numbers, exclusive */

struct gt_file_count {
	uint8_t class, domain;
	uint16_t reserved;
	uint32_t count;
};

struct gt_file_stream {
	uint64_t base_ticks, base_id; /* base values of the first row */
	/* earliest start and latest end of a call; first > last: no calls */
	uint64_t first_ticks, last_ticks;
	uint32_t rows;
	/* number of gt_file_count entries that follow. They give the number of lost records if the
	 * payload is bad */
	uint32_t count_entries;
};
static_assert(sizeof(struct gt_file_stream) == 40, "file format");

/* Follows the counts since version 1.1. Summarises the rows, so that a reader of a time range can
 * decide whether to read the block. device_entries of gt_file_device follow. */
struct gt_file_bounds {
	/* size of this struct, which is larger in later versions; the entries follow at that
	 * offset */
	uint32_t bytes;
	/* one bit per enum gt_range_mark of the block's calls; GT_FILE_EXTERNAL: the block contains
	 * external ids; GT_FILE_HOST: it contains states of threads */
	uint32_t marks;
	uint32_t device_entries; /* GT_FILE_DEVICES_LOST: the activities' times are unknown */
	uint32_t reserved;
};
static_assert(sizeof(struct gt_file_bounds) == 16, "file format");

#define GT_FILE_EXTERNAL     (UINT32_C(1) << 31)
#define GT_FILE_HOST         (UINT32_C(1) << 30)
#define GT_FILE_DEVICES_LOST UINT32_MAX
#define GT_FILE_DEVICES_MAX  8u

/* The activities of one device, in timestamps of that device. */
struct gt_file_device {
	uint32_t device;  /* GT_DEVICE_REF() */
	uint32_t untimed; /* 1: the start of some activities is unknown */
	uint64_t first_start, last_end;
};
static_assert(sizeof(struct gt_file_device) == 24, "file format");

/* Load of a machine during a session's recording: struct gt_machine_load. */
struct gt_file_load {
	uint32_t processors, reserved;
	uint64_t wall_ns, busy_ns, own_ns, stolen_ns;
};
static_assert(sizeof(struct gt_file_load) == 40, "file format");

struct gt_file_end {
	uint32_t complete; /* 0: the writer knows that records are missing */
	uint32_t reserved;
	uint64_t bytes; /* length of the file before this block */
	uint64_t index; /* since version 1.2: position of the last INDEX; 0: none */
};
static_assert(sizeof(struct gt_file_end) == 24, "file format");

/* Payload of INDEX: this struct, then the heads of `blocks` blocks with their extensions, in file
 * order. Each head starts with a separate magic, so that a search for blocks after damage finds
 * none in the payload. */
#define GT_INDEX_MAGIC UINT32_C(0x64614849) /* "IHad" */

struct gt_file_index {
	uint64_t previous;   /* position of the INDEX for blocks before `first`; 0: none */
	uint64_t first, end; /* start of the first block, and end of the last block */
	uint32_t blocks, reserved;
};
static_assert(sizeof(struct gt_file_index) == 32, "file format");

/* Payload of SUMMARY: this struct, then a part of the content, which capture/summary_block.h
 * describes. */
struct gt_file_summary {
	uint32_t version;     /* version of the content */
	uint32_t part, parts; /* number of this part, from 0; number of parts */
	uint32_t reserved;
	uint64_t bytes; /* size of the whole content */
	uint64_t end;   /* position of the first part; the summary describes the blocks before it */
	uint64_t heads; /* checksum of these blocks: gt_heads_add() */
};
static_assert(sizeof(struct gt_file_summary) == 40, "file format");

#define GT_FILE_SUMMARY_MAX (16u << 20) /* maximum size of the content of a summary */

/* A session of a merged file: its original capture. Written before the session's blocks, with `end`
 * set to cut, and again after them. */
struct gt_file_section {
	uint8_t uuid[16];
	uint32_t end; /* 0 complete, 1 incomplete, 2 cut */
	/* path_bytes: length of the path that follows */
	uint32_t bad_blocks, unknown_blocks, path_bytes;
	uint64_t bytes, bad_bytes;
};
static_assert(sizeof(struct gt_file_section) == 48, "file format");

/* entry of a COUNTS block; any number of entries */
struct gt_file_sum {
	uint8_t what; /* 0 seen, 1 recorded, GT_SUM_NOT_KEPT, or 2 + enum gt_drop_reason */
	uint8_t class, domain, reserved;
	uint32_t reserved2;
	uint64_t value;
};

/* Payload of a KEPT block. The text follows, then gt_file_sum entries for the processes that are
 * not in the capture. */
struct gt_file_retained {
	uint32_t reason, number; /* enum gt_retained_reason; number of the snapshot, from 1 */
	uint32_t flags;          /* GT_RETAINED_.. */
	uint32_t text_bytes;
	uint64_t begin_ns, end_ns; /* BOOTTIME */
	uint64_t asked_ns, asked_bytes;
	/* number of processes that ended before the window; the capture omits them */
	uint64_t processes;
};
static_assert(sizeof(struct gt_file_retained) == 56, "file format");

#define GT_SUM_NOT_KEPT     255u
#define GT_RETAINED_WINDOW  1u /* capture of a flight recorder, which evicts older records */
#define GT_RETAINED_THINNED 2u /* older records were evicted from the capture */
#define GT_RETAINED_CUT     4u /* cut out of another capture; the text is the expression */
#define GT_RETAINED_TIME    8u /* cut by time only, with every record of the time range */

#define GT_ROW_SHAPES    254u /* per block */
#define GT_ROW_NEW_SHAPE 255u
#define GT_ROW_PREDICTED 128u /* number of words in a row that have codes */

#define GT_CONTROL_ID   0x40u
#define GT_CONTROL_BACK 0x80u

/* First word after the head of a row that has a code: `ret` of a call, word 1 of other records. */
#define GT_CALL_FIXED_WORDS   4u /* head, start, end, id */
#define GT_CALL_MIN_WORDS     5u
#define GT_DEVICE_MIN_WORDS   (sizeof(struct gt_record_device) / 8)
#define GT_EXTERNAL_MIN_WORDS (sizeof(struct gt_record_external) / 8)

/* Indexes, after the head, of device words that are stored as differences. */
enum {
	GT_DEVICE_WORD_QUEUED = 4,
	GT_DEVICE_WORD_SUBMITTED,
	GT_DEVICE_WORD_START,
	GT_DEVICE_WORD_END
};

#endif
