/* SPDX-License-Identifier: MIT */
/* Domains: one API of a runtime each. Numbers and names come from the head of each
 * api/<domain>.api; the numbers stand in captures and in the shared-memory records: they never
 * change and are never used again. tests/golden/operations.txt freezes them together with the
 * operations. */
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
		GT_DOMAIN_COUNT = GT_DOMAINS_MOST, /* room in every array by domain */
};

/* What the rest of gputap must know of a domain, as its description says it (api/README.md). */
struct gt_domain_traits {
	/* the domain that the device work of its calls is recorded as; mostly itself */
	uint8_t work;
	/* number of its group of APIs in which the outermost call is the program's; 0: none */
	uint8_t outermost;
	/* the group that is built on this domain, whose calls are recorded on request only; 0:
	 * none */
	uint8_t beneath;
	bool requested;   /* its calls are recorded on request only */
	bool annotations; /* its calls say what the program is doing: recorded in every mode */
	/* others record its calls and work, and hand them over: a call is called what its argument
	 * of role MESSAGE says, and was made in the range of the number of role WITHIN, which work
	 * has as object[0]; 0: in none */
	bool relayed;
	/* its kernels' device records name a symbol of a code object:
	 * GT_KERNEL_SYMBOL(object[1]) */
	bool symbols;
	bool marks;        /* some of its operations are marks (enum gt_range_mark) */
	char family[16];   /* word for this domain and others: "cuda"; "": it has none */
	char category[24]; /* of its calls in Chrome JSON; "": as CUDA's runtime */
	char kernels[16];  /* device kernels whose name begins so are its collectives; "": none */
	char rocpd[24];    /* of its calls in ROCm 7's rocpd; "": its name in capitals with _API */
};

/* By domain. */
extern const struct gt_domain_traits gt_domain_traits[GT_DOMAIN_COUNT];

/* Does its device work come out of another domain, beneath it? */
static inline bool gt_domain_delegates(enum gt_domain domain)
{
	return gt_domain_traits[domain].outermost && gt_domain_traits[domain].work != domain;
}

/* Are both APIs of the group in which a call within a call is the runtime's own? */
static inline bool gt_domain_same_group(enum gt_domain a, enum gt_domain b)
{
	return gt_domain_traits[a].outermost &&
	       gt_domain_traits[a].outermost == gt_domain_traits[b].outermost;
}

#endif
