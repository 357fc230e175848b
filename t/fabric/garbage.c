/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Garbage at the listener of each provider of TCP: HTTP, zeros, ones, noise,
 * silence.  Traffic between the members goes on.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "fabric/ofi/address.h"
#include "pair.h"

enum { STRANGERS = 25 };

/* Where the first port of a side listens. */
static bool listener(struct sockaddr_in *address, struct side *side)
{
	unsigned char bytes[VM_ADDRESS_MAX];
	int n = vm_fabric_address(side->fabric, bytes, sizeof(bytes));

	if (n < (int)(sizeof(struct vm_address) + sizeof(*address)))
		return false;
	memcpy(address, bytes + sizeof(struct vm_address), sizeof(*address));
	return address->sin_family == AF_INET;
}

static int stranger(const struct sockaddr_in *address, int kind)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	char bytes[5000];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		bail("nobody listens");
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = kind % 5 == 0 ? 0 :
			   kind % 5 == 1 ? (char)0xff :
					   (char)rand();
	if (kind % 5 == 3)
		memcpy(bytes, http, sizeof(http));
	/* Whether it is taken does not matter. */
	if (kind % 5 != 4 && send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0)
		diag("refused at once");
	return fd;
}

static void run(const char *provider)
{
	static char data[3000];
	struct sockaddr_in address;
	struct pair pair;
	int fds[STRANGERS], sent = 0;

	pair_open(&pair, 1, NULL);
	ok(listener(&address, &pair.side[1]), "%s: listens", provider);
	is_int((int)ntohl(address.sin_addr.s_addr), INADDR_LOOPBACK,
	       "%s: on the loopback interface only", provider);
	for (int i = 0; i < STRANGERS; i++) {
		fds[i] = stranger(&address, i);
		for (int k = 0; k < 20; k++) {
			for (int s = 0; s < 2; s++)
				sent += side_send(&pair.side[s], (uint32_t)!s,
						  0, 0, data,
						  (uint32_t)(i * 100), true,
						  NULL) >= 0;
			pair_poll(&pair);
		}
	}
	POLL_UNTIL(&pair,
		   (int)(pair.side[0].packets + pair.side[1].packets) == sent);
	is_int(sent, STRANGERS * 40, "%s: packets are taken", provider);
	is_int((int)(pair.side[0].faults + pair.side[1].faults), 0,
	       "%s: and arrive whatever strangers send", provider);
	is_int((int)(pair.side[0].downs + pair.side[1].downs), 0,
	       "%s: nobody is given up", provider);
	for (int i = 0; i < STRANGERS; i++)
		close(fds[i]);
	ok(pair_stop(&pair), "%s: both sides end in order", provider);
	pair_close(&pair);
}

int main(void)
{
	vm_clock_init();
	srand(1);
	providers_each(run);
	return done_testing();
}
