/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces and devices as sysfs describes them, and the addresses that a user
 * may mean.
 */
#include "fabric/ofi/nets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char sys[64];

/* Writes a file below sys, with its folders; text NULL: a folder. */
static void put(const char *path, const char *text)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s%s", sys, path, text ? "" : "/");
	for (char *at = name + strlen(sys) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(name, 0700);
		*at = '/';
	}
	if (!text)
		return;
	file = fopen(name, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		bail("cannot write %s", name);
}

static void devices(void)
{
	static struct vm_nets nets;
	const struct vm_net *net;

	put("class/infiniband/mlx5_0/device/numa_node", "1\n");
	put("class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	put("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	put("class/infiniband/mlx5_1/device/numa_node", "-1\n");
	put("class/infiniband/mlx5_1/ports/1/rate", "2.5 Gb/sec (1X SDR)\n");
	put("class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
	put("class/infiniband/rxe0/ports/1/rate", "10 Gb/sec\n");
	put("class/cxi/cxi0/device/numa_node", "3\n");
	vm_nets_read(&nets, sys);
	net = vm_nets_find(&nets, "mlx5_0-xrc");
	ok(net && net->kind == VM_NET_DEVICE && net->mbps == 100000 &&
		   net->numa == 1 && net->up,
	   "a device of InfiniBand, also by the name of a domain");
	net = vm_nets_find(&nets, "mlx5_1");
	ok(net && !net->up && net->numa == -1 && net->mbps == 2500,
	   "one without a link");
	net = vm_nets_find(&nets, "rxe0");
	ok(net && net->kind == VM_NET_EMULATED, "one without hardware");
	net = vm_nets_find(&nets, "cxi0");
	ok(net && net->numa == 3 && net->up, "one of Slingshot");
	ok(!vm_nets_find(&nets, "mlx5"), "part of a name is none");
	net = vm_nets_find(&nets, "lo");
	ok(net && net->kind == VM_NET_LOOPBACK, "loopback is there");
	ok(vm_nets_wanted(&nets, "127.0.0.0/8") ==
			   vm_nets_at(&nets, "127.0.0.1") &&
		   vm_nets_at(&nets, "127.0.0.1"),
	   "and in its network");
}

static void wishes(void)
{
	static struct vm_nets nets;
	const struct vm_net *a = vm_nets_add(&nets, "a", VM_NET_WIRED);
	const struct vm_net *b = vm_nets_add(&nets, "b", VM_NET_WIRED);

	vm_nets_address(&nets, a, "fd00::1", 64);
	vm_nets_address(&nets, a, "10.1.0.1", 16);
	vm_nets_address(&nets, b, "10.1.128.1", 17);
	vm_nets_address(&nets, b, "fe80::1%b", 64);
	is_string(vm_nets_wanted(&nets, "a")->text, "10.1.0.1",
		  "an interface: IPv4 first");
	is_string(vm_nets_wanted(&nets, "fd00::1")->text, "fd00::1",
		  "an address");
	is_string(vm_nets_wanted(&nets, "10.1.128.0/17")->text, "10.1.128.1",
		  "a network");
	is_string(vm_nets_wanted(&nets, "10.0.0.0/8")->text, "10.1.0.1",
		  "a larger one");
	is_string(vm_nets_wanted(&nets, "fd00::/16")->text, "fd00::1",
		  "one of IPv6");
	ok(!vm_nets_wanted(&nets, "10.2.0.0/16") &&
		   !vm_nets_wanted(&nets, "10.1.0.0/33") &&
		   !vm_nets_wanted(&nets, "10.1.0.0/x") &&
		   !vm_nets_wanted(&nets, "c"),
	   "what is not there");
	ok(vm_net_same(&nets.addresses[1], &nets.addresses[2]) &&
		   !vm_net_same(&nets.addresses[2], &nets.addresses[1]),
	   "the same network, by the bits of the first");
}

static void speeds(void)
{
	char text[24];

	vm_net_speed(text, 0);
	is_string(text, "-", "an unknown speed");
	vm_net_speed(text, 100);
	is_string(text, "100 Mb/s", "a small one");
	vm_net_speed(text, 2500);
	is_string(text, "2.5 Gb/s", "a large one");
}

int main(void)
{
	char remove[128];

	snprintf(sys, sizeof(sys), "/tmp/vmpi-nets-%d", (int)getpid());
	mkdir(sys, 0700);
	devices();
	wishes();
	speeds();
	snprintf(remove, sizeof(remove), "rm -rf %s", sys);
	return system(remove) ? 1 : done_testing();
}
