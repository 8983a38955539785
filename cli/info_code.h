// SPDX-License-Identifier: MIT
/* Device code in `gputap info`: what was loaded and which kernels are in it, from when until when. */
#ifndef GPUTAP_CLI_INFO_CODE_H
#define GPUTAP_CLI_INFO_CODE_H

#include "capture/capture.h"
#include "cli/grid.h"

/* Times are since @start_ns. */
void info_code_objects(struct grid *g, const struct gt_capture *capture, uint64_t start_ns);
void info_kernel_symbols(struct grid *g, const struct gt_capture *capture, uint64_t start_ns);

#endif
