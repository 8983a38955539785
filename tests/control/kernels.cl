// OpenCL C: kernels for on_level_zero.c.
// SPDX-License-Identifier: MIT

kernel void a(int x)
{
}

kernel void b(int x)
{
}

kernel void c(int x)
{
}

kernel void d(int x)
{
}
