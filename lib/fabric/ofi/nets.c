/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading interfaces and devices: getifaddrs() has the addresses, sysfs the
 * rest.
 */
#include "fabric/ofi/nets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATH_BYTES 512

/* A path that is too long is cut, and leads nowhere. */
__attribute__((format(printf, 2, 3))) static void
path_make(char path[PATH_BYTES], const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(path, PATH_BYTES, format, values);
	va_end(values);
}

static size_t family_bytes(int family)
{
	return family == AF_INET6 ? 16 : 4;
}

bool vm_net_is_address(const char *text)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, bytes) == 1 ||
	       inet_pton(AF_INET6, text, bytes) == 1;
}

struct vm_net *vm_nets_add(struct vm_nets *nets, const char *name,
			   enum vm_net_kind kind)
{
	struct vm_net *net;

	if (nets->count == VM_NETS_MAX)
		return NULL;
	net = &nets->list[nets->count++];
	*net = (struct vm_net){ .kind = kind, .up = true, .numa = -1 };
	snprintf(net->name, sizeof(net->name), "%.31s", name);
	return net;
}

void vm_nets_address(struct vm_nets *nets, const struct vm_net *net,
		     const char *text, unsigned bits)
{
	struct vm_net_address *address;
	char plain[64];

	if (nets->address_count == VM_NET_ADDRESSES_MAX)
		return;
	address = &nets->addresses[nets->address_count];
	*address = (struct vm_net_address){
		.net = (unsigned)(net - nets->list),
		.family = strchr(text, ':') ? AF_INET6 : AF_INET,
		.bits = bits,
	};
	snprintf(address->text, sizeof(address->text), "%s", text);
	/* An address of one link has the link's name behind it. */
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(text, "%"), text);
	if (inet_pton(address->family, plain, address->bytes) == 1)
		nets->address_count++;
}

/* Whether text is name, or name and the ending that a provider adds to it. */
static bool name_fits(const char *name, const char *text)
{
	size_t length = strlen(name);

	return !strncmp(name, text, length) &&
	       (!text[length] || text[length] == '-');
}

const struct vm_net *vm_nets_find(const struct vm_nets *nets, const char *name)
{
	for (unsigned i = 0; i < nets->count; i++)
		if (!strcmp(nets->list[i].name, name))
			return &nets->list[i];
	for (unsigned i = 0; i < nets->count; i++)
		if (name_fits(nets->list[i].name, name))
			return &nets->list[i];
	return NULL;
}

const struct vm_net_address *vm_nets_at(const struct vm_nets *nets,
					const char *address)
{
	for (unsigned i = 0; i < nets->address_count; i++)
		if (!strcmp(nets->addresses[i].text, address))
			return &nets->addresses[i];
	return NULL;
}

static bool bits_equal(const unsigned char *a, const unsigned char *b,
		       unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	return !memcmp(a, b, whole) &&
	       (!rest || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

bool vm_net_same(const struct vm_net_address *a, const struct vm_net_address *b)
{
	return a->family == b->family &&
	       bits_equal(a->bytes, b->bytes, a->bits);
}

/* Reads "10.1.0.0/16", because interfaces need not have the same name on all
 * hosts. */
static bool network_read(struct vm_net_address *network, const char *text)
{
	const char *slash = strchr(text, '/');
	char plain[64], end;

	if (!slash || slash - text >= (ptrdiff_t)sizeof(plain) ||
	    sscanf(slash, "/%3u%c", &network->bits, &end) != 1)
		return false;
	snprintf(plain, sizeof(plain), "%.*s", (int)(slash - text), text);
	network->family = strchr(plain, ':') ? AF_INET6 : AF_INET;
	return inet_pton(network->family, plain, network->bytes) == 1 &&
	       network->bits <= 8 * family_bytes(network->family);
}

const struct vm_net_address *vm_nets_wanted(const struct vm_nets *nets,
					    const char *wanted)
{
	const struct vm_net_address *found = NULL;
	struct vm_net_address network = { 0 };
	bool is_network = network_read(&network, wanted);

	for (unsigned i = 0; i < nets->address_count; i++) {
		const struct vm_net_address *one = &nets->addresses[i];

		if (is_network ?
			    !vm_net_same(&network, one) :
			    strcmp(nets->list[one->net].name, wanted) != 0 &&
				    strcmp(one->text, wanted) != 0)
			continue;
		if (!found ||
		    (found->family == AF_INET6 && one->family == AF_INET))
			found = one;
	}
	return found;
}

/* The first line of a file below sys, or "". */
static const char *line_read(char line[256], const char *sys, const char *path)
{
	char name[PATH_BYTES];
	FILE *file;

	line[0] = '\0';
	path_make(name, "%s/%s", sys, path);
	file = fopen(name, "re");
	if (file && fgets(line, 256, file))
		line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	return line;
}

static bool is_there(const char *sys, const char *path)
{
	char name[PATH_BYTES];

	path_make(name, "%s/%s", sys, path);
	return access(name, F_OK) == 0;
}

static int numa_read(const char *sys, const char *device)
{
	char path[PATH_BYTES], line[256];

	path_make(path, "%s/numa_node", device);
	return line_read(line, sys, path)[0] ? (int)strtol(line, NULL, 10) : -1;
}

unsigned vm_net_distance(int from, int to)
{
	char path[PATH_BYTES], line[256];
	const char *at = line;

	path_make(path, "devices/system/node/node%d/distance", from);
	line_read(line, "/sys", path);
	for (int i = 0; i < to && at; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (at && *at)
		return (unsigned)strtoul(at, NULL, 10);
	return from == to ? 10 : 20;
}

/* One interface below another one, or NULL: the first with hardware. */
static bool lower_find(char lower[64], const char *sys, const char *path,
		       const char *begin)
{
	char name[PATH_BYTES], device[PATH_BYTES];
	struct dirent *entry;
	DIR *folder;
	bool found = false;

	path_make(name, "%s/%s", sys, path);
	folder = opendir(name);
	while (folder && !found && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.' ||
		    strncmp(entry->d_name, begin, strlen(begin)) != 0)
			continue;
		snprintf(lower, 64, "%.63s", entry->d_name + strlen(begin));
		path_make(device, "class/net/%s/device", lower);
		found = is_there(sys, device);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* The kind of an interface; hardware: the one that carries it. */
static enum vm_net_kind kind_find(char hardware[64], const char *sys,
				  const char *name)
{
	char path[PATH_BYTES];

	snprintf(hardware, 64, "%.63s", name);
	path_make(path, "class/net/%s/wireless", name);
	if (is_there(sys, path))
		return VM_NET_RADIO;
	path_make(path, "class/net/%s/device", name);
	if (is_there(sys, path))
		return VM_NET_WIRED;
	path_make(path, "class/net/%s/brif", name);
	if (is_there(sys, path))
		return lower_find(hardware, sys, path, "") ? VM_NET_WIRED :
							     VM_NET_INNER;
	path_make(path, "class/net/%s", name);
	return lower_find(hardware, sys, path, "lower_") ? VM_NET_WIRED :
							   VM_NET_VIRTUAL;
}

static void interface_read(struct vm_nets *nets, const char *sys,
			   const struct ifaddrs *one)
{
	char path[PATH_BYTES], line[256], hardware[64];
	struct vm_net *net = vm_nets_add(nets, one->ifa_name, VM_NET_LOOPBACK);
	long mbps;

	if (!net)
		return;
	net->up = (one->ifa_flags & (IFF_UP | IFF_RUNNING)) ==
		  (IFF_UP | IFF_RUNNING);
	if (one->ifa_flags & IFF_LOOPBACK)
		return;
	net->kind = kind_find(hardware, sys, one->ifa_name);
	path_make(path, "class/net/%s/device", hardware);
	net->numa = numa_read(sys, path);
	path_make(path, "class/net/%s/speed", one->ifa_name);
	mbps = strtol(line_read(line, sys, path), NULL, 10);
	/* What has no hardware names a speed that means nothing. */
	if (mbps > 0 && net->kind == VM_NET_WIRED)
		net->mbps = (unsigned)mbps;
}

static unsigned mask_bits(const struct sockaddr *mask)
{
	unsigned char bytes[16];
	unsigned bits = 0;

	if (!mask)
		return 0;
	if (mask->sa_family == AF_INET)
		memcpy(bytes,
		       &((const struct sockaddr_in *)(const void *)mask)
				->sin_addr,
		       4);
	else
		memcpy(bytes,
		       &((const struct sockaddr_in6 *)(const void *)mask)
				->sin6_addr,
		       16);
	while (bits < 8 * family_bytes(mask->sa_family) &&
	       bytes[bits / 8] >> (7 - bits % 8) & 1)
		bits++;
	return bits;
}

static void interfaces_read(struct vm_nets *nets, const char *sys)
{
	struct ifaddrs *list, *one;

	if (getifaddrs(&list))
		return;
	for (one = list; one; one = one->ifa_next) {
		const struct sockaddr *a = one->ifa_addr;
		const struct vm_net *net = vm_nets_find(nets, one->ifa_name);
		char text[64];

		if (!net || strcmp(net->name, one->ifa_name) != 0)
			interface_read(nets, sys, one);
		net = vm_nets_find(nets, one->ifa_name);
		if (!net || !a ||
		    (a->sa_family != AF_INET && a->sa_family != AF_INET6) ||
		    getnameinfo(a,
				a->sa_family == AF_INET ?
					sizeof(struct sockaddr_in) :
					sizeof(struct sockaddr_in6),
				text, sizeof(text), NULL, 0, NI_NUMERICHOST))
			continue;
		vm_nets_address(nets, net, text, mask_bits(one->ifa_netmask));
	}
	freeifaddrs(list);
}

/* A device of remote memory; infiniband/mlx5_0, cxi/cxi0. */
static void device_read(struct vm_nets *nets, const char *sys,
			const char *class, const char *name)
{
	char path[PATH_BYTES], line[256];
	struct vm_net *net = vm_nets_add(nets, name, VM_NET_DEVICE);

	if (!net)
		return;
	path_make(path, "class/%s/%s/device", class, name);
	if (!is_there(sys, path))
		net->kind = VM_NET_EMULATED;
	net->numa = numa_read(sys, path);
	path_make(path, "class/%s/%s/ports/1/rate", class, name);
	net->mbps = (unsigned)(1000 * strtod(line_read(line, sys, path), NULL));
	path_make(path, "class/%s/%s/ports/1/state", class, name);
	line_read(line, sys, path);
	net->up = !line[0] || strstr(line, "ACTIVE");
}

static void devices_read(struct vm_nets *nets, const char *sys,
			 const char *class)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *folder;

	path_make(path, "%s/class/%s", sys, class);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			device_read(nets, sys, class, entry->d_name);
	if (folder)
		closedir(folder);
}

/* Our address on the default route, by a UDP socket that sends nothing. */
static void route_find(struct vm_nets *nets)
{
	struct sockaddr_in remote = { .sin_family = AF_INET,
				      .sin_port = htons(9),
				      .sin_addr = { htonl(0x01010101) } };
	struct sockaddr_in local;
	socklen_t bytes = sizeof(local);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&remote, sizeof(remote)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&local, &bytes) == 0)
		for (unsigned i = 0; i < nets->address_count; i++)
			if (nets->addresses[i].family == AF_INET &&
			    !memcmp(nets->addresses[i].bytes, &local.sin_addr,
				    4))
				nets->list[nets->addresses[i].net].route = true;
	close(fd);
}

void vm_nets_read(struct vm_nets *nets, const char *sys)
{
	nets->count = nets->address_count = 0;
	interfaces_read(nets, sys);
	route_find(nets);
	devices_read(nets, sys, "infiniband");
	devices_read(nets, sys, "cxi");
}

void vm_net_speed(char text[24], unsigned mbps)
{
	if (!mbps)
		snprintf(text, 24, "-");
	else if (mbps < 1000)
		snprintf(text, 24, "%u Mb/s", mbps);
	else
		snprintf(text, 24, "%g Gb/s", mbps / 1000.0);
}

const char *vm_net_kind_text(enum vm_net_kind kind)
{
	static const char *const texts[] = {
		[VM_NET_WIRED] = "network interface",
		[VM_NET_RADIO] = "wireless interface",
		[VM_NET_VIRTUAL] = "virtual interface",
		[VM_NET_INNER] = "bridge inside this host",
		[VM_NET_LOOPBACK] = "loopback",
		[VM_NET_DEVICE] = "device of remote memory",
		[VM_NET_EMULATED] = "device that software imitates",
	};

	return texts[kind];
}
