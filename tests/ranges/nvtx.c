/* SPDX-License-Identifier: MIT */
/* Makes marks, pushed ranges and started ranges with NVTX, with texts of each kind. */
#include "nvtx_client.h"

int main(void)
{
	struct nvtx_message m = {.version = 3, .size = sizeof m, .message_type = 3};
	uint64_t wide, domain;

	if (!open_nvtx())
		return 1;
	nvtxRangePushA("outer");
	nvtxRangePushW(L"k\u00e4se \U0001f9c0");
	nvtxMarkA("a mark");
	m.message = nvtxDomainRegisterStringW(NULL, L"registered");
	nvtxDomainMarkEx(NULL, &m);
	nvtxRangePop();
	wide = nvtxRangeStartW(L"wide \u20ac");
	m.message_type = 1;
	m.message = "of a domain";
	domain = nvtxDomainRangeStartEx(NULL, &m);
	nvtxRangeEnd(wide);
	nvtxDomainRangeEnd(NULL, domain);
	nvtxRangeEnd(4711); /* an unknown id */
	nvtxRangeStartA("never ended");
	return nvtxRangePop();
}
