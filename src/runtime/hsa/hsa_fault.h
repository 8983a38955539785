/* SPDX-License-Identifier: MIT */
/* Failures of devices and queues that the runtime reports (hsa_fault.c). */
#ifndef GPUTAP_RUNTIME_HSA_FAULT_H
#define GPUTAP_RUNTIME_HSA_FAULT_H

#include "runtime/hsa/hsa_runtime.h"

/* Subscribe to accesses to unmapped memory. Call once per load of the runtime. */
void gt_hsa_fault_subscribe(struct gt_hsa_runtime *r);
/* Replaces the program's callback of a queue. @data: struct gt_hsa_queue */
gt_hsa_queue_callback gt_hsa_report_queue_fault;

#endif
