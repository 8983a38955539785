/* SPDX-License-Identifier: MIT */
/* The runtime reports that a device or queue has failed (hsa_fault.c). */
#ifndef GPUTAP_RUNTIME_HSA_FAULT_H
#define GPUTAP_RUNTIME_HSA_FAULT_H

#include "runtime/hsa/hsa_runtime.h"

/* Be notified when memory is accessed that is not there; once for each load of the runtime. */
void gt_hsa_fault_subscribe(struct gt_hsa_runtime *r);
/* Instead of the program's callback of a queue; @data: struct gt_hsa_queue. */
gt_hsa_queue_callback gt_hsa_report_queue_fault;

#endif
