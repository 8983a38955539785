/* SPDX-License-Identifier: MIT */
/* tests/hip/truth.hip, whose main() is built as truth_main(), with Caliper. CALI_CONFIG configures
 * Caliper. Test: tests/test_foreign_rocprofiler_hip.py. */
#include <caliper/cali.h>

int truth_main(int argc, char **argv);

int main(int argc, char **argv)
{
	cali_init();
	return truth_main(argc, argv);
}
