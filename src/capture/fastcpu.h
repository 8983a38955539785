/* SPDX-License-Identifier: MIT */
/* Chooses between the two variants of the hot loops over rows (encode.c, decode.c, cursor_next.c).
 * meson.build compiles these loops once for any CPU and once for x86-64 with AVX2 and BMI2. */
#ifndef GPUTAP_CAPTURE_FASTCPU_H
#define GPUTAP_CAPTURE_FASTCPU_H

/* The variant of function @name for this CPU. */
#if GT_CAPTURE_V3
#define GT_FOR_THIS_CPU(name) \
	(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") ? name##_v3 : name##_any)
#else
#define GT_FOR_THIS_CPU(name) name##_any
#endif

#endif
