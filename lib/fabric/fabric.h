/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric: packets and remote memory between processes.
 *
 * A process opens one fabric with some ports, usually one per worker.  A port
 * sends packets to ports of other processes, in order and without loss, and
 * reads and writes their registered memory.  The fabric knows processes by
 * number; the 32 bytes of header that the layer above sends along with each
 * packet mean nothing to it.
 */
#ifndef FABRIC_FABRIC_H
#define FABRIC_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "fabric/ofi/address.h"
#include "fabric/packet/view.h"
#include "fabric/shm/lane.h"
#include "fabric/shm/load.h"

/*
 * Arrivals and ends of operations are reported by callbacks, and only from
 * vm_port_poll(): nothing moves unless somebody polls, except small packets
 * that were held back for a moment to go together.
 *
 * Threads.  Every function may be called by any thread at any time, except
 * open, connect, stop and close, which one thread calls.  Callbacks run in the
 * thread that polls; those of one port never run at the same time and come in
 * order. They may call everything here but poll, sleep and the functions of the
 * one thread, and must not switch ULTs.  No function switches ULTs, and only
 * vm_fabric_stop() waits for another process.
 *
 * Errors are returned or handed to callbacks as negative VMPI_E...: -VMPI_EPEER
 * when the other process is dead or has left.
 *
 * A process may talk to itself: packets and remote memory to its own number go
 * by the loop, which is as fast as memory unless the link model slows it down.
 */

#define VM_ADDRESS_MAX 8192 /* bytes of the largest vm_fabric_address() */

struct vm_board;
struct vm_board_own;
struct vm_fabric;
struct vm_overlap;
struct vm_port;
struct vm_fi; /* fabric/ofi/fi.h */
struct fabric_port_pvars;
struct fabric_node_pvars;

/* A packet of some kind has come; it is valid until the return, or kept. */
typedef void vm_pkt_handler(struct vm_port *port, struct vm_pkt *pkt);

#define VM_PKT_KINDS 256

struct vm_fabric_config {
	uint32_t process, processes; /* our number, and how many there are */
	/* So many of other jobs may be connected later: their numbers follow. */
	uint32_t guests;
	unsigned ports; /* requested; fabric_ports and the provider limit it */
	uint64_t job_key; /* random, the same in all processes of the job */
	bool one_host;	  /* all processes are on this host: use loopback */
	/* Opens no network: shared memory is to reach all others.  -VMPI_ENOTSUP:
	 * the settings ask for a network, or there is no memory to share. */
	bool near;
	bool crowded; /* others of the job may need our processors */
	vm_pkt_handler *const *arrived; /* for each of VM_PKT_KINDS kinds */
	/*
	 * The kind that is answered by much data, behind which all other answers
	 * would wait: what else has come by the same poll, or meanwhile, is
	 * handled first.  0: none.
	 */
	uint8_t asking;
	/*
	 * A card has come (vm_fabric_card_put()), which is taken if somebody waits
	 * for it, or if it `must`; whether it was.  NULL: none come.
	 */
	bool (*card)(void *arg, const struct vm_card *card, bool must);
	/* What handlers have held back (vm_pkt_followed()); may be NULL. */
	void (*held)(void *held);
	/*
	 * A process is dead or has left: called once per process and port, by a
	 * poll of that port, with or without contact.  Operations with it on
	 * this port end with -VMPI_EPEER.  error is 0 when it said goodbye (all
	 * it sent has been delivered), else everything that had arrived has
	 * been delivered.
	 */
	void (*down)(void *arg, struct vm_port *port, uint32_t process,
		     int error);
	/*
	 * Data to that port that were refused with -VMPI_EAGAIN are worth
	 * another try: called by a poll of the port that refused them.  May be
	 * NULL.
	 */
	void (*room)(void *arg, struct vm_port *port, uint32_t process,
		     uint32_t remote);
	/*
	 * A write with that notice (vm_rma_write()) has put all its data here:
	 * called by a poll of the port.  May be NULL.
	 */
	void (*noticed)(void *arg, struct vm_port *port, uint32_t notice);
	/*
	 * The packets of a port have so many bytes more (negative: less) than
	 * before, `total` from now on: called under the port's lock, also
	 * during open and close.  May be NULL.
	 */
	void (*pool)(void *arg, struct vm_port *port, int64_t bytes,
		     uint64_t total);
	/*
	 * The NUMA node of the worker that polls a port, or -1: the port uses the
	 * nearest of several equal networks.  May be NULL.
	 */
	int (*numa)(void *arg, unsigned port);
	void *arg;
	const struct vm_fi *fi; /* NULL: libfabric; tests hand in another */
};

/*
 * Opens the ports.  With processes == 1 no provider is needed.  -VMPI_ENOMEM,
 * -VMPI_EINVAL, -VMPI_ENOTSUP (no provider fits; logged with the reasons),
 * -VMPI_EIO.  Call before other threads run ULTs: providers may start threads
 * and read memory.
 */
int vm_fabric_open(struct vm_fabric **fabric,
		   const struct vm_fabric_config *config);

/* Writes the address that others need to reach us, as opaque bytes to publish.
 * Returns its length, or -VMPI_EINVAL when bytes are too few. */
int vm_fabric_address(struct vm_fabric *fabric, void *address, size_t bytes);

/*
 * Makes a process known by its published address: everything is checked.
 * -VMPI_EINVAL, logged: malformed, another version, another job, another
 * provider.  Nothing is sent; both sides must be connected before one sends.
 */
int vm_fabric_connect(struct vm_fabric *fabric, uint32_t process,
		      const void *address, size_t bytes);

/* Another job's process, and what it knows us as. */
struct vm_fabric_guest {
	const void *address;
	size_t bytes;
	uint64_t job_key; /* of its job */
	uint32_t there;	  /* our number there, as its guest */
};

/* Makes one known by a number that nobody has had: -VMPI_EINVAL as above;
 * -VMPI_ENOTSUP, logged: there is no way to it. */
int vm_fabric_connect_guest(struct vm_fabric *fabric, uint32_t process,
			    const struct vm_fabric_guest *guest);

uint64_t vm_fabric_key(const struct vm_fabric *fabric);

/* Frees everything.  No kept packets, no registered memory are left. */
void vm_fabric_close(struct vm_fabric *fabric);

/* Limits and abilities; constant after the open. */
struct vm_fabric_limits {
	unsigned ports;
	uint32_t packet_bytes; /* largest payload of a packet */
	uint32_t data_bytes;   /* ... of data, which may go in several */
	uint32_t batch_bytes;  /* longest packet that goes in a batch */
	bool rma;	       /* vm_rma_*() work over the network */
	bool sockets;	       /* ... whose provider copies data in and out */
	const char *provider;  /* "net", "tcp;ofi_rxm"; "loop": no network */
};
const struct vm_fabric_limits *vm_fabric_limits(struct vm_fabric *fabric);

struct vm_port *vm_fabric_port(struct vm_fabric *fabric, unsigned index);
unsigned vm_port_index(const struct vm_port *port);

/* The number of ports of a connected process; its own: ours. */
unsigned vm_fabric_peer_ports(struct vm_fabric *fabric, uint32_t process);

/* Whether that process can read and write our memory by vm_rma_*(). */
bool vm_fabric_moves(struct vm_fabric *fabric, uint32_t process);

/* Whether writes to that process can carry a notice. */
bool vm_fabric_notices(struct vm_fabric *fabric, uint32_t process);

/* Whether only a network reaches that process, and its provider moves data by
 * sockets, so that remote reads and writes save no copy. */
bool vm_fabric_by_sockets(struct vm_fabric *fabric, uint32_t process);

/* Whether all processes of the job share memory with all others, and enough of it:
 * all see the same, once each has connected all others. */
bool vm_fabric_all_near(const struct vm_fabric *fabric);

/* Whether it is on this host, and we can read and write its memory at once. */
bool vm_fabric_near(struct vm_fabric *fabric, uint32_t process);

/* Our board (fabric/shm/board.h), and that of a process of this host; NULL: there is
 * none. */
struct vm_board_own *vm_fabric_board(struct vm_fabric *fabric);
struct vm_board *vm_fabric_board_of(const struct vm_fabric *fabric,
				    uint32_t process);

/* Whether it is one of the job that shares memory with us, and others of the job may
 * need its processors: the same for all who ask, as long as the job runs. */
bool vm_fabric_crowded(const struct vm_fabric *fabric, uint32_t process);

/*
 * Declares a process dead, as the launcher says.  Everything that waits for it
 * ends with -VMPI_EPEER at the next polls, new operations are refused.
 */
void vm_fabric_peer_dead(struct vm_fabric *fabric, uint32_t process);
/* A descriptor that is readable once the process, of the job and of this host, has
 * ended; given once, to who closes it.  -1: none. */
int vm_fabric_end_fd(struct vm_fabric *fabric, uint32_t process);
/* Then: it is dead, unless it had left in order. */
void vm_fabric_peer_ended(struct vm_fabric *fabric, uint32_t process);
bool vm_fabric_peer_alive(struct vm_fabric *fabric, uint32_t process);
/* How many processes are not. */
uint32_t vm_fabric_deaths(struct vm_fabric *fabric);

/*
 * Checks whether a process is still there, and gives it up if not; the answer
 * may have to wait for the next call, so this never waits.  Only where
 * processes have addresses of TCP; others are assumed to be alive.  A look
 * belongs to one thread, begins as zeros, is about one process, and ends before
 * the fabric closes.
 */
struct vm_look {
	int fd; /* what was asked, + 1 */
};

void vm_fabric_look(struct vm_fabric *fabric, uint32_t process,
		    struct vm_look *look);
void vm_fabric_look_end(struct vm_look *look);

/*
 * Sending.
 *
 * Packets of one port to one port of one process arrive in the order of the
 * calls.  There are two classes:
 *
 * Data takes a credit of the receiver, which returns when the packet is
 * released there: packets that the layer above keeps (unexpected messages) stop
 * the sender.  Without a credit the call returns -VMPI_EAGAIN and nothing is
 * queued: the caller tries again when it is told that there is room.  When the
 * receiver keeps all it may and releases nothing the call returns -VMPI_ELIMIT:
 * waiting may be in vain, so the message is announced by a control packet
 * instead.
 *
 * Control packets are always taken.  They need no credit, so that a flood of
 * data never blocks them; the layer above bounds how many are outstanding, and
 * keeps none of them for long.
 */
struct vm_to {
	uint32_t process;
	uint32_t port; /* index at the receiver */
};

struct vm_send {
	const void *upper; /* VM_UPPER_BYTES of header, copied */
	const void *data;
	uint32_t bytes; /* at most packet_bytes; of data, data_bytes */
	uint8_t kind;	/* of the layer above; comes out as pkt->kind */
	bool control;
	/* The rank whose transfer it is, from now until the data have left; or
	 * NULL. */
	struct vm_overlap *overlap;
};

/* A send that refers to the caller's memory: valid until done is called. */
struct vm_send_op {
	/* Called by a poll: the data have arrived, or never will (error). */
	void (*done)(struct vm_send_op *op, int error);
};

/*
 * Sends a packet.  0: taken, the data have been copied and op is not used.
 * VM_PENDING: the data must stay until op->done is called.  -VMPI_EAGAIN: no
 * credit, or too much waits already.  -VMPI_ELIMIT: that will not change soon.
 * -VMPI_EPEER, -VMPI_ENOMEM.  With op == NULL the data are always copied; else
 * short ones are (fabric_copy_limit).  Packets that the network cannot take now
 * wait in the port, in order.
 *
 * Data beyond packet_bytes go in several packets, each of which takes a credit,
 * and arrive as one.  They are always copied; -VMPI_ELIMIT when there are not
 * enough credits, because waiting for so many may be in vain.
 */
int vm_port_send(struct vm_port *port, struct vm_to to,
		 const struct vm_send *send, struct vm_send_op *op);

/*
 * Cards: messages of at most VM_CARD_BYTES to a process of the job whose processors
 * are shared (vm_fabric_crowded()), which stay where they were written until
 * somebody wants them: polls hand up those that are waited for.  No order among
 * packets.  Whether they reach a process; false: there is no room now.
 */
bool vm_fabric_cards_reach(struct vm_fabric *fabric, uint32_t process);
bool vm_fabric_card_put(struct vm_fabric *fabric, uint32_t process,
			const struct vm_card_head *head, const void *data);

/* The oldest card of a process, which nobody else takes until
 * vm_fabric_card_end(); NULL: there is none now.  It may change: the other process
 * can write there. */
const struct vm_card *vm_fabric_card_look(struct vm_fabric *fabric,
					  uint32_t process);
void vm_fabric_card_end(struct vm_fabric *fabric, uint32_t process, bool took);

/* Credits left for data to that port; a hint for the choice of protocol. */
unsigned vm_port_credits(struct vm_port *port, struct vm_to to);

/*
 * Inside its handler: the packet stays with the caller until vm_pkt_release(),
 * by any thread.  Use the result from then on, not pkt: a short payload is
 * moved to a packet of its size.  Never fails.
 */
struct vm_pkt *vm_pkt_keep(struct vm_pkt *pkt);
void vm_pkt_release(struct vm_pkt *pkt);

/* Inside its handler: whether another one has come right behind it, so that the
 * handler may hold something back (pkt->held). */
bool vm_pkt_followed(struct vm_port *port, const struct vm_pkt *pkt);

/*
 * Remote memory.  A region is registered at the port that the other process
 * will name in its reads and writes, and for the shortest possible time: any
 * process that knows its random key may use it.
 */
enum vm_mr_access { VM_MR_READ = 1, VM_MR_WRITE = 2 }; /* by others */

/* The place of memory in another process, as that process says; travels in
 * packets. */
struct vm_remote {
	uint64_t address; /* of its first byte; add offsets to it */
	uint64_t key;
};

struct vm_mr {
	struct vm_remote remote; /* to be sent to the other process */
	/* The fabric's own. */
	void *handle;
	const void *base;
	size_t bytes;
	struct vm_port *port;
	struct vm_list link;
	unsigned access;
};

/* Lets another process access bytes at base.  Where vm_fabric_moves() is false
 * for it nobody can.  -VMPI_ENOMEM, -VMPI_EIO. */
int vm_mr_open(struct vm_port *port, struct vm_mr *mr, uint32_t process,
	       const void *base, size_t bytes, unsigned access);
void vm_mr_close(struct vm_mr *mr);

/*
 * A read or write; filled by the caller up to the line, valid until done is
 * called.  Large ones go in chunks, a few in flight at a time.
 */
struct vm_rma {
	/*
	 * Called by a poll of this port.  0: a read has all data here, a write
	 * has them there.  Otherwise part of them may have moved;
	 * -VMPI_ENOTSUP: of a write with a notice perhaps all, and its notice.
	 */
	void (*done)(struct vm_rma *rma, int error);
	struct vm_to to; /* where the region is registered */
	struct vm_remote remote;
	void *local;
	size_t bytes;
	/* Of a write of at least a byte: what the process there is told when all
	 * data are there, where vm_fabric_notices(); 0: nothing. */
	uint32_t notice;
	/* Of a write, or NULL: the data are there before vm_rma_write()
	 * returns, which calls it first.  By the link model they are not, and
	 * done says that `local` is free; what the call sends comes behind them. */
	void (*there)(struct vm_rma *rma);
	/* ---- The fabric's own. */
	struct vm_list link;
	bool write, listed;
	int error;
	unsigned inflight;   /* chunks */
	unsigned tries;	     /* since a chunk has ended well */
	size_t posted;	     /* bytes */
	size_t lost;	     /* the first byte to be moved again; or all */
	uint64_t due;	     /* by the link model: not done before */
	void *carrier;	     /* the packet that will tell of the end */
	void *desc, *handle; /* local registration, where it is needed */
};

/* Moves bytes at once between our memory and that of another process of this
 * host: 0, -VMPI_EPEER, -VMPI_EINVAL: it has no such memory, or -VMPI_ENOTSUP: the
 * data have to go another way. */
int vm_fabric_near_move(struct vm_fabric *fabric, uint32_t process,
			const struct vm_load *load, bool write);

/* Starts it.  VM_PENDING: done will be called.  -VMPI_EPEER; -VMPI_ENOTSUP: the
 * data have to go in packets. */
int vm_rma_read(struct vm_port *port, struct vm_rma *rma);
int vm_rma_write(struct vm_port *port, struct vm_rma *rma);

/*
 * Makes progress.  Returns the number of events handled (0: nothing new), or
 * -VMPI_EAGAIN when another thread polls this port just now.  `own`: the port
 * belongs to the caller's worker; who only helps is refused while others send,
 * too.  Works on whatever stack; needs 16 KiB beyond what the callbacks need.
 */
int vm_port_poll(struct vm_port *port, bool own);

/*
 * Looks so many times for a packet from a process that shares memory, which is a
 * moment, or polls so many times, if packets from there come by the network:
 * VM_DONE, and *pkt lies where it has come, until vm_port_look_end(), which says
 * whether it has been taken: it may be from another process, and not be wanted.
 * In between the caller makes no other calls of the port.
 * -VMPI_EAGAIN: nothing has come.  VM_PENDING: something has, or is to be polled
 * for.  Where the network is asked it may call back, as a poll does.
 */
int vm_port_look(struct vm_port *port, struct vm_to from, int looks, int polls,
		 const struct vm_pkt **pkt);
void vm_port_look_end(struct vm_port *port, bool took);

/* How often the port has been polled, by anybody. */
uint64_t vm_port_polls(const struct vm_port *port);

/* The word by which other processes of the host see whether we have given up our
 * processor; NULL: there are none. */
_Atomic uint32_t *vm_fabric_away(const struct vm_fabric *fabric);

/* Whether the process of the host from which something came last at the port has
 * its processor, as it says. */
bool vm_port_partner_runs(const struct vm_port *port);

/* Wakes the thread that sleeps (fabric/end/sleep.h), if there is one.  Whatever it is to see
 * must have been stored before; includes the necessary fence. */
void vm_fabric_kick(struct vm_fabric *fabric);

/* The counters of a port and of the process: blocks of fabric/packet/vars.h. */
const struct fabric_port_pvars *vm_port_pvars(const struct vm_port *port);
const struct fabric_node_pvars *vm_fabric_pvars(const struct vm_fabric *fabric);

#endif
