/* SPDX-License-Identifier: MIT */
/* Domains: each is one API of a runtime. Numbers and names come from the head of each
 * api/<domain>.api. The numbers are in captures and in shared-memory records, so they never change
 * and are never reused. tests/golden/operations.txt freezes them together with the operations. */
#ifndef GPUTAP_RECORD_DOMAIN_H
#define GPUTAP_RECORD_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/domains.h"

enum gt_domain {
	GT_DOMAIN_NONE = 0,
#define X(number, suffix, name, text) GT_DOMAIN_##suffix = number,
	GT_DOMAINS(X)
#undef X
	/* size of every array that is indexed by domain */
	GT_DOMAIN_COUNT = GT_DOMAINS_MOST,
};

/* Properties of a domain that the rest of gputap needs, as its description sets them
 * (api/README.md). */
struct gt_domain_traits {
	/* the domain that the GPU activities of its calls are recorded as; mostly the domain
	 * itself */
	uint8_t work;
	/* number of its group of APIs, in which the outermost call is the program's; 0: none */
	uint8_t outermost;
	/* the group that is built on this domain, whose calls are recorded only on request; 0:
	 * none */
	uint8_t beneath;
	bool requested;   /* its calls are recorded only on request */
	bool annotations; /* its calls describe what the program is doing: recorded in every mode */
	/* true if another library records its calls and GPU activities and hands them over. A
	 * call's name is its argument of role MESSAGE. It was made in the range whose number is its
	 * argument of role WITHIN, which GPU activities have as object[0]; 0: in none */
	bool relayed;
	/* its kernels' device records refer to a symbol of a code object:
	 * GT_KERNEL_SYMBOL(object[1]) */
	bool symbols;
	bool marks;        /* some of its operations are marks (enum gt_range_mark) */
	char family[16];   /* word for this domain and others: "cuda"; "": none */
	char category[24]; /* category of its calls in Chrome JSON; "": that of CUDA's runtime */
	char kernels[16];  /* kernels whose name has this prefix are its collectives; "": none */
	char rocpd[24];    /* category in ROCm 7's rocpd; "": its name in capitals with _API */
};

/* Indexed by domain. */
extern const struct gt_domain_traits gt_domain_traits[GT_DOMAIN_COUNT];

/* Return true if a domain's GPU activities are submitted through another domain beneath it. */
static inline bool gt_domain_delegates(enum gt_domain domain)
{
	return gt_domain_traits[domain].outermost && gt_domain_traits[domain].work != domain;
}

/* Return true if both APIs are in one group in which a call within a call is the runtime's own. */
static inline bool gt_domain_same_group(enum gt_domain a, enum gt_domain b)
{
	return gt_domain_traits[a].outermost &&
	       gt_domain_traits[a].outermost == gt_domain_traits[b].outermost;
}

#endif
