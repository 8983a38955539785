/* SPDX-License-Identifier: MIT */
/* Sanitises, caches and writes names and arguments of an RPD file. See rpd.h. */
#include "export/rpd.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "analysis/model/passes.h"

void gt_rpd_add_text(struct rpd *r, int64_t id, const char *text, size_t bytes, bool argument)
{
	gt_bulk_begin(&r->row);
	gt_bulk_null(&r->row);
	gt_bulk_text(&r->row, text, bytes);
	gt_bulk_add(r->string, id, &r->row);
	if (argument)
		gt_bulk_add(r->ustring, id, &r->row);
	gt_rpd_note(r,
		    sorter_add_text(&r->texts_sorted, text, bytes, (uint64_t)id << 1 | argument));
}

int64_t gt_rpd_name(struct rpd *r, const char *name)
{
	size_t bytes = strlen(name);
	char *clean = r->text;
	int64_t found, *ids;
	uint64_t a, b;

	bytes = gt_cut_utf8(clean,
			    (size_t)(gt_put_harmless(clean, name,
						     bytes < RPD_ARGS_ROOM ? bytes
									   : RPD_ARGS_ROOM) -
				     clean),
			    GT_BULK_TEXT_BYTES);
	a = gt_text_hash(clean, bytes, 1);
	b = gt_text_hash(clean, bytes, 2);
	found = gt_map_find(&r->texts, a, b);
	if (found >= 0)
		return r->text_ids[found];
	ids = gt_grow(r->text_ids, r->text_count, &r->text_capacity, sizeof *ids);
	r->text_ids = ids ? ids : r->text_ids;
	if (!ids || gt_map_add(&r->texts, a, b, (uint32_t)r->text_count) < 0) {
		gt_rpd_no_memory(r);
		return RPD_EMPTY_TEXT;
	}
	r->text_ids[r->text_count++] = r->next_string;
	/* An argument can be '' as well. */
	gt_rpd_add_text(r, r->next_string, clean, bytes, !bytes);
	return r->next_string++;
}

/* Return the name of an argument in RPD. RPD's tools search for some arguments of domains whose
 * activities come from a lower-level domain, such as HIP, under RPD's own names, with sizes in
 * RPD's form. */
static const char *argument_name(const struct gt_operation_info *info, unsigned arg, bool *in_hex)
{
	bool upper = gt_view_delegates(info->op),
	     memory = info->kind == GT_KIND_ALLOCATION || info->kind == GT_KIND_FREE;

	*in_hex = false;
	switch (upper ? info->args[arg].role : GT_ROLE_NONE) {
	case GT_ROLE_STREAM: return "stream";
	case GT_ROLE_GRAPH: return "graph";
	case GT_ROLE_GRAPHEXEC: return "graphExec";
	case GT_ROLE_ADDRESS: return memory ? "ptr" : info->args[arg].name;
	case GT_ROLE_BYTES:
		*in_hex = memory && info->args[arg].form == GT_FORM_UNSIGNED;
		return memory ? "size" : info->args[arg].name;
	default: return info->args[arg].name;
	}
}

/* Write "name=value | name=value", sanitised. Return the end. */
static char *put_args(struct rpd *r, char *p, const struct gt_item *item,
		      const struct gt_view_operation *operation)
{
	const struct gt_operation_info *info = operation->info;
	char *end = r->text + RPD_ARGS_ROOM, value[4096], *start = p;
	int32_t status;

	for (unsigned i = 0; i < operation->nargs && p < end - 256; i++) {
		bool in_hex;
		const char *name = argument_name(info, i, &in_hex);
		size_t n = strlen(name);
		struct gt_view_text *word;

		if (p != start)
			p = GT_PUT(p, " | ");
		p = gt_put(p, name, n < 64 ? n : 64);
		*p++ = '=';
		switch (in_hex ? GT_FORM_ADDRESS : info->args[i].form) {
		case GT_FORM_UNSIGNED: p = gt_put_u64(p, item->args[i]); continue;
		case GT_FORM_SIGNED: p = gt_put_i64(p, (int64_t)item->args[i]); continue;
		case GT_FORM_ADDRESS: p = gt_put_hex(GT_PUT(p, "0x"), item->args[i]); continue;
		case GT_FORM_NAMED:
			word = gt_view_word(&r->view, item->op, i, item->args);
			if (word && word->bytes < (size_t)(end - p) / 3) {
				p = gt_put_harmless(p, word->text, word->bytes);
				continue;
			}
			break;
		default: break;
		}
		n = gt_format_arg(value, sizeof value, item->op, i, item->args, item->payload,
				  item->payload_bytes);
		if (n >= sizeof value)
			n = sizeof value - 1;
		if (n > (size_t)(end - p) / 3)
			n = (size_t)(end - p) / 3;
		p = gt_put_harmless(p, value, n);
	}
	if (gt_call_status(item->op, item->ret, item->args, &status) &&
	    gt_status_failed((enum gt_domain)GT_OP_DOMAIN(item->op), status)) {
		const char *name = gt_status_name(GT_OP_DOMAIN(item->op), status);

		p = GT_PUT(p, " | status=");
		p = name ? gt_put(p, name, strlen(name)) : gt_put_i64(p, status);
	}
	return p;
}

/* Return the id of the text of a call's arguments, which is in both text tables. The text depends
 * only on the key, and calls recur, so a cache by key avoids most of the formatting, writing and
 * space. */
int64_t gt_rpd_args(struct rpd *r, const struct gt_item *item,
		    const struct gt_view_operation *operation)
{
	uint8_t key[RPD_ARGS_KEY_BYTES];
	uint32_t words = GT_OP_NARGS(item->op), bytes = 16 + words * 8;
	struct rpd_args_slot *slot = NULL;
	char *text = r->text;
	size_t length;
	int64_t id;

	if (!item->args || !operation->info)
		return RPD_EMPTY_TEXT;
	if (bytes + item->payload_bytes <= sizeof key) {
		uint64_t op = item->op;

		memcpy(key, &op, 8);
		memcpy(key + 8, &item->ret, 8);
		memcpy(key + 16, item->args, words * 8);
		if (item->payload_bytes)
			memcpy(key + bytes, item->payload, item->payload_bytes);
		bytes += item->payload_bytes;
		slot = &r->args[gt_text_hash((char *)key, bytes, 0) % RPD_ARGS_SLOTS];
		if (slot->bytes == bytes && !memcmp(slot->key, key, bytes))
			return slot->id;
	}
	length = gt_cut_utf8(text, (size_t)(put_args(r, text, item, operation) - text),
			     GT_BULK_TEXT_BYTES);
	if (!length)
		return RPD_EMPTY_TEXT;
	id = r->next_string++;
	gt_rpd_add_text(r, id, text, length, true);
	if (slot) {
		slot->id = id;
		slot->bytes = bytes;
		memcpy(slot->key, key, bytes);
	}
	return id;
}
