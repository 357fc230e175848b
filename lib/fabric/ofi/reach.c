/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks for a route only where an address is outside the chosen network: a socket
 * of datagrams that is connected sends nothing.
 */
#include "fabric/ofi/reach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

#define WHAT_TO_SET                                                       \
	"fabric_interface names one that all hosts have, as 10.1.0.0/16 " \
	"on all alike"

/* Their address without its port; false: not of IP. */
static bool theirs_read(struct vm_net_address *address, const void *theirs,
			size_t bytes)
{
	const struct sockaddr_in6 *six = theirs;
	const struct sockaddr_in *four = theirs;

	*address = (struct vm_net_address){ 0 };
	if (bytes >= sizeof(*four) && four->sin_family == AF_INET) {
		address->family = AF_INET;
		memcpy(address->bytes, &four->sin_addr, 4);
	} else if (bytes >= sizeof(*six) && six->sin6_family == AF_INET6) {
		address->family = AF_INET6;
		memcpy(address->bytes, &six->sin6_addr, 16);
	} else {
		return false;
	}
	return inet_ntop(address->family, address->bytes, address->text,
			 sizeof(address->text)) != NULL;
}

/* Whether the system has no way to there. */
static bool is_routeless(const void *theirs, size_t bytes)
{
	const struct sockaddr *to = theirs;
	int fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool none;

	if (fd < 0)
		return false;
	none = connect(fd, to, (socklen_t)bytes) != 0 &&
	       (errno == ENETUNREACH || errno == EHOSTUNREACH);
	close(fd);
	return none;
}

enum vm_reach vm_reach_find(char text[64], const struct vm_nets *nets,
			    const char *ours, const void *theirs, size_t bytes)
{
	const struct vm_net_address *own = vm_nets_at(nets, ours);
	struct vm_net_address to;

	text[0] = '\0';
	if (!own || !theirs_read(&to, theirs, bytes))
		return VM_REACH_WELL;
	memcpy(text, to.text, sizeof(to.text));
	if (vm_net_same(own, &to))
		return VM_REACH_WELL;
	for (unsigned i = 0; i < nets->address_count; i++)
		if (nets->addresses[i].net != own->net &&
		    vm_net_same(&nets->addresses[i], &to))
			return VM_REACH_BESIDE;
	return is_routeless(theirs, bytes) ? VM_REACH_NOT : VM_REACH_WELL;
}

/* Looks at the first port of theirs, which is like the others. */
static int way_check(struct vm_select *select, const struct vm_address *head,
		     const unsigned char *port, uint32_t own, uint32_t process)
{
	const struct vm_choice *taken = vm_select_taken(select);
	char text[64];
	enum vm_reach way;

	if (!taken || select->wish.one_host || !head->address_bytes)
		return 0;
	way = vm_reach_find(text, select->wish.nets, taken->address, port,
			    head->address_bytes);
	if (way == VM_REACH_NOT) {
		vm_log(VM_ERROR,
		       "process %u of the job is at %s, to which there is no "
		       "route from here (%s, %s): " WHAT_TO_SET,
		       process, text, taken->address, taken->domain);
		return -VMPI_EINVAL;
	}
	if (way == VM_REACH_BESIDE && own == 0 && !select->warned) {
		select->warned = true;
		vm_log(VM_WARN,
		       "hosts of the job use different networks, %s here (%s) "
		       "and %s of process %u: " WHAT_TO_SET,
		       taken->address, taken->domain, text, process);
	}
	return 0;
}

int vm_reach_check(struct vm_select *select, const void *bytes, size_t length,
		   const struct vm_address *ours, uint32_t process)
{
	struct vm_address head;
	const char *why;

	if (vm_address_check(&why, bytes, length, ours, process)) {
		if (length >= sizeof(head))
			memcpy(&head, bytes, sizeof(head));
		if (length >= sizeof(head) &&
		    vm_address_other_provider(&head, ours))
			vm_log(VM_ERROR,
			       "process %u of the job uses the provider %s, "
			       "this one %s: fabric_provider names one that all "
			       "hosts have, which vmpi_info --fabric lists",
			       process, head.provider, ours->provider);
		else
			vm_log(VM_ERROR, "the address of process %u: %s",
			       process, why);
		return -VMPI_EINVAL;
	}
	memcpy(&head, bytes, sizeof(head));
	return way_check(select, &head,
			 (const unsigned char *)bytes + sizeof(head),
			 ours->process, process);
}

void vm_reach_lost(const void *theirs, size_t bytes, int error)
{
	static atomic_bool said;
	struct vm_net_address to;

	if ((error != EHOSTUNREACH && error != ENETUNREACH &&
	     error != ETIMEDOUT) ||
	    !theirs_read(&to, theirs, bytes) ||
	    atomic_exchange_explicit(&said, true, memory_order_relaxed))
		return;
	vm_log(VM_WARN,
	       "another process of the job, at %s, is not reached: %s; "
	       "trying on. If the network is the wrong one: " WHAT_TO_SET,
	       to.text, strerror(error));
}
