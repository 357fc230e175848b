/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checking another process's address, of which nothing is trusted.
 */
#include "fabric/ofi/address.h"

#include <string.h>

uint64_t vm_address_job(uint64_t job_key)
{
	uint64_t x = job_key + 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* The first mistake found, or NULL. */
static const char *mistake(const struct vm_address *head,
			   const struct vm_address *ours, uint32_t process)
{
	if (head->magic != VM_ADDRESS_MAGIC)
		return "it is not an address of vmpi";
	if (head->version != ours->version)
		return "it is from another version of vmpi";
	if (head->job != ours->job)
		return "it belongs to another job";
	if (head->process != process)
		return "it belongs to another process";
	if (!memchr(head->provider, '\0', sizeof(head->provider)) ||
	    strcmp(head->provider, ours->provider) != 0)
		return "it uses another provider (fabric_provider)";
	if (head->format != ours->format)
		return "its addresses have another format";
	if (head->packet_bytes != ours->packet_bytes)
		return "fabric_packet_bytes differs";
	if (head->rma != ours->rma)
		return "only one of us has remote memory";
	if (head->ports == 0 || head->ports > VM_PORTS_MAX)
		return "its number of ports is out of range";
	return NULL;
}

int vm_address_check(const char **why, const void *bytes, size_t length,
		     const struct vm_address *ours, uint32_t process)
{
	struct vm_address head;

	*why = "it is too short";
	if (length < sizeof(head))
		return -VMPI_EINVAL;
	memcpy(&head, bytes, sizeof(head));
	*why = mistake(&head, ours, process);
	if (*why)
		return -VMPI_EINVAL;
	if (length - sizeof(head) !=
	    (size_t)head.ports * (size_t)head.address_bytes) {
		*why = "its length is wrong";
		return -VMPI_EINVAL;
	}
	return 0;
}
