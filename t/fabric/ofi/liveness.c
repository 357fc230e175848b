/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether somebody listens at an address.
 */
#include "fabric/ofi/liveness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

/* A port of loopback that is bound, and listened at or not; its address. */
static int port_open(struct sockaddr_in *address, bool listens)
{
	socklen_t bytes = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	if (fd < 0 || bind(fd, (struct sockaddr *)address, bytes) ||
	    (listens && listen(fd, 16)) ||
	    getsockname(fd, (struct sockaddr *)address, &bytes))
		bail("no port of loopback");
	return fd;
}

/* The result of a whole check. */
static bool is_dead(const void *address, size_t bytes)
{
	bool dead;
	int fd = -1;

	do
		dead = vm_liveness_dead(&fd, address, bytes);
	while (fd >= 0);
	return dead;
}

int main(void)
{
	struct sockaddr_in address, other;
	int port = port_open(&address, true), fd = -1;

	ok(!is_dead(&address, sizeof(address)), "who listens is alive");
	close(port);
	/* Bound, so that nobody else takes it. */
	port = port_open(&address, false);
	ok(is_dead(&address, sizeof(address)), "who does not is dead");
	close(port);

	/* Of what cannot be checked nothing is known. */
	other = address;
	other.sin_family = AF_UNIX;
	ok(!is_dead(&other, sizeof(other)), "no address of TCP: not dead");
	ok(!is_dead(&address, 2), "too short: not dead");
	ok(!is_dead(&address, sizeof(struct sockaddr_storage) + 1),
	   "too long: not dead");
	other = address;
	other.sin_addr.s_addr = htonl(INADDR_BROADCAST);
	ok(!is_dead(&other, sizeof(other)), "cannot be reached: not dead");
	vm_liveness_end(&fd);
	is_int(fd, -1, "no check that could end");
	return done_testing();
}
