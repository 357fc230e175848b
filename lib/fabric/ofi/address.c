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

/* Each returns the first mistake found, or NULL. */
static const char *mistake_any(const struct vm_address *head,
			       const struct vm_address *ours)
{
	if (head->magic != VM_ADDRESS_MAGIC)
		return "it is not an address of vmpi";
	if (head->version != ours->version)
		return "it is from another version of vmpi";
	if (!memchr(head->provider, '\0', sizeof(head->provider)))
		return "it uses another provider (fabric_provider)";
	if (head->packet_bytes != ours->packet_bytes)
		return "fabric_packet_bytes differs";
	if (head->ports == 0 || head->ports > VM_PORTS_MAX)
		return "its number of ports is out of range";
	return NULL;
}

static const char *mistake_in_job(const struct vm_address *head,
				  const struct vm_address *ours,
				  uint32_t process)
{
	if (head->job != ours->job)
		return "it belongs to another job";
	if (head->process != process)
		return "it belongs to another process";
	if (strcmp(head->provider, ours->provider) != 0)
		return "it uses another provider (fabric_provider)";
	if (head->format != ours->format)
		return "its addresses have another format";
	if (head->rma != ours->rma)
		return "only one of us has remote memory";
	return NULL;
}

/* Copies the head, if all of it is there. */
static int head_read(const char **why, struct vm_address *head,
		     const void *bytes, size_t length,
		     const struct vm_address *ours)
{
	*why = "it is too short";
	if (length < sizeof(*head))
		return -VMPI_EINVAL;
	memcpy(head, bytes, sizeof(*head));
	*why = mistake_any(head, ours);
	return *why ? -VMPI_EINVAL : 0;
}

static int length_check(const char **why, const struct vm_address *head,
			size_t length)
{
	*why = "its length is wrong";
	return length - sizeof(*head) == (size_t)head->ports *
						 (size_t)head->address_bytes ?
		       0 :
		       -VMPI_EINVAL;
}

int vm_address_check(const char **why, const void *bytes, size_t length,
		     const struct vm_address *ours, uint32_t process)
{
	struct vm_address head;
	int rc = head_read(why, &head, bytes, length, ours);

	if (rc)
		return rc;
	*why = mistake_in_job(&head, ours, process);
	return *why ? -VMPI_EINVAL : length_check(why, &head, length);
}

int vm_address_check_far(const char **why, const void *bytes, size_t length,
			 const struct vm_address *ours)
{
	struct vm_address head;
	int rc = head_read(why, &head, bytes, length, ours);

	return rc ? rc : length_check(why, &head, length);
}

bool vm_address_other_provider(const struct vm_address *head,
			       const struct vm_address *ours)
{
	return !mistake_any(head, ours) && head->job == ours->job &&
	       strcmp(head->provider, ours->provider) != 0;
}

bool vm_address_same_network(const struct vm_address *a,
			     const struct vm_address *b)
{
	return a->format == b->format && a->rma == b->rma &&
	       !strcmp(a->provider, b->provider);
}
