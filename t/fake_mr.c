/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that the network in memory may read and write.  Under its mutex.
 */
#include <stdlib.h>

#include "base/list.h"
#include "fake_fabric.h"

struct fake_mr {
	struct fid_mr fid;
	struct vm_list link;
	struct fid_domain *domain;
	char *base;
	size_t bytes;
	uint64_t access;
};

static struct vm_list mrs = { &mrs, &mrs };

struct fid_mr *fake_mr_add(struct fid_domain *domain, const void *base,
			   size_t bytes, uint64_t access, uint64_t key)
{
	struct fake_mr *new = calloc(1, sizeof(*new));

	if (!new)
		abort();
	new->fid.fid.fclass = FI_CLASS_MR;
	new->fid.key = key;
	new->fid.mem_desc = new;
	new->domain = domain;
	new->base = (char *)base;
	new->bytes = bytes;
	new->access = access;
	vm_list_append(&mrs, &new->link);
	return &new->fid;
}

void fake_mr_remove(struct fid *fid)
{
	vm_list_remove(&((struct fake_mr *)fid)->link);
}

char *fake_mr_find(const struct fid_domain *domain, uint64_t key,
		   uint64_t address, size_t bytes, uint64_t access)
{
	struct vm_list *link;

	vm_list_each(link, &mrs) {
		struct fake_mr *mr =
			vm_container_of(link, struct fake_mr, link);
		uint64_t offset = address;

		if (mr->fid.key != key || mr->domain != domain)
			continue;
		if (fake_faults.local_mr)
			offset -= (uint64_t)(uintptr_t)mr->base;
		if (offset > mr->bytes || bytes > mr->bytes - offset ||
		    !(mr->access & access))
			return NULL;
		return mr->base + offset;
	}
	return NULL;
}
