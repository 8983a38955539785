/* SPDX-License-Identifier: MIT */
/* Linked statically: nothing can be injected. */
int main(void)
{
	return 7;
}
