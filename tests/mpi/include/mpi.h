/* SPDX-License-Identifier: MIT */
/* Replaces an MPI library's mpi.h, so that examples/mpi_hip.hip can be built without its
 * headers. */
#ifdef __cplusplus
extern "C" {
#endif
#include "../mpi_abi.h"
#ifdef __cplusplus
}
#endif
