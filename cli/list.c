/* SPDX-License-Identifier: MIT */
/* gputap list: prints the names that other commands accept. The names come from the tables used for
 * tracing. */
#include <fnmatch.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/export.h"
#include "cli/grid.h"
#include "cli/mode.h"
#include "cli/ui.h"
#include "export/export.h"
#include "record/operation.h"

#define COUNT_OF(array) ((unsigned)(sizeof(array) / sizeof *(array)))

static const char *const things[] = {"domains", "operations", "methods", "formats", NULL};
enum thing { LIST_DOMAINS, LIST_OPERATIONS, LIST_ATTACH_WAYS, LIST_FORMATS };

static const struct grid_column domain_columns[] = {
	{"operations", "operations", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"calls", "calls", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"family", "family", GRID_TEXT, GRID_DATA, 0, false},
	{"text", "", GRID_TEXT, GRID_DATA, 0, false},
	{"with_family", "", GRID_TEXT, GRID_FOR_PEOPLE, 0, false},
};

static const struct grid_column operation_columns[] = {
	{"number", "number", GRID_ID, GRID_ALWAYS, 1, false},
	{"domain", "domain", GRID_TEXT, GRID_IF_DIFFER, 0, false},
	{"group", "group", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"kind", "kind", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"entry", "entry", GRID_TEXT, GRID_ALWAYS, 2, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"arguments", "arguments", GRID_TEXT, GRID_DATA, 0, false},
};

static const struct grid_column attach_columns[] = {
	{"domain", "domain", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"text", "", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column format_columns[] = {
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"extensions", "extensions", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"text", "", GRID_TEXT, GRID_ALWAYS, 0, false},
};

/* Words for each runtime, as in gputap info. */
static const struct {
	enum gt_domain domain;
	const char *name, *text;
} methods[] = {
#define X(domain, name, text) {domain, name, text},
#include "generated/domains_attach.inc"
#undef X
};

static void print_list_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("%sgputap list%s [domains|operations|methods|formats] [options] [PATTERN...]\n"
	       "List the names that other commands take. Default: domains, interception\n"
	       "methods and formats.\n"
	       "\n"
	       "%sExamples%s\n"
	       "  gputap list operations                  every operation that can be traced\n"
	       "  gputap list operations '*Buffer*'       those with Buffer in their name\n"
	       "  gputap list operations --group queue    those of one group\n"
	       "  gputap list operations --kind memcpy    those of one kind\n"
	       "  gputap run --ops 'clEnqueue*' ./prog    use the names\n"
	       "\n"
	       "%sOptions%s\n"
	       "  -d, --domain NAME   list only operations of this domain or family\n"
	       "  -g, --group NAME    list only this group\n"
	       "  -k, --kind NAME     list only this kind: launch, memcpy, memset, ...\n"
	       "      --json          print JSON for scripts, with the arguments of operations\n"
	       "  -h, --help\n",
	       c->bold, c->reset, c->bold, c->reset, c->bold, c->reset);
}

struct list_options {
	const char *domain, *group, *kind;
	char **patterns;
	bool json;
};

static bool chosen(const struct list_options *o, const char *name)
{
	if (!o->patterns[0])
		return true;
	for (char **p = o->patterns; *p; p++)
		if (!fnmatch(*p, name, 0))
			return true;
	return false;
}

/* Return the number of operations in a domain, without unused numbers. */
static uint64_t known_operations(enum gt_domain domain)
{
	uint64_t n = 0;

	for (size_t i = 0; i < gt_operation_count(domain); i++)
		n += gt_operation(GT_OP(domain, i, 0)) != NULL;
	return n;
}

static void make_domains(struct grid *g, const struct list_options *o)
{
	static const char *const texts[GT_DOMAIN_COUNT] = {
#define TEXT(number, suffix, name, text) [number] = text,
		GT_DOMAINS(TEXT)
#undef TEXT
	};

	grid_init(g, "domains", domain_columns, COUNT_OF(domain_columns));
	g->heading = "Domains";
	g->note = "Calls are recorded by default, or on request: with --domains, --ops or a mode.";
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++) {
		const char *name = gt_domain_name((enum gt_domain)d),
			   *family = gt_domain_traits[d].family;
		struct grid_cell *cell;

		if (!texts[d] || (!chosen(o, name) && !(*family && chosen(o, family))))
			continue;
		cell = grid_row(g);
		*cell++ = cell_count(known_operations((enum gt_domain)d));
		*cell++ = cell_text(mode_records_calls((enum gt_domain)d) ? "default" : "request");
		*cell++ = cell_text(name);
		*cell++ = cell_text(family);
		*cell++ = cell_text(texts[d]);
		*cell++ = cell_text(*family ? grid_keep(g, "%s, family %s", texts[d], family)
					    : texts[d]);
	}
}

static const char *arguments_of(struct grid *g, const struct gt_operation_info *info)
{
	char line[2048];
	size_t n = 0;

	line[0] = '\0';
	for (unsigned i = 0; i < info->nargs && n < sizeof line; i++)
		n += (size_t)snprintf(line + n, sizeof line - n, "%s%s %s", i ? ", " : "",
				      info->args[i].type, info->args[i].name);
	return grid_keep(g, "%s", line);
}

static void make_operations(struct grid *g, const struct list_options *o)
{
	grid_init(g, "operations", operation_columns, COUNT_OF(operation_columns));
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++) {
		size_t count = gt_operation_count((enum gt_domain)d);
		if (o->domain && !(gt_domains_find(o->domain, strlen(o->domain)) >> d & 1))
			continue;
		for (size_t i = 0; i < count; i++) {
			const struct gt_operation_info *info = gt_operation(GT_OP(d, i, 0));
			const char *kind =
				info ? gt_operation_kind_name((enum gt_operation_kind)info->kind)
				     : "";
			struct grid_cell *cell;
			if (!info || !chosen(o, info->name) ||
			    (o->group && strcmp(o->group, info->group)) ||
			    (o->kind && strcmp(o->kind, kind)))
				continue;
			cell = grid_row(g);
			*cell++ = cell_count(i);
			*cell++ = cell_text(gt_domain_name((enum gt_domain)d));
			*cell++ = cell_text(info->group);
			*cell++ = cell_text(kind);
			*cell++ = cell_text(info->in_table ? "table" : "extension");
			*cell++ = cell_text(info->name);
			*cell++ = cell_text(arguments_of(g, info));
		}
	}
}

static void make_attach_ways(struct grid *g, const struct list_options *o)
{
	grid_init(g, "methods", attach_columns, COUNT_OF(attach_columns));
	g->heading = "Interception methods for each runtime, the preferred one first";
	for (unsigned i = 0; i < COUNT_OF(methods); i++) {
		struct grid_cell *cell;
		if (!chosen(o, methods[i].name))
			continue;
		cell = grid_row(g);
		*cell++ = cell_text(gt_domain_name(methods[i].domain));
		*cell++ = cell_text(methods[i].name);
		*cell++ = cell_text(methods[i].text);
	}
}

static void add_format(struct grid *g, const char *name, const char *extensions, const char *text)
{
	struct grid_cell *cell = grid_row(g);

	*cell++ = cell_text(name);
	*cell++ = cell_text(extensions);
	*cell++ = cell_text(text);
}

static void make_formats(struct grid *g, const struct list_options *o)
{
	grid_init(g, "formats", format_columns, COUNT_OF(format_columns));
	g->heading = "Formats that gputap export writes";
	if (chosen(o, "gputap"))
		add_format(g, "gputap", ".gputap", EXPORT_CAPTURE_TEXT);
	if (chosen(o, "parquet"))
		add_format(g, "parquet", ".parquet", EXPORT_PARQUET_TEXT);
	for (const struct gt_exporter *const *e = gt_exporters; *e; e++) {
		char extensions[256] = "";
		if (!chosen(o, (*e)->name))
			continue;
		for (const char *const *x = (*e)->extensions; *x; x++) {
			size_t n = strlen(extensions);
			snprintf(extensions + n, sizeof extensions - n, "%s%s", n ? " " : "", *x);
		}
		add_format(g, (*e)->name, grid_keep(g, "%s", extensions), (*e)->text);
	}
}

/* Collect the groups or kinds of operations, without duplicates. Return their number. */
static size_t words_of_operations(bool kinds, const char **words, size_t most)
{
	size_t n = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		for (size_t i = 0; i < gt_operation_count((enum gt_domain)d); i++) {
			const struct gt_operation_info *info = gt_operation(GT_OP(d, i, 0));
			const char *word =
				!info   ? NULL
				: kinds ? gt_operation_kind_name((enum gt_operation_kind)info->kind)
					: info->group;
			bool known = !word;
			for (size_t k = 0; k < n && !known; k++)
				known = !strcmp(words[k], word);
			if (!known && n + 1 < most)
				words[n++] = word;
		}
	words[n] = NULL;
	return n;
}

static int check_word(const char *what, const char *word, const char *const *words)
{
	for (size_t i = 0; word && words[i]; i++)
		if (!strcmp(words[i], word))
			return GT_EXIT_OK;
	return word ? ui_unknown(what, word, words) : GT_EXIT_OK;
}

static int check_options(const struct list_options *o)
{
	const char *words[256];
	int code = o->domain ? mode_check_domain(o->domain) : GT_EXIT_OK;

	if (!code) {
		words_of_operations(false, words, COUNT_OF(words));
		code = check_word("group", o->group, words);
	}
	if (!code) {
		words_of_operations(true, words, COUNT_OF(words));
		code = check_word("kind", o->kind, words);
	}
	return code;
}

static int report_none(const char *pattern, bool operations)
{
	const char *near = operations ? mode_nearest_operation(pattern, ~0u) : NULL;

	if (near)
		return ui_fail(GT_EXIT_FAILURE, "no name matches '%s'; did you mean '%s'?", pattern,
			       near);
	return ui_fail(GT_EXIT_FAILURE, "no name matches '%s'", pattern);
}

static int print_things(const struct list_options *o, unsigned wanted)
{
	static void (*const make[])(struct grid *,
				    const struct list_options *) = {make_domains, make_operations,
								    make_attach_ways, make_formats};
	struct json j = {.out = stdout};
	size_t rows = 0;
	bool first = true;

	if (o->json)
		json_object(&j, NULL);
	for (unsigned t = 0; t < COUNT_OF(make); t++) {
		struct grid g;
		if (!(wanted >> t & 1))
			continue;
		make[t](&g, o);
		g.sentences = t != LIST_OPERATIONS;
		rows += g.row_count;
		if (!o->json && !first)
			putchar('\n');
		first = false;
		if (o->json)
			grid_print_json(&g, &j, 0);
		else if (g.row_count)
			grid_print_text(&g, stdout, 0);
		grid_fini(&g);
	}
	if (o->json)
		json_close(&j);
	return !rows && o->patterns[0] ? report_none(o->patterns[0], wanted & 1u << LIST_OPERATIONS)
				       : GT_EXIT_OK;
}

static int list_main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"domain", required_argument, NULL, 'd'}, {"group", required_argument, NULL, 'g'},
		{"kind", required_argument, NULL, 'k'},   {"json", no_argument, NULL, 'J'},
		{"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
	};
	struct list_options o = {0};
	unsigned wanted = 1u << LIST_DOMAINS | 1u << LIST_ATTACH_WAYS | 1u << LIST_FORMATS;
	int c, code;

	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, ":d:g:k:h", long_options, NULL)) != -1) {
		switch (c) {
		case 'd': o.domain = optarg; break;
		case 'g': o.group = optarg; break;
		case 'k': o.kind = optarg; break;
		case 'J': o.json = true; break;
		case 'h': print_list_help(); return GT_EXIT_OK;
		default: return ui_bad_option("list", argv, long_options);
		}
	}
	if (optind < argc) {
		unsigned t = 0;
		while (things[t] && strncmp(things[t], argv[optind], strlen(argv[optind]) + 1))
			t++;
		if (!things[t])
			return ui_unknown("list of", argv[optind], things);
		wanted = 1u << t;
		optind++;
	} else if (o.domain || o.group || o.kind) {
		wanted = 1u << LIST_OPERATIONS;
	}
	o.patterns = argv + optind;
	code = check_options(&o);
	return code ? code : print_things(&o, wanted);
}

const struct gt_command gt_command_list = {
	"list", "list domains, operations, interception methods, formats", list_main};
