/* SPDX-License-Identifier: MIT */
/* gputap merge: several captures as one, or as one export. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/export.h"
#include "cli/merge.h"
#include "cli/ui.h"

static const char help[] =
	"gputap merge FILE.. -o OUT [options]\n\n"
	"Puts the captures of many processes, ranks and hosts together. OUT is a capture\n"
	"(.gputap), which every command reads like any other, or an export, as OUT's\n"
	"extension says.\n\n"
	"Nothing is renumbered: processes, threads and correlation ids stay what they\n"
	"are, and belong to their session. The same device, by UUID or PCI address and\n"
	"host, is one. Captures of one boot share a clock; others are aligned by the\n"
	"hosts' wall clocks, and that is said. A capture that is given twice counts once:\n"
	"the copy of which most can be read. What is damaged is merged as far as it is\n"
	"valid, and reported.\n\n"
	"Examples\n"
	"  gputap merge rank*.gputap -o job.gputap       then: gputap report job.gputap\n"
	"  gputap merge rank*.gputap -o job.pftrace      all ranks on one timeline\n"
	"  gputap merge job.gputap late.gputap -o all.gputap\n\n"
	"Options\n"
	"  -o, --output OUT    file to write\n"
	"  -f, --force         replace OUT if it exists\n"
	"      --share         others may read OUT, as the umask says; else you alone\n"
	"      --format NAME   the format, whatever OUT's extension is: gputap, or one of\n"
	"                  'gputap export'\n"
	"  -w, --where EXPR    in an export, only records for which EXPR holds\n"
	"      --mangled       in an export, names of C++ kernels as they were recorded\n"
	"  -h, --help\n";

static void print_merge_help(void)
{
	fputs(help, stdout);
}

static bool wants_capture(const struct export_request *request)
{
	const char *extension = strrchr(request->output, '.');

	if (request->format)
		return !strcmp(request->format, "gputap");
	return extension && !strcmp(extension, ".gputap");
}

static int run_merge(int argc, char **argv)
{
	static const struct export_words words = {"merge", "job.gputap", true, print_merge_help};
	struct export_request request = {.captures = true};
	const struct gt_exporter *exporter;
	char *line;
	int status = export_options(argc, argv, &words, &request);

	if (status)
		return status < 0 ? GT_EXIT_OK : status;
	if (wants_capture(&request) && request.where)
		return ui_fail(GT_EXIT_USAGE,
			       "a merged capture has all records: 'gputap export "
			       "%s --where ..' leaves some out",
			       request.output);
	if (wants_capture(&request) && request.weight)
		return ui_fail(GT_EXIT_USAGE, "--weight is for stacks (folded, speedscope)");
	if (wants_capture(&request))
		return merge_captures(&request);
	exporter = export_choose(&request);
	if (!exporter)
		return GT_EXIT_USAGE;
	request.command_line = line = export_command_line(argc, argv);
	status = export_files(&request, exporter);
	free(line);
	return status;
}

const struct gt_command gt_command_merge = {
	"merge", "put captures of several processes, ranks and hosts into one", run_merge};
