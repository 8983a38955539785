/* SPDX-License-Identifier: MIT */
/* gputap merge: combines several captures into one capture or one export. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/export.h"
#include "cli/export_parquet.h"
#include "cli/merge.h"
#include "cli/ui.h"

static const char help[] =
	"gputap merge FILE... -o OUT [options]\n"
	"\n"
	"Combine captures of several processes, ranks and hosts. OUT is a capture\n"
	"(.gputap), which every command reads, or an export, depending on its extension.\n"
	"\n"
	"Processes, threads and correlation ids keep their numbers and belong to their\n"
	"session. Devices with the same host and the same UUID or PCI address become one.\n"
	"Captures of one boot share a clock. Others are aligned with the wall clocks\n"
	"of their hosts, or better with common MPI calls; gputap prints the method. If a\n"
	"capture is given twice, the more readable copy is used. The readable part of a\n"
	"damaged capture is merged, and the damage reported.\n"
	"\n"
	"Examples\n"
	"  gputap merge rank*.gputap -o job.gputap       then: gputap report job.gputap\n"
	"  gputap merge rank*.gputap -o job.pftrace      all ranks on one timeline\n"
	"  gputap merge job.gputap late.gputap -o all.gputap\n"
	"\n"
	"Options\n"
	"  -o, --output OUT    write to OUT\n"
	"  -f, --force         replace OUT if it exists\n"
	"      --share         let others read OUT, as the umask allows\n"
	"      --format NAME   use this format, not that of OUT's extension: gputap, or\n"
	"                      one of 'gputap export'\n"
	"  -w, --where EXPR    in an export, write only records that match EXPR\n"
	"      --mangled       in an export, write names of C++ kernels as recorded\n"
	"  -j, --jobs N        in an export, read the captures in N threads\n"
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
			       "a merged capture contains all records: filter it with 'gputap "
			       "export %s --where ..'",
			       request.output);
	if (wants_capture(&request) && request.weight)
		return ui_fail(GT_EXIT_USAGE, "--weight applies to stacks (folded, speedscope)");
	if (wants_capture(&request))
		return merge_captures(&request);
	if (export_is_parquet(&request))
		return export_parquet(&request);
	exporter = export_choose(&request);
	if (!exporter)
		return GT_EXIT_USAGE;
	request.command_line = line = export_command_line(argc, argv);
	status = export_files(&request, exporter);
	free(line);
	return status;
}

const struct gt_command gt_command_merge = {
	"merge", "combine captures of several processes, ranks and hosts", run_merge};
