/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric by itself, between two processes, in turn with libfabric used
 * directly: half round trips of packets, and reading remote memory.
 *
 *	fabric [--quick] [PROVIDER]
 *
 * Prints one row per size: what, bytes, ns by the fabric, ns by libfabric.
 * Both poll without pause.  A packet of the fabric carries 64 bytes of header,
 * the direct message carries none.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "clock.h"
#include "events.h"
#include "fabric/fabric.h"
#include "fabric/ofi/fi.h"
#include "fabric/ofi/select.h"
#include "fabric/packet/vars.h"

#define BYTES_MAX (4u << 20)
#define CHUNK (1u << 20)
#define INFLIGHT 4

static _Noreturn void die(const char *what, int error)
{
	fprintf(stderr, "fabric: %s: %s\n", what, vm_fi_text(error));
	_exit(1);
}

/* Both ends in one struct; the remote one only answers. */
static struct end {
	int socket;
	bool far;
	char *memory, *landing;
	/* The fabric. */
	struct vm_fabric *fabric;
	struct vm_port *port;
	struct vm_remote remote;
	uint64_t arrived, ended;
	/* libfabric. */
	struct vm_select select;
	struct fid_fabric *fid;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	fi_addr_t peer;
	uint64_t raw_address, raw_key;
	uint64_t raw_received, raw_sent;
	struct fi_context2 context[2 + INFLIGHT];
} end;

static void give(const void *bytes, size_t count)
{
	if (send(end.socket, bytes, count, MSG_NOSIGNAL) != (ssize_t)count)
		die("socket", errno);
}

static void take(void *bytes, size_t count)
{
	if (recv(end.socket, bytes, count, MSG_WAITALL) != (ssize_t)count)
		die("socket", errno);
}

/* The other side answers each packet by one of the same size. */
static void packet_send(uint32_t bytes)
{
	static const uint64_t upper[VM_UPPER_BYTES / 8];
	struct vm_send send = { .upper = upper,
				.data = end.memory,
				.bytes = bytes };
	struct vm_to to = { !end.far, 0 };
	int rc;

	while ((rc = vm_port_send(end.port, to, &send, NULL)) == -VMPI_EAGAIN)
		vm_port_poll(end.port, true);
	if (rc < 0)
		die(vmpi_strerror(rc), 0);
}

static void arrived(struct vm_port *port, struct vm_pkt *pkt)
{
	(void)port;
	/* As a receive would do. */
	memcpy(end.landing, pkt->data, pkt->bytes);
	end.arrived++;
	if (end.far)
		packet_send(pkt->bytes);
}

static void down(void *arg, struct vm_port *port, uint32_t process, int error)
{
	(void)arg;
	(void)port;
	(void)process;
	if (error)
		_exit(1);
}

static void fabric_open(void)
{
	static vm_pkt_handler *const handlers[VM_PKT_KINDS] = { arrived };
	struct vm_fabric_config config = { .process = end.far,
					   .processes = 2,
					   .ports = 1,
					   .job_key = 1,
					   .one_host = true,
					   .arrived = handlers,
					   .down = down };
	unsigned char address[VM_ADDRESS_MAX];
	static struct vm_mr mr;
	int n;

	if (vm_fabric_open(&end.fabric, &config) < 0)
		_exit(1);
	end.port = vm_fabric_port(end.fabric, 0);
	n = vm_fabric_address(end.fabric, address, sizeof(address));
	give(&n, sizeof(n));
	give(address, (size_t)n);
	take(&n, sizeof(n));
	take(address, (size_t)n);
	if (vm_fabric_connect(end.fabric, !end.far, address, (size_t)n) < 0)
		_exit(1);
	if (vm_mr_open(end.port, &mr, !end.far, end.memory, BYTES_MAX,
		       VM_MR_READ) < 0)
		_exit(1);
	give(&mr.remote, sizeof(mr.remote));
	take(&end.remote, sizeof(end.remote));
}

/* libfabric as simply as it goes: one endpoint, whole messages. */
static void raw_open(void)
{
	const struct vm_fi *fi = &vm_fi_real;
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_cq_attr cq = { .size = 1024,
				 .format = FI_CQ_FORMAT_DATA,
				 .wait_obj = FI_WAIT_NONE };
	unsigned char name[256];
	size_t bytes = sizeof(name);
	uint64_t region[2];
	int rc = vm_select_init(
		&end.select, fi,
		&(struct vm_wish){ .provider = fabric_cvar.provider,
				   .interface = fabric_cvar.interface,
				   .one_host = true });

	if (rc == 0)
		rc = fi->fabric(end.select.info->fabric_attr, &end.fid);
	if (rc == 0)
		rc = fi->domain(end.fid, end.select.info, &end.domain);
	if (rc == 0)
		rc = fi->av_open(end.domain, &av, &end.av);
	if (rc == 0)
		rc = fi->cq_open(end.domain, &cq, &end.cq);
	if (rc == 0)
		rc = fi->endpoint(end.domain, end.select.info, &end.ep);
	if (rc == 0)
		rc = fi->ep_bind(end.ep, &end.av->fid, 0);
	if (rc == 0)
		rc = fi->ep_bind(end.ep, &end.cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc == 0)
		rc = fi->enable(end.ep);
	if (rc == 0)
		rc = fi->getname(end.ep, name, &bytes);
	if (rc == 0)
		rc = fi->mr_reg(end.domain, end.memory, BYTES_MAX,
				FI_REMOTE_READ | FI_SEND | FI_RECV, 77,
				&end.mr);
	if (rc)
		die("libfabric", rc);
	give(name, bytes);
	take(name, bytes);
	if (fi->av_insert(end.av, name, &end.peer) != 1)
		die("address", FI_EINVAL);
	region[0] = end.select.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
			    (uint64_t)(uintptr_t)end.memory :
			    0;
	region[1] = fi->mr_key(end.mr);
	give(region, sizeof(region));
	take(region, sizeof(region));
	end.raw_address = region[0];
	end.raw_key = region[1];
}

static void raw_poll(void)
{
	int error = events_count(end.cq, &end.raw_received, &end.raw_sent);

	if (error)
		die("events", error);
}

static void raw_receive(size_t bytes)
{
	ssize_t rc = vm_fi_real.recv(end.ep, end.landing, bytes, NULL,
				     &end.context[0]);

	if (rc)
		die("receive", (int)-rc);
}

static void raw_send(size_t bytes)
{
	struct iovec iov = { end.memory, bytes };
	uint64_t sent = end.raw_sent;
	ssize_t rc;

	if (bytes <= end.select.info->tx_attr->inject_size) {
		while ((rc = vm_fi_real.inject(end.ep, end.memory, bytes,
					       end.peer)) == -FI_EAGAIN)
			raw_poll();
		if (rc)
			die("inject", (int)-rc);
		return;
	}
	while ((rc = vm_fi_real.sendv(end.ep, &iov, NULL, 1, end.peer,
				      &end.context[1])) == -FI_EAGAIN)
		raw_poll();
	if (rc)
		die("send", (int)-rc);
	while (end.raw_sent == sent)
		raw_poll();
}

/* A request of one side to the other: n round trips of a kind. */
struct job {
	enum { PACKETS, RAW, SERVE, SERVE_RAW, END } kind;
	uint32_t bytes;
	int n;
};

/* The remote side: answers until it is told to stop. */
static void serve(const struct job *job)
{
	uint64_t until = end.arrived + (uint64_t)job->n;
	char stop = 0;

	switch (job->kind) {
	case PACKETS:
		while (end.arrived < until)
			vm_port_poll(end.port, true);
		break;
	case RAW:
		for (int i = 0; i < job->n; i++) {
			uint64_t received = end.raw_received;

			raw_receive(job->bytes);
			if (i == 0)
				give(&stop, 1);
			while (end.raw_received == received)
				raw_poll();
			raw_send(job->bytes);
		}
		break;
	default:
		while (recv(end.socket, &stop, 1, MSG_DONTWAIT) != 1) {
			for (int i = 0; i < 100; i++) {
				if (job->kind == SERVE)
					vm_port_poll(end.port, true);
				else
					raw_poll();
			}
		}
	}
	give(&stop, 1);
}

static double packets_run(uint32_t bytes, int n)
{
	struct job job = { PACKETS, bytes, n };
	double start;
	char ready;

	give(&job, sizeof(job));
	start = now_ns();
	for (int i = 0; i < n; i++) {
		uint64_t before = end.arrived;

		packet_send(bytes);
		while (end.arrived == before)
			vm_port_poll(end.port, true);
	}
	start = now_ns() - start;
	/* The remote side may have answers that wait for us. */
	while (recv(end.socket, &ready, 1, MSG_DONTWAIT) != 1)
		vm_port_poll(end.port, true);
	return start;
}

static double raw_run(uint32_t bytes, int n)
{
	struct job job = { RAW, bytes, n };
	double start;
	char ready;

	give(&job, sizeof(job));
	take(&ready, 1);
	start = now_ns();
	for (int i = 0; i < n; i++) {
		uint64_t before = end.raw_received;

		raw_receive(bytes);
		raw_send(bytes);
		while (end.raw_received == before)
			raw_poll();
	}
	start = now_ns() - start;
	while (recv(end.socket, &ready, 1, MSG_DONTWAIT) != 1)
		raw_poll();
	return start;
}

static void read_done(struct vm_rma *rma, int error)
{
	(void)rma;
	if (error)
		die(vmpi_strerror(error), 0);
	end.ended++;
}

static double read_run(uint32_t bytes, int n)
{
	struct job job = { SERVE, bytes, n };
	double start;
	char stop = 0;

	give(&job, sizeof(job));
	start = now_ns();
	for (int i = 0; i < n; i++) {
		struct vm_rma rma = { .done = read_done,
				      .to = { 1, 0 },
				      .remote = end.remote,
				      .local = end.landing,
				      .bytes = bytes };
		uint64_t before = end.ended;

		if (vm_rma_read(end.port, &rma) < 0)
			die("read", FI_EIO);
		while (end.ended == before)
			vm_port_poll(end.port, true);
	}
	start = now_ns() - start;
	give(&stop, 1);
	take(&stop, 1);
	return start;
}

/* One read, in chunks, as many under way as the fabric has. */
static void raw_read(size_t bytes)
{
	size_t posted = 0, chunks = 0;
	uint64_t before = end.raw_sent;

	while (posted < bytes || end.raw_sent - before < chunks) {
		size_t left = bytes - posted;
		size_t part = left < CHUNK ? left : CHUNK;
		struct iovec iov = { end.landing + posted, part };
		struct fi_rma_iov remote = { end.raw_address + posted, part,
					     end.raw_key };
		struct fi_msg_rma msg = {
			.msg_iov = &iov,
			.iov_count = 1,
			.addr = end.peer,
			.rma_iov = &remote,
			.rma_iov_count = 1,
			.context = &end.context[2 + chunks % INFLIGHT]
		};

		if (posted < bytes &&
		    chunks - (end.raw_sent - before) < INFLIGHT &&
		    vm_fi_real.readmsg(end.ep, &msg, FI_COMPLETION) == 0) {
			posted += part;
			chunks++;
		}
		raw_poll();
	}
}

static double raw_read_run(uint32_t bytes, int n)
{
	struct job job = { SERVE_RAW, bytes, n };
	double start;
	char stop = 0;

	give(&job, sizeof(job));
	start = now_ns();
	for (int i = 0; i < n; i++)
		raw_read(bytes);
	start = now_ns() - start;
	give(&stop, 1);
	take(&stop, 1);
	return start;
}

/* Measures both in turn and prints a row; per operation, over `share`. */
static void row(const struct effort *effort, const char *what, uint32_t bytes,
		int share, double (*ours)(uint32_t, int),
		double (*theirs)(uint32_t, int))
{
	double a[BATCHES_MAX], b[BATCHES_MAX];
	int n = 20;

	ours(bytes, n);
	theirs(bytes, n);
	n = batch_size(effort, n, theirs(bytes, n));
	for (int i = 0; i < effort->batches; i++) {
		a[i] = ours(bytes, n) / n / share;
		b[i] = theirs(bytes, n) / n / share;
	}
	printf("%s\t%u\t%.0f\t%.0f\n", what, bytes,
	       median_of(a, effort->batches), median_of(b, effort->batches));
	fflush(stdout);
}

static void near_main(const struct effort *effort)
{
	static const uint32_t packets[] = { 8, 64, 1024, 4096, 16000 };
	static const uint32_t reads[] = { 8, 65536, 262144, 1048576, 4194304 };
	struct job job = { .kind = END };

	printf("#%s\n#what\tbytes\tfabric_ns\tlibfabric_ns\n",
	       vm_fabric_limits(end.fabric)->provider);
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		row(effort, "packet", packets[i], 2, packets_run, raw_run);
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		row(effort, "read", reads[i], 1, read_run, raw_read_run);
	give(&job, sizeof(job));
}

static void far_main(void)
{
	struct job job;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		take(&job, sizeof(job));
		if (job.kind == END)
			_exit(0);
		serve(&job);
	}
}

int main(int argc, char **argv)
{
	struct effort effort = effort_of(argc, argv);
	const char *provider = argc > 1 ? argv[argc - 1] : "";
	int fds[2];
	pid_t child;

	vm_clock_init();
	vm_fabric_vars_add();
	if (provider[0] && provider[0] != '-' &&
	    vm_cvar_set("fabric_provider", provider, VM_SOURCE_RUNTIME) < 0)
		return 2;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		die("socketpair", errno);
	child = fork();
	end.far = child == 0;
	end.socket = fds[end.far];
	close(fds[!end.far]);
	end.memory = calloc(1, BYTES_MAX);
	end.landing = calloc(1, BYTES_MAX);
	if (child < 0 || !end.memory || !end.landing)
		die("fork or memory", errno);
	fabric_open();
	raw_open();
	if (end.far)
		far_main();
	near_main(&effort);
	waitpid(child, NULL, 0);
	return 0;
}
