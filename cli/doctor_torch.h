/* SPDX-License-Identifier: MIT */
/* Reports whether operators of the PyTorch in python3 are recorded. */
#ifndef GPUTAP_CLI_DOCTOR_TORCH_H
#define GPUTAP_CLI_DOCTOR_TORCH_H

#include "doctor/doctor.h"

/* Add a finding if python3 in PATH has PyTorch. */
void doctor_find_torch(struct doctor *d);

#endif
