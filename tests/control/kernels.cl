/* SPDX-License-Identifier: MIT */
/* For on_level_zero.c. */
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
