/* SPDX-License-Identifier: MIT */
#include "record/domain.h"

const struct gt_domain_traits gt_domain_traits[GT_DOMAIN_COUNT] = {
#include "generated/domains_traits.inc"
};
