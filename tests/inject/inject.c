/* SPDX-License-Identifier: MIT */
/* inject [-c] [-d MS] [-p MS] [-a MS] PID LIBRARY [FUNCTION [ARGUMENT]]: calls gt_inject(), or with
 * -c gt_inject_check(). Prints a line of JSON: status, text, answer, stop_us, tries. */
#include "collector/inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"

static uint64_t to_ns(const char *ms)
{
	return (uint64_t)(atof(ms) * 1e6);
}

int main(int argc, char **argv)
{
	struct gt_inject_request request = {.pid = 0};
	struct gt_inject_result result = {.answer = 0};
	int option, check = 0, status;

	while ((option = getopt(argc, argv, "cd:p:a:")) != -1)
		switch (option) {
		case 'c': check = 1; break;
		case 'd': request.deadline_ns = to_ns(optarg); break;
		case 'p': request.patience_ns = to_ns(optarg); break;
		case 'a': request.answer_ns = to_ns(optarg); break;
		default: return 2;
		}
	if (argc - optind < 2)
		return 2;
	request.pid = atoi(argv[optind]);
	request.library = argv[optind + 1];
	request.function = optind + 2 < argc ? argv[optind + 2] : NULL;
	request.argument = optind + 3 < argc ? argv[optind + 3] : NULL;
	status = check ? gt_inject_check(request.pid) : gt_inject(&request, &result);
	printf("{\"status\": %d, \"text\": \"", status);
	for (const char *p = status ? gt_error_text() : ""; *p; p++)
		printf(*p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
	printf("\", \"answer\": %d, \"stop_us\": %.1f, \"tries\": %u}\n", result.answer,
	       (double)result.stop_ns / 1e3, result.tries);
	return 0;
}
