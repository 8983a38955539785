/* SPDX-License-Identifier: MIT */
/* Domains, each one API of a runtime. Numbers and names come from the head of each
 * api/<domain>.api. Captures and shared-memory records contain the numbers, so a number never
 * changes and is never reused. tests/golden/operations.txt freezes the numbers together with the
 * operations. */
#ifndef GPUTAP_RECORD_DOMAIN_H
#define GPUTAP_RECORD_DOMAIN_H

#include <assert.h>
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

/* A set of domains is an uint64_t with a bit for each. */
static_assert(GT_DOMAIN_COUNT <= 64, "sets of domains");
#define GT_DOMAIN_BIT(domain) (UINT64_C(1) << (domain))

/* Properties of a domain that the other parts of gputap need. The domain's description sets them
 * (api/README.md). */
struct gt_domain_traits {
	/* domain in which the GPU activities of its calls are recorded; usually the domain
	 * itself */
	uint8_t activity;
	/* number of its group of APIs, in which the program makes only the outermost call; 0:
	 * none */
	uint8_t outermost;
	/* group that is built on this domain, so that the domain's calls are recorded only on
	 * request; 0: none */
	uint8_t beneath;
	bool requested; /* true if its calls are recorded only on request */
	/* true if its calls describe the program's activity: recorded in every mode */
	bool annotations;
	/* true if another library records its calls and GPU activities and hands them over. The
	 * argument of role MESSAGE is the name of a call. The argument of role WITHIN is the number
	 * of the range that contains the call; GPU activities have the number in object[0]; 0: no
	 * range */
	bool relayed;
	bool streams; /* true if the domain's queues are called streams */
	/* true if device records of its kernels refer to a symbol of a code object:
	 * GT_KERNEL_SYMBOL(object[1]) */
	bool symbols;
	bool marks;        /* true if some operations are marks (enum gt_range_mark) */
	char family[16];   /* word for this domain and related ones: "cuda"; "": none */
	char category[24]; /* Chrome JSON category of its calls; "": CUDA runtime's */
	char kernels[16];  /* name prefix of the kernels that execute its collectives; "": none */
	/* category in ROCm 7's rocpd; "": the domain's name in capitals with _API */
	char rocpd[24];
};

/* Indexed by domain. */
extern const struct gt_domain_traits gt_domain_traits[GT_DOMAIN_COUNT];

/* Return true if the domain's queues are called streams. @domain may come from a file and be
 * invalid. */
static inline bool gt_domain_has_streams(enum gt_domain domain)
{
	return (unsigned)domain < GT_DOMAIN_COUNT && gt_domain_traits[domain].streams;
}

/* Return a domain's word for a queue: "stream" or "queue". */
static inline const char *gt_domain_queue_noun(enum gt_domain domain)
{
	return gt_domain_has_streams(domain) ? "stream" : "queue";
}

/* Return true if the runtime submits GPU activities of the domain through a lower domain. */
static inline bool gt_domain_delegates(enum gt_domain domain)
{
	return gt_domain_traits[domain].outermost && gt_domain_traits[domain].activity != domain;
}

/* Return true if both APIs belong to one group. If a call of one is nested in a call of the other,
 * the runtime itself made the inner call. */
static inline bool gt_domain_same_group(enum gt_domain a, enum gt_domain b)
{
	return gt_domain_traits[a].outermost &&
	       gt_domain_traits[a].outermost == gt_domain_traits[b].outermost;
}

#endif
