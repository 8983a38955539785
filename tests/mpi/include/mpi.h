/* SPDX-License-Identifier: MIT */
/* In place of a library's mpi.h, so that examples/mpi_hip.hip is built without its headers. */
#ifdef __cplusplus
extern "C" {
#endif
#include "../mpi_abi.h"
#ifdef __cplusplus
}
#endif
