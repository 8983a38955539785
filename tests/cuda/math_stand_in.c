/* SPDX-License-Identifier: MIT */
/* Some functions of NCCL, cuBLAS, cuBLASLt and cuDNN that do nothing, for machines without these
 * libraries. -DNCCL, -DCUBLAS, -DCUBLASLT or -DCUDNN selects the library. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef NCCL
struct id {
	char internal[128];
};

int ncclGetVersion(int *version)
{
	*version = 22700;
	return 0;
}

int ncclGetUniqueId(struct id *id)
{
	memset(id, 7, sizeof *id);
	return 0;
}

/* Like the real library, this library calls its own functions. Such calls are not calls of the
 * program. */
int ncclGroupStart(void)
{
	return 0;
}

int ncclGroupEnd(void)
{
	return 0;
}

int ncclCommInitRank(void **comm, int ranks, struct id id, int rank)
{
	ncclGroupStart();
	*comm = (void *)(uintptr_t)(0x1000 + rank);
	ncclGroupEnd();
	return ranks > 0 && id.internal[127] == 7 ? 0 : 4;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm,
		  void *stream)
{
	(void)from, (void)to, (void)count, (void)type, (void)op, (void)stream;
	return comm ? 0 : 4;
}
#endif

#ifdef CUBLAS
int cublasCreate_v2(void **handle)
{
	*handle = (void *)(uintptr_t)0x2000;
	return 0;
}

int cublasSgemm_v2(void *handle, int a, int b, int m, int n, int k, const float *alpha,
		   const float *A, int lda, const float *B, int ldb, const float *beta, float *C,
		   int ldc)
{
	(void)a, (void)b, (void)m, (void)n, (void)k, (void)alpha, (void)A, (void)lda, (void)B;
	(void)ldb, (void)beta, (void)C;
	return handle ? (ldc == 4 ? 0 : 7) : 1;
}

int cublasDaxpy_v2_64(void *handle, int64_t n, const double *alpha, const double *x, int64_t incx,
		      double *y, int64_t incy)
{
	(void)handle, (void)alpha, (void)x, (void)incx, (void)y;
	return n == INT64_C(1) << 40 && incy == -1 ? 0 : 7;
}
#endif

#ifdef CUBLASLT
int cublasLtCreate(void **handle)
{
	*handle = (void *)(uintptr_t)0x3000;
	return 0;
}

size_t cublasLtGetVersion(void)
{
	return 120903;
}
#endif

#ifdef CUDNN
int cudnnCreate(void **handle)
{
	*handle = NULL;
	return 1001; /* not initialised, because there is no GPU */
}

size_t cudnnGetVersion(void)
{
	return 92800;
}

int cudnnBackendExecute(void *handle, void *plan, void *pack)
{
	(void)handle;
	return plan == pack ? 2000 : 0;
}

int cudnnSetActivationDescriptor(void *descriptor, int mode, int nan, double coefficient)
{
	(void)descriptor, (void)mode, (void)nan;
	return coefficient == 1.5 ? 0 : 2000;
}
#endif
