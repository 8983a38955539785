/* SPDX-License-Identifier: MIT */
// Replaces glibc's header, which libstdc++ 12 includes if it exists: glibc has the variable since
// 2.32. Zero makes libstdc++ count references atomically, as it does with an older glibc.
static const char __libc_single_threaded = 0;
