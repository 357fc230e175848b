/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description that the network in memory gives of itself, and what else
 * needs none of its state.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_fabric.h"

/* Descriptions. */
void fake_freeinfo(struct fi_info *info)
{
	if (!info)
		return;
	free(info->fabric_attr->prov_name);
	free(info->fabric_attr);
	free(info->domain_attr);
	free(info->ep_attr);
	free(info->tx_attr);
	free(info->rx_attr);
	free(info);
	fake_objects_add(-1);
}

#define COPY(to, from, field)                                             \
	do {                                                              \
		(to)->field = calloc(1, sizeof(*(to)->field));            \
		if (from)                                                 \
			*(to)->field =                                    \
				*((const struct fi_info *)(from))->field; \
	} while (0)

struct fi_info *fake_dupinfo(const struct fi_info *from)
{
	struct fi_info *info = calloc(1, sizeof(*info));

	if (from)
		*info = *from;
	COPY(info, from, fabric_attr);
	COPY(info, from, domain_attr);
	COPY(info, from, ep_attr);
	COPY(info, from, tx_attr);
	COPY(info, from, rx_attr);
	if (from && from->fabric_attr->prov_name)
		info->fabric_attr->prov_name =
			strdup(from->fabric_attr->prov_name);
	info->next = NULL;
	fake_objects_add(1);
	return info;
}

int fake_getinfo(const char *node, uint64_t flags, const struct fi_info *hints,
		 struct fi_info **result)
{
	struct fi_info *info;

	(void)node;
	(void)flags;
	if (fake_faults.no_rma && hints->caps & FI_RMA)
		return -FI_ENODATA;
	info = fake_dupinfo(NULL);
	info->caps = hints->caps;
	if (fake_faults.lossy)
		info->addr_format = FI_SOCKADDR_IN;
	info->fabric_attr->prov_name = strdup("fake");
	info->domain_attr->mr_key_size = 8;
	info->domain_attr->cq_data_size = 8;
	info->tx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_WAW;
	info->domain_attr->mr_mode =
		fake_faults.local_mr ? FI_MR_LOCAL | FI_MR_VIRT_ADDR : 0;
	info->domain_attr->ep_cnt = info->domain_attr->cq_cnt = FAKE_ENDPOINTS;
	info->tx_attr->size = info->rx_attr->size = fake_faults.small ? 8 : 256;
	info->tx_attr->inject_size = FAKE_INJECT;
	info->tx_attr->iov_limit = 4;
	*result = info;
	return 0;
}

/* Functions that do little. */
int fake_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric)
{
	*fabric = calloc(1, sizeof(**fabric));
	(*fabric)->fid.fclass = FI_CLASS_FABRIC;
	fake_objects_add(1);
	return 0;
}

int fake_mr_enable(struct fid_mr *mr, struct fid_ep *ep)
{
	return 0;
}

uint64_t fake_mr_key(struct fid_mr *mr)
{
	return mr->key;
}

void *fake_mr_desc(struct fid_mr *mr)
{
	return mr->mem_desc;
}
