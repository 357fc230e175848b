/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network that is chosen on machines of many kinds, and what is said about
 * the others.
 */
#include "fabric/ofi/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "offers.h"
#include "tap.h"

#define WIRED VM_NET_WIRED
#define IB "IB-0xfe80000000000000"

static struct machine machine;
static struct vm_select select_;

/* Begins the description of a machine, which has loopback. */
static void begin(const char *name)
{
	memset(&machine, 0, sizeof(machine));
	machine.name = name;
	machine_net(&machine, "lo", VM_NET_LOOPBACK, 0, -1, "127.0.0.1", "");
	offers_machine = &machine;
}

static int choose(const char *provider, const char *interface, bool one_host)
{
	return vm_select_init(&select_, &offers_fi,
			      &(struct vm_wish){ .provider = provider,
						 .interface = interface,
						 .one_host = one_host,
						 .nets = &machine.nets });
}

/* "verbs;ofi_rxm mlx5_0 mlx5_1": what was taken. */
static const char *taken(void)
{
	static char text[256];
	const struct vm_choice *first = vm_select_taken(&select_);

	snprintf(text, sizeof(text), "%s", first ? first->provider : "nothing");
	for (unsigned i = 0; i < select_.count; i++)
		if (select_.choices[i].taken)
			snprintf(text + strlen(text),
				 sizeof(text) - strlen(text), " %s",
				 select_.choices[i].domain);
	return text;
}

/* What is said about the first offer of a provider on a domain. */
static const char *why(const char *provider, const char *domain)
{
	for (unsigned i = 0; i < select_.count; i++)
		if (!strcmp(select_.choices[i].provider, provider) &&
		    !strcmp(select_.choices[i].domain, domain))
			return select_.choices[i].why;
	return "it is not listed";
}

static void end(void)
{
	vm_select_fini(&select_, &offers_fi);
	is_int((int)offers_open, 0, "all descriptions are freed");
}

/* The choice on this machine for jobs on several hosts; and on one: TCP over
 * loopback, whatever else there is. */
static void expect(const char *several, const char *one)
{
	choose("", "", false);
	is_string(taken(), several, "%s: %s", machine.name, several);
	vm_select_fini(&select_, &offers_fi);
	choose("", "", true);
	is_string(taken(), one, "... one host: %s", one);
	end();
}

static void infiniband(void)
{
	begin("InfiniBand, the default route over Ethernet");
	machine_net(&machine, "eno1", WIRED, 1000, 0, "10.1.0.5", "r");
	machine_net(&machine, "ib0", WIRED, 100000, 1, "10.2.0.5", "");
	machine_net(&machine, "mlx5_0", VM_NET_DEVICE, 100000, 1, NULL, "");
	machine_offer(&machine, "verbs;ofi_rxd", "mlx5_0-dgram", IB, NULL, 100);
	machine_offer(&machine, "verbs;ofi_rxm", "mlx5_0", IB, "10.2.0.5", 100);
	machine_tcp(&machine, "net");
	expect("verbs;ofi_rxm mlx5_0", "net lo");
	choose("", "", false);
	is_string(why("net", "ib0"), "verbs;ofi_rxm comes first",
		  "TCP is told why not");
	is_string(why("verbs;ofi_rxm", "mlx5_0"),
		  "InfiniBand or RoCE, 100 Gb/s, NUMA node 1",
		  "and the chosen one why");
	end();
	choose("", "eno1", false);
	is_string(taken(), "net eno1", "fabric_interface = eno1 wins");
	is_string(why("verbs;ofi_rxm", "mlx5_0"),
		  "fabric_interface names another one", "and says so");
	end();
	choose("", "ib0", false);
	is_string(taken(), "verbs;ofi_rxm mlx5_0",
		  "the IP interface of a device");
	end();
	choose("tcp", "10.2.0.0/16", false);
	is_string(taken(), "tcp;ofi_rxm ib0", "a network, and a provider");
	end();
	choose("", "mlx5_0", false);
	is_string(taken(), "verbs;ofi_rxm mlx5_0", "the device itself");
	end();
	machine.offers[1].down = true;
	expect("net ib0", "net lo");
	choose("", "", false);
	is_string(why("verbs;ofi_rxm", "mlx5_0"), "its link is down",
		  "a device without a link is left");
	is_string(why("net", "eno1"), "1 Gb/s; ib0 has 100 Gb/s",
		  "then TCP takes the fastest interface");
	end();
}

static void roce(void)
{
	begin("RoCE: two ports of 25 and 100 Gb/s");
	machine_net(&machine, "eth0", WIRED, 25000, 0, "10.1.0.5", "r");
	machine_net(&machine, "eth1", WIRED, 100000, 0, "10.2.0.5", "");
	machine_net(&machine, "mlx5_0", VM_NET_DEVICE, 25000, 0, NULL, "");
	machine_net(&machine, "mlx5_1", VM_NET_DEVICE, 100000, 0, NULL, "");
	machine_offer(&machine, "verbs;ofi_rxm", "mlx5_0", IB, "10.1.0.5", 25);
	machine_offer(&machine, "verbs;ofi_rxm", "mlx5_1", IB, "10.2.0.5", 100);
	machine_tcp(&machine, "tcp");
	expect("verbs;ofi_rxm mlx5_1", "tcp lo");
	choose("", "", false);
	is_string(why("verbs;ofi_rxm", "mlx5_0"),
		  "25 Gb/s; mlx5_1 has 100 Gb/s", "the slower port is told");
	end();
	choose("", "10.1.0.0/24", false);
	is_string(taken(), "verbs;ofi_rxm mlx5_0", "unless it is asked for");
	end();
}

static unsigned distance(int from, int to)
{
	return from == to ? 10 : from / 2 == to / 2 ? 12 : 32;
}

static void slingshot(void)
{
	static const char *const domains[] = { "cxi0", "cxi1", "cxi2", "cxi3" };
	unsigned right = 0;

	begin("Slingshot: four NICs, one per NUMA node");
	machine_net(&machine, "nmn0", WIRED, 1000, 0, "10.252.0.5", "r");
	machine_net(&machine, "hsn0", WIRED, 200000, 3, "10.253.0.5", "");
	for (int i = 0; i < 4; i++) {
		machine_net(&machine, domains[i], VM_NET_DEVICE, 0, 3 - i, NULL,
			    "");
		machine_offer(&machine, "cxi", domains[i], "cxi", NULL, 200);
	}
	machine_tcp(&machine, "tcp");
	expect("cxi cxi0 cxi1 cxi2 cxi3", "tcp lo");
	choose("", "", false);
	for (int numa = 0; numa < 4; numa++)
		right += !strcmp(vm_select_rail(&select_, numa, 5, distance)
					 ->domain_attr->name,
				 domains[3 - numa]);
	is_int((int)right, 4, "each worker uses the NIC of its NUMA node");
	right = 0;
	for (unsigned i = 0; i < 8; i++)
		right += vm_select_rail(&select_, -1, i, distance) ==
			 select_.rails[i % 4].info;
	is_int((int)right, 8, "those without one take turns");
	end();
	choose("", "cxi2", false);
	is_string(taken(), "cxi cxi2", "fabric_interface names one of them");
	end();
}

/* Half of the nodes have a NIC: the nearest one, and turns among equals. */
static void far_rails(void)
{
	begin("Slingshot: two NICs, four NUMA nodes");
	machine_net(&machine, "cxi0", VM_NET_DEVICE, 200000, 0, NULL, "");
	machine_net(&machine, "cxi1", VM_NET_DEVICE, 200000, 2, NULL, "");
	machine_offer(&machine, "cxi", "cxi0", "cxi", NULL, 0);
	machine_offer(&machine, "cxi", "cxi1", "cxi", NULL, 0);
	choose("", "", false);
	is_string(taken(), "cxi cxi0 cxi1", "%s", machine.name);
	ok(vm_select_rail(&select_, 1, 7, distance) == select_.rails[0].info &&
		   vm_select_rail(&select_, 3, 8, distance) ==
			   select_.rails[1].info,
	   "workers without a NIC of their own use the nearest");
	end();
}

static void efa(void)
{
	begin("EFA beside an ordinary interface");
	machine_net(&machine, "ens5", WIRED, 0, 0, "172.31.0.5", "r");
	machine_net(&machine, "docker0", VM_NET_INNER, 0, -1, "172.17.0.1",
		    "d");
	machine_net(&machine, "rdmap0s6", VM_NET_DEVICE, 100000, 0, NULL, "");
	machine_offer(&machine, "efa", "rdmap0s6-rdm", "efa", NULL, 100);
	machine_tcp(&machine, "tcp");
	expect("efa rdmap0s6-rdm", "tcp lo");
}

static void omnipath(void)
{
	begin("Omni-Path with psm2 and opx");
	machine_net(&machine, "eno1", WIRED, 10000, 0, "10.1.0.5", "r");
	machine_net(&machine, "ib0", WIRED, 100000, 0, "10.2.0.5", "");
	machine_net(&machine, "hfi1_0", VM_NET_DEVICE, 100000, 0, NULL, "");
	machine_offer(&machine, "opx", "hfi1_0", "OPX-100", NULL, 0);
	machine_offer(&machine, "psm2", "hfi1_0", "psm2", NULL, 100);
	machine_offer(&machine, "verbs;ofi_rxm", "hfi1_0", IB, "10.2.0.5", 100);
	machine_tcp(&machine, "net");
	expect("psm2 hfi1_0", "net lo");
	choose("opx", "", false);
	is_string(taken(), "opx hfi1_0", "opx if it is named");
	is_string(why("opx", "hfi1_0"),
		  "fabric_provider names it, 100 Gb/s, NUMA "
		  "node 0",
		  "and for that reason");
	end();
	machine.offers[1] = machine.offers[0];
	expect("opx hfi1_0", "net lo");
}

static void two_rails(void)
{
	begin("InfiniBand with two rails in one network");
	machine_net(&machine, "eno1", WIRED, 1000, 0, "10.1.0.5", "r");
	machine_net(&machine, "ib0", WIRED, 200000, 0, "10.2.0.5", "");
	machine_net(&machine, "ib1", WIRED, 200000, 1, "10.2.0.105", "");
	machine_net(&machine, "mlx5_0", VM_NET_DEVICE, 200000, 0, NULL, "");
	machine_net(&machine, "mlx5_1", VM_NET_DEVICE, 200000, 1, NULL, "");
	machine_offer(&machine, "verbs;ofi_rxm", "mlx5_0", IB, "10.2.0.5", 200);
	machine_offer(&machine, "verbs;ofi_rxm", "mlx5_1", IB, "10.2.0.105",
		      200);
	machine_tcp(&machine, "net");
	expect("verbs;ofi_rxm mlx5_0 mlx5_1", "net lo");
	choose("", "", false);
	ok(strstr(why("verbs;ofi_rxm", "mlx5_1"),
		  "NUMA node 1, for the workers next to it") != NULL,
	   "what is said about the second");
	end();
	choose("", "ib1", false);
	is_string(taken(), "verbs;ofi_rxm mlx5_1", "one rail if it is named");
	end();
	begin("InfiniBand with two rails in two networks");
	machine_net(&machine, "ib0", WIRED, 200000, 0, "10.2.0.5", "");
	machine_net(&machine, "ib1", WIRED, 200000, 1, "10.3.0.5", "");
	machine_net(&machine, "mlx5_0", VM_NET_DEVICE, 200000, 0, NULL, "");
	machine_net(&machine, "mlx5_1", VM_NET_DEVICE, 200000, 1, NULL, "");
	machine_offer(&machine, "verbs;ofi_rxm", "mlx5_0", IB, "10.2.0.5", 200);
	machine_offer(&machine, "verbs;ofi_rxm", "mlx5_1", IB, "10.3.0.5", 200);
	machine_tcp(&machine, "net");
	expect("verbs;ofi_rxm mlx5_0", "net lo");
}

static void laptop(void)
{
	begin("a laptop: wireless, a dock without a cable, bridges");
	machine_net(&machine, "enp0s31f6", WIRED, 1000, 0, NULL, "d");
	machine_net(&machine, "wlp2s0", VM_NET_RADIO, 0, 0, "192.168.1.23",
		    "r");
	machine_net(&machine, "docker0", VM_NET_INNER, 10000, -1, "172.17.0.1",
		    "");
	machine_net(&machine, "virbr0", VM_NET_INNER, 0, -1, "192.168.122.1",
		    "");
	machine_offer(&machine, "psm3", "wlp2s0", "psm3", NULL, 1);
	machine_offer(&machine, "shm", "shm", "shm", NULL, 0);
	machine_tcp(&machine, "tcp");
	expect("tcp wlp2s0", "tcp lo");
	choose("", "", false);
	is_string(why("tcp", "docker0"), "bridge inside this host",
		  "bridges lead nowhere");
	is_string(why("psm3", "wlp2s0"),
		  "no hardware for it; TCP does the same",
		  "psm3 over sockets is no gain");
	is_string(why("shm", "shm"), "reaches processes of its own host only",
		  "shm reaches no other host");
	is_string(why("tcp", "lo"), "loopback, which does not leave this host",
		  "nor does loopback");
	end();
}

static void container(void)
{
	begin("a container with only lo");
	machine_tcp(&machine, "tcp");
	expect("tcp lo", "tcp lo");
	choose("", "", false);
	is_int(vm_select_reaches(&select_), -VMPI_EINVAL,
	       "which is refused for several hosts");
	end();
	begin("a container with a virtual interface");
	machine_net(&machine, "eth0", VM_NET_VIRTUAL, 0, -1, "172.17.0.2", "r");
	machine_tcp(&machine, "tcp");
	expect("tcp eth0", "tcp lo");
	choose("", "", false);
	is_int(vm_select_reaches(&select_), 0, "which leads to others");
	end();
}

static void bridges(void)
{
	begin("a server whose network is behind a bridge, and docker0, virbr0");
	machine_net(&machine, "docker0", VM_NET_INNER, 0, -1, "172.17.0.1", "");
	machine_net(&machine, "virbr0", VM_NET_INNER, 0, -1, "192.168.122.1",
		    "");
	machine_net(&machine, "br0", WIRED, 10000, -1, "10.1.0.5", "r");
	machine_tcp(&machine, "net");
	expect("net br0", "net lo");
	choose("", "virbr0", false);
	is_string(taken(), "net virbr0", "which one may ask for");
	end();
	begin("a bridge as the only way out");
	machine_net(&machine, "virbr0", VM_NET_INNER, 0, -1, "192.168.122.1",
		    "");
	machine_net(&machine, "ovs0", VM_NET_INNER, 0, -1, "10.1.0.5", "r");
	machine_tcp(&machine, "net");
	expect("net ovs0", "net lo");
}

static void ucx(void)
{
	begin("InfiniBand with ucx only");
	machine_net(&machine, "eno1", WIRED, 10000, 0, "10.1.0.5", "r");
	machine_offer(&machine, "ucx", "ucx", "ucx", NULL, 100);
	machine_tcp(&machine, "tcp");
	expect("ucx ucx", "tcp lo");
	choose("", "", false);
	ok(select_.info && !(select_.info->caps & FI_RMA),
	   "by messages: its keys are too long for ours");
	end();
	machine_net(&machine, "mlx5_0", VM_NET_DEVICE, 100000, 0, NULL, "");
	machine_net(&machine, "ib0", WIRED, 100000, 0, "10.2.0.5", "");
	machine_offer(&machine, "verbs;ofi_rxm", "mlx5_0", IB, "10.2.0.5", 100);
	expect("verbs;ofi_rxm mlx5_0", "tcp lo");
}

static void psm3(void)
{
	begin("psm3 on an Ethernet device of remote memory");
	machine_net(&machine, "eth0", WIRED, 25000, 0, "10.1.0.5", "r");
	machine_net(&machine, "irdma0", VM_NET_DEVICE, 25000, 0, NULL, "");
	machine_offer(&machine, "psm3", "irdma0", "RoCE-psm3", NULL, 25);
	machine_tcp(&machine, "net");
	expect("psm3 irdma0", "net lo");
	machine_offer(&machine, "verbs;ofi_rxm", "irdma0", IB, "10.1.0.5", 25);
	expect("verbs;ofi_rxm irdma0", "net lo");
	begin("a device that software imitates");
	machine_net(&machine, "eth0", WIRED, 1000, 0, "10.1.0.5", "r");
	machine_net(&machine, "rxe0", VM_NET_EMULATED, 1000, -1, NULL, "");
	machine_offer(&machine, "verbs;ofi_rxm", "rxe0", IB, "10.1.0.5", 1);
	machine_tcp(&machine, "net");
	expect("net eth0", "net lo");
	choose("verbs", "", false);
	is_string(taken(), "verbs;ofi_rxm rxe0", "unless it is named");
	end();
}

static void shm(void)
{
	begin("shm and sockets present");
	machine_net(&machine, "eth0", WIRED, 1000, 0, "10.1.0.5", "r");
	machine_offer(&machine, "shm", "shm", "shm", NULL, 0);
	machine_offer(&machine, "sockets", "eth0", "10.1.0.0/24", "10.1.0.5",
		      0);
	machine_offer(&machine, "newer", "x0", "x", NULL, 400);
	machine_tcp(&machine, "tcp");
	expect("tcp eth0", "tcp lo");
	choose("", "", false);
	is_string(why("newer", "x0"), "unknown; fabric_provider can name it",
		  "an unknown provider is not trusted");
	end();
	choose("newer", "", false);
	is_string(taken(), "newer x0", "unless it is named");
	end();
	is_int(choose("sockets", "", true), -VMPI_EINVAL,
	       "sockets is refused, even if it is named");
	is_string(why("sockets", "eth0"),
		  "obsolete, and stops with messages on their way; tcp does "
		  "the same",
		  "with the reason");
	end();
	choose("shm", "", true);
	is_string(taken(), "shm shm", "shm on one host, if it is named");
	end();
	is_int(choose("shm", "", false), -VMPI_EINVAL,
	       "and refused on several");
	end();
}

static void interfaces(void)
{
	begin("two interfaces of Ethernet");
	machine_net(&machine, "eno1", WIRED, 1000, 0, "10.1.0.5", "r");
	machine_net(&machine, "eno1b", WIRED, 0, 0, NULL, "");
	vm_nets_address(&machine.nets, &machine.nets.list[1], "fd00::5", 64);
	vm_nets_address(&machine.nets, &machine.nets.list[1], "fe80::5", 64);
	machine_net(&machine, "enp65s0", WIRED, 25000, 1, "10.9.0.5", "");
	machine_tcp(&machine, "net");
	expect("net enp65s0", "net lo");
	choose("", "fd00::5", false);
	is_string(vm_select_taken(&select_)->address, "fd00::5",
		  "an address of IPv6 by name");
	end();
	is_int(choose("", "eth77", false), -VMPI_EINVAL,
	       "an interface that is not there");
	end();
	is_int(choose("none", "", false), -VMPI_EINVAL,
	       "a provider that is not there");
	end();
	begin("equal interfaces");
	machine_net(&machine, "eno1", WIRED, 10000, 0, "10.1.0.5", "");
	machine_net(&machine, "eno2", WIRED, 10000, 0, "10.2.0.5", "r");
	machine_tcp(&machine, "net");
	expect("net eno2", "net lo");
	begin("equal interfaces without a default route");
	machine_net(&machine, "eno1", WIRED, 10000, 0, "10.1.0.5", "");
	machine_net(&machine, "eno2", WIRED, 10000, 0, "10.2.0.5", "");
	machine_tcp(&machine, "net");
	expect("net eno1", "net lo");
}

/* Before 1.18 tcp has no endpoints of its own, and net has. */
static void names(void)
{
	begin("libfabric 2");
	machine_tcp(&machine, "tcp");
	choose("net", "", true);
	is_string(taken(), "tcp lo", "net is tcp in libfabric 2");
	end();
	begin("libfabric 1.17");
	machine_tcp(&machine, "net");
	choose("net", "", true);
	is_string(taken(), "net lo", "and itself before");
	end();
	choose("tcp", "", true);
	is_string(taken(), "tcp;ofi_rxm lo", "where tcp needs help");
	end();
}

int main(void)
{
	infiniband();
	roce();
	slingshot();
	far_rails();
	efa();
	omnipath();
	two_rails();
	laptop();
	container();
	bridges();
	ucx();
	psm3();
	shm();
	interfaces();
	names();
	return done_testing();
}
