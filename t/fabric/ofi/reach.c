/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which way leads to the address of another host, on a machine that is described.
 */
#include "fabric/ofi/reach.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "tap.h"

static struct vm_nets nets;

static enum vm_reach way(const char *ours, const char *theirs)
{
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	enum vm_reach found;
	char text[64];

	if (inet_pton(AF_INET, theirs, &four.sin_addr) == 1)
		found = vm_reach_find(text, &nets, ours, &four, sizeof(four));
	else if (inet_pton(AF_INET6, theirs, &six.sin6_addr) == 1)
		found = vm_reach_find(text, &nets, ours, &six, sizeof(six));
	else
		bail("%s is no address", theirs);
	if (vm_nets_at(&nets, ours))
		is_string(text, theirs, "%s is named", theirs);
	return found;
}

static void test_ways(void)
{
	const struct vm_net *net = vm_nets_add(&nets, "eth0", VM_NET_WIRED);

	vm_nets_address(&nets, net, "10.1.0.5", 16);
	vm_nets_address(&nets, net, "fd00:1::5", 64);
	net = vm_nets_add(&nets, "ib0", VM_NET_WIRED);
	vm_nets_address(&nets, net, "192.168.3.5", 24);
	is_int(way("10.1.0.5", "10.1.77.9"), VM_REACH_WELL, "in our network");
	is_int(way("fd00:1::5", "fd00:1::9"), VM_REACH_WELL, "of IPv6, too");
	is_int(way("10.1.0.5", "192.168.3.9"), VM_REACH_BESIDE,
	       "in another network of ours");
	is_int(way("192.168.3.5", "10.1.77.9"), VM_REACH_BESIDE,
	       "and the other way round");
	is_int(way("10.1.0.5", "127.0.0.9"), VM_REACH_WELL,
	       "where the system has a route");
	is_int(way("172.16.0.1", "192.168.3.9"), VM_REACH_WELL,
	       "nothing is known without an address of ours");
}

static void test_formats(void)
{
	unsigned char bytes[16] = { 0xfe };
	char text[64];

	is_int(vm_reach_find(text, &nets, "10.1.0.5", bytes, sizeof(bytes)),
	       VM_REACH_WELL, "nor of addresses of another kind");
	is_int(vm_reach_find(text, &nets, "10.1.0.5", bytes, 2), VM_REACH_WELL,
	       "or short ones");
	is_string(text, "", "which have no name");
}

static void test_check(void)
{
	struct vm_address ours = { .magic = VM_ADDRESS_MAGIC,
				   .ports = 1,
				   .format = 2,
				   .provider = "net" };
	struct vm_address theirs = ours;
	struct vm_select select = { 0 };

	theirs.process = 3;
	is_int(vm_reach_check(&select, &theirs, sizeof(theirs), &ours, 3), 0,
	       "without a network all addresses will do");
	is_int(vm_reach_check(&select, &theirs, 7, &ours, 3), -VMPI_EINVAL,
	       "but for those that are none");
	ok(!vm_address_other_provider(&theirs, &ours), "providers agree");
	strcpy(theirs.provider, "verbs");
	ok(vm_address_other_provider(&theirs, &ours), "or not");
	is_int(vm_reach_check(&select, &theirs, sizeof(theirs), &ours, 3),
	       -VMPI_EINVAL, "which is refused");
}

int main(void)
{
	test_ways();
	test_formats();
	test_check();
	return done_testing();
}
