/* SPDX-License-Identifier: MIT */
/* The few MPI names that the test programs use, so that the programs need no headers of an MPI
 * library. MPICH's handles are ints; Open MPI's (-DOPEN_MPI) are addresses of its variables. */
#ifndef MPI_ABI_H
#define MPI_ABI_H

#ifdef OPEN_MPI
typedef void *mpi_handle;
extern struct mpi_object ompi_mpi_comm_world, ompi_mpi_int, ompi_mpi_op_sum;
extern struct mpi_object ompi_mpi_float, ompi_mpi_double;
#define MPI_COMM_WORLD    ((mpi_handle)&ompi_mpi_comm_world)
#define MPI_INT           ((mpi_handle)&ompi_mpi_int)
#define MPI_FLOAT         ((mpi_handle)&ompi_mpi_float)
#define MPI_DOUBLE        ((mpi_handle)&ompi_mpi_double)
#define MPI_SUM           ((mpi_handle)&ompi_mpi_op_sum)
#define MPI_STATUS_IGNORE ((void *)0)
#define MPI_ANY_SOURCE    (-1)
#define MPI_PROC_NULL     (-2)
#else
typedef int mpi_handle;
#define MPI_COMM_WORLD    0x44000000
#define MPI_INT           0x4c000405
#define MPI_FLOAT         0x4c00040a
#define MPI_DOUBLE        0x4c00080b
#define MPI_SUM           0x58000003
#define MPI_STATUS_IGNORE ((void *)1)
#define MPI_ANY_SOURCE    (-2)
#define MPI_PROC_NULL     (-1)
#endif

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Comm_rank(mpi_handle comm, int *rank);
int MPI_Comm_size(mpi_handle comm, int *size);
int MPI_Comm_split(mpi_handle comm, int color, int key, mpi_handle *newcomm);
int MPI_Comm_dup(mpi_handle comm, mpi_handle *newcomm);
int MPI_Comm_free(mpi_handle *comm);
int MPI_Barrier(mpi_handle comm);
int PMPI_Barrier(mpi_handle comm);
int MPI_Allreduce(const void *from, void *to, int count, mpi_handle type, mpi_handle op,
		  mpi_handle comm);
int MPI_Bcast(void *buffer, int count, mpi_handle type, int root, mpi_handle comm);
int MPI_Reduce(const void *from, void *to, int count, mpi_handle type, mpi_handle op, int root,
	       mpi_handle comm);
int MPI_Irecv(void *to, int count, mpi_handle type, int source, int tag, mpi_handle comm,
	      mpi_handle *request);
int MPI_Send(const void *from, int count, mpi_handle type, int dest, int tag, mpi_handle comm);
int MPI_Wait(mpi_handle *request, void *status);
int MPI_Iallreduce(const void *from, void *to, int count, mpi_handle type, mpi_handle op,
		   mpi_handle comm, mpi_handle *request);
int MPI_Waitall(int count, mpi_handle *requests, void *statuses);
int MPI_Waitany(int count, mpi_handle *requests, int *index, void *status);
int MPI_Recv(void *to, int count, mpi_handle type, int source, int tag, mpi_handle comm,
	     void *status);
int MPI_Sendrecv(const void *from, int count, mpi_handle type, int dest, int tag, void *to,
		 int received, mpi_handle received_type, int source, int received_tag,
		 mpi_handle comm, void *status);

#endif
