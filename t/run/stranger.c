/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stranger at the ports of a job:
 *
 *	stranger PROVIDER VMPIRUN_PID VISITS SEED FILE
 *
 * It speaks the provider's language.  First it records packets of a job of its
 * own; then it visits the ports at which the node processes of a running job
 * listen, sends what it has recorded, as it was or changed, also in the name of
 * another process of that job, or noise, and leaves.  FILE is made after so many
 * visits.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "../fabric/pair.h"
#include "fabric/ofi/address.h"

#define RECORDS 200
#define RECORD_BYTES 20000
#define LISTENERS 64
#define SENDS 12 /* in one visit, at most */

static struct record {
	size_t bytes;
	unsigned char data[RECORD_BYTES];
} records[RECORDS];
static atomic_int record_count;

/* By two fabrics; what waits in a batch is sent by another thread. */
static void record(const struct iovec *iov, size_t count)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct record *to;

	pthread_mutex_lock(&lock);
	to = &records[record_count];
	for (size_t i = 0; i < count && record_count < RECORDS; i++) {
		memcpy(to->data + to->bytes, iov[i].iov_base, iov[i].iov_len);
		to->bytes += iov[i].iov_len;
	}
	if (record_count < RECORDS)
		record_count++;
	pthread_mutex_unlock(&lock);
}

static ssize_t recording_sendv(struct fid_ep *ep, const struct iovec *iov,
			       void **desc, size_t count, fi_addr_t to,
			       void *context)
{
	ssize_t rc = vm_fi_real.sendv(ep, iov, desc, count, to, context);

	if (rc == 0)
		record(iov, count);
	return rc;
}

static ssize_t recording_inject(struct fid_ep *ep, const void *buffer,
				size_t bytes, fi_addr_t to)
{
	const struct iovec iov = { (void *)buffer, bytes };
	ssize_t rc = vm_fi_real.inject(ep, buffer, bytes, to);

	if (rc == 0)
		record(&iov, 1);
	return rc;
}

/* Listens to what two processes of another job say to each other. */
static void records_take(void)
{
	struct vm_fi recording = vm_fi_real;
	static char data[16000];
	struct pair pair;

	recording.sendv = recording_sendv;
	recording.inject = recording_inject;
	pair_open(&pair, 1, &recording);
	for (uint32_t i = 0; record_count < RECORDS - 20; i++) {
		for (uint32_t s = 0; s < 2; s++)
			side_send(&pair.side[s], !s, 0, 0, data,
				  i * 977 % sizeof(data), i % 3 == 0, NULL);
		pair_poll(&pair);
	}
	if (!pair_stop(&pair))
		bail("the recorded job does not end");
	pair_close(&pair);
}

/* What one process of another job sends to the other one, from its first byte
 * on, with the words of the provider. */
static unsigned char stream[1 << 16];
static size_t stream_bytes;
static size_t claim_at; /* where it says at which port it listens itself */
static bool claim_little;

struct relay {
	int listener;
	struct sockaddr_in to;
};

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

/* Passes on what comes; false: this end is closed. */
static bool relay_pass(int from, int to, bool keep)
{
	unsigned char bytes[4096];
	ssize_t n = recv(from, bytes, sizeof(bytes), 0);

	if (n <= 0 || send(to, bytes, (size_t)n, MSG_NOSIGNAL) != n)
		return false;
	if (keep && stream_bytes + (size_t)n <= sizeof(stream)) {
		memcpy(stream + stream_bytes, bytes, (size_t)n);
		stream_bytes += (size_t)n;
	}
	return true;
}

static void *relay_main(void *arg)
{
	const struct relay *relay = arg;
	struct pollfd fds[2] = {
		{ accept(relay->listener, NULL, NULL), POLLIN, 0 },
		{ socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), POLLIN, 0 },
	};
	bool goes = fds[0].fd >= 0 &&
		    connect(fds[1].fd, (const struct sockaddr *)&relay->to,
			    sizeof(relay->to)) == 0;

	while (goes && poll(fds, 2, -1) > 0)
		for (int i = 0; i < 2; i++)
			if (fds[i].revents)
				goes &= relay_pass(fds[i].fd, fds[!i].fd,
						   i == 0);
	close(fds[0].fd);
	close(fds[1].fd);
	return NULL;
}

/* Where the first port of a side listens, in what it publishes. */
static struct sockaddr_in *listener_in(unsigned char *bytes)
{
	return (struct sockaddr_in *)(bytes + sizeof(struct vm_address));
}

/* Finds where the stream says its port. */
static void claim_find(uint16_t port)
{
	const unsigned char high = (unsigned char)(port >> 8),
			    low = (unsigned char)port;

	for (size_t i = 0; i < 120 && i + 1 < stream_bytes; i++) {
		claim_little = stream[i] == low && stream[i + 1] == high;
		if (claim_little || (stream[i] == high && stream[i + 1] == low))
			claim_at = i;
		if (claim_at)
			return;
	}
	bail("the stream names no port");
}

/* Records a stream. */
static void stream_take(void)
{
	unsigned char address[2][VM_ADDRESS_MAX];
	static char data[16000];
	struct relay relay = { socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			       loopback(0) };
	socklen_t length = sizeof(relay.to);
	struct pair pair;
	pthread_t thread;
	int bytes[2];

	for (uint32_t i = 0; i < 2; i++) {
		if (side_open(&pair.side[i], i, 1, NULL) < 0)
			bail("no job to be recorded");
		bytes[i] = vm_fabric_address(pair.side[i].fabric, address[i],
					     VM_ADDRESS_MAX);
	}
	if (bind(relay.listener, (struct sockaddr *)&relay.to, length) ||
	    listen(relay.listener, 1) ||
	    getsockname(relay.listener, (struct sockaddr *)&relay.to, &length))
		bail("no relay");
	vm_fabric_connect(pair.side[1].fabric, 0, address[0], (size_t)bytes[0]);
	length = relay.to.sin_port;
	relay.to = *listener_in(address[1]);
	listener_in(address[1])->sin_port = (in_port_t)length;
	vm_fabric_connect(pair.side[0].fabric, 1, address[1], (size_t)bytes[1]);
	pthread_create(&thread, NULL, relay_main, &relay);
	for (uint32_t i = 0; i < 20; pair_poll(&pair))
		i += side_send(&pair.side[0], 1, 0, 0, data,
			       i * 977 % sizeof(data), i % 3 == 0, NULL) >= 0;
	POLL_UNTIL(&pair, pair.side[1].packets == 20);
	if (!pair_stop(&pair))
		bail("the recorded job does not end");
	pair_close(&pair);
	pthread_join(thread, NULL);
	close(relay.listener);
	claim_find(ntohs(listener_in(address[0])->sin_port));
}

/* Whether that process is a child of the other one. */
static bool is_child(const char *pid, int parent)
{
	char path[300], text[512];
	const char *at;
	ssize_t n;
	int fd, found = 0;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	at = strrchr(text, ')');
	return at && sscanf(at + 1, " %*c %d", &found) == 1 && found == parent;
}

/* The port at which somebody listens by that socket, or 0. */
static uint16_t port_of(unsigned long inode)
{
	FILE *file = fopen("/proc/net/tcp", "re");
	unsigned long found;
	unsigned port = 0, state, address, result = 0;
	char line[512];

	while (file && !result && fgets(line, sizeof(line), file))
		if (sscanf(line,
			   " %*d: %x:%x %*x:%*x %x %*s %*s %*s %*s %*s %lu",
			   &address, &port, &state, &found) == 4 &&
		    state == 10 && found == inode &&
		    address == htonl(INADDR_LOOPBACK))
			result = port;
	if (file)
		fclose(file);
	return (uint16_t)result;
}

/* Adds the ports at which a process listens. */
static int listeners_add(const char *pid, uint16_t *ports, int count)
{
	char path[300], name[64];
	struct dirent *entry;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	fds = opendir(path);
	while (fds && (entry = readdir(fds)) && count < LISTENERS) {
		unsigned long inode;
		ssize_t n = readlinkat(dirfd(fds), entry->d_name, name,
				       sizeof(name) - 1);

		if (n <= 0)
			continue;
		name[n] = 0;
		if (sscanf(name, "socket:[%lu]", &inode) != 1)
			continue;
		ports[count] = port_of(inode);
		count += ports[count] != 0;
	}
	if (fds)
		closedir(fds);
	return count;
}

/* The ports at which the children of a process listen. */
static int listeners(int parent, uint16_t *ports)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	while (processes && (entry = readdir(processes)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    is_child(entry->d_name, parent))
			count = listeners_add(entry->d_name, ports, count);
	if (processes)
		closedir(processes);
	return count;
}

/* Changes a recorded packet; its new length. */
static size_t mutate(unsigned char *data, size_t bytes)
{
	switch (rand() % 6) {
	case 0: /* as it was */
		break;
	case 1: /* the numbers that change from packet to packet */
		for (int i = 0; i < 4; i++)
			data[16 + rand() % 16] = (unsigned char)rand();
		break;
	case 2:
		for (int i = 0; i < 8 && bytes; i++)
			data[(size_t)rand() % bytes] ^=
				(unsigned char)(1u << rand() % 8);
		break;
	case 3:
		bytes = (size_t)rand() % (bytes + 1);
		break;
	case 4: /* longer than any packet */
		bytes = RECORD_BYTES - (size_t)rand() % 100;
		break;
	default:
		for (size_t i = 0; i < bytes; i++)
			data[i] = (unsigned char)rand();
	}
	return bytes;
}

/* Sends a few packets as a member of another job. */
static void visit(uint16_t port_number)
{
	const struct sockaddr_in address = loopback(port_number);
	static unsigned char data[SENDS][RECORD_BYTES];
	static struct fi_context2 contexts[SENDS];
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry error = { 0 };
	struct side side;
	struct vm_port *port;
	fi_addr_t to;
	int sends = 1 + rand() % SENDS, tries = 0;

	if (side_open(&side, 0, 1, NULL) < 0)
		bail("no stranger");
	port = vm_fabric_port(side.fabric, 0);
	if (port->fi->av_insert(port->av, &address, &to) != 1)
		bail("the stranger finds nobody");
	for (int i = 0; i < sends; i++) {
		const struct record *from = &records[rand() % record_count];
		struct iovec iov = { data[i], 0 };
		void *desc = NULL;

		memcpy(data[i], from->data, RECORD_BYTES);
		iov.iov_len = mutate(data[i], from->bytes);
		while (port->fi->sendv(port->ep, &iov, &desc, 1, to,
				       &contexts[i]) &&
		       tries++ < 300)
			if (port->fi->cq_read(port->cq, &entry, 1) ==
			    -FI_EAVAIL)
				port->fi->cq_readerr(port->cq, &error);
	}
	/* What is under way goes, or not. */
	for (int i = rand() % 300; i > 0; i--)
		if (port->fi->cq_read(port->cq, &entry, 1) == -FI_EAVAIL)
			port->fi->cq_readerr(port->cq, &error);
	vm_fabric_close(side.fabric);
}

/* Sends bytes without the provider, and waits for an answer or a moment. */
static void visit_raw(uint16_t port_number, const void *bytes, size_t count)
{
	const struct sockaddr_in address = loopback(port_number);
	struct pollfd fd = { socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			     POLLIN, 0 };

	/* Who has ended meanwhile listens no more, and nothing of it matters
	 * but that the job goes on. */
	if (fd.fd >= 0 &&
	    connect(fd.fd, (const struct sockaddr *)&address,
		    sizeof(address)) == 0 &&
	    send(fd.fd, bytes, count, MSG_NOSIGNAL) < 0)
		diag("refused at once");
	poll(&fd, 1, rand() % 10);
	if (fd.fd >= 0)
		close(fd.fd);
}

static void visit_noise(uint16_t port_number)
{
	unsigned char bytes[2000];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)rand();
	visit_raw(port_number, bytes, (size_t)rand() % sizeof(bytes));
}

/* Replays a stream, as it was or in the name of somebody who listens at another
 * port. */
static void visit_again(uint16_t port_number, uint16_t claimed)
{
	unsigned char bytes[sizeof(stream)];

	memcpy(bytes, stream, stream_bytes);
	if (claimed) {
		bytes[claim_at + !claim_little] = (unsigned char)claimed;
		bytes[claim_at + claim_little] = (unsigned char)(claimed >> 8);
	}
	visit_raw(port_number, bytes, stream_bytes);
}

int main(int argc, char **argv)
{
	uint16_t ports[LISTENERS];
	int visits = 0, wanted, parent, fd;

	if (argc != 6)
		bail("stranger PROVIDER VMPIRUN_PID VISITS SEED FILE");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	vm_clock_init();
	parent = (int)strtol(argv[2], NULL, 10);
	wanted = (int)strtol(argv[3], NULL, 10);
	srand((unsigned)strtol(argv[4], NULL, 10));
	if (!provider_use(argv[1]))
		bail("no provider %s", argv[1]);
	records_take();
	stream_take();
	while (visits < wanted && kill(parent, 0) == 0) {
		int count = listeners(parent, ports);
		uint16_t port = count ? ports[rand() % count] : 0;

		if (!count) {
			usleep(500);
			continue;
		}
		switch (rand() % 4) {
		case 0:
			visit(port);
			break;
		case 1:
			visit_noise(port);
			break;
		case 2:
			visit_again(port, 0);
			break;
		default:
			/* A claim may crash this provider. */
			visit_again(port, strstr(argv[1], "ofi_rxm") ?
						  0 :
						  ports[rand() % count]);
		}
		visits++;
	}
	fd = open(argv[5], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		bail("cannot make %s", argv[5]);
	close(fd);
	return 0;
}
