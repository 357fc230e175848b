/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric from inside: the ports, and the knowledge about the other
 * processes.
 */
#ifndef FABRIC_STATE_H
#define FABRIC_STATE_H

#include <poll.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "fabric/fabric.h"
#include "fabric/lanes.h"
#include "fabric/ofi/fi.h"
#include "fabric/packet/gather.h"
#include "fabric/packet/link.h"
#include "fabric/port.h"
#include "fabric/ofi/keys.h"
#include "fabric/ofi/select.h"
#include "fabric/shm/shm.h"
#include "fabric/packet/vars.h"

/* Another process, or ourselves. */
struct vm_peer {
	_Atomic bool known; /* connected: the fields below are valid */
	_Atomic int error;  /* 0: alive */
	uint32_t there;	    /* our number, as it knows us */
	uint64_t job_key;   /* of its job */
	size_t address_bytes;
	unsigned char *addresses; /* of its ports, one after the other */
	int end_fd; /* vm_fabric_end_fd(), not taken yet; 0: none */
	struct vm_link link;
};

/* Whether a thread is between the begin and the end of a sleep. */
enum vm_fabric_sleeping {
	VM_FABRIC_AWAKE,
	VM_FABRIC_SLEEPS,
	VM_FABRIC_ALERTED, /* ... and was woken by vm_fabric_alert() */
};

/* Descriptors by which a sleeper may be woken: the kick's, that of the shared
 * memory, and those of each port, so many at most. */
#define VM_WAIT_KICK 0
#define VM_WAIT_SHM 1
#define VM_WAIT_PORTS 2
#define VM_PORT_WAITS 4
#define VM_WAITS(ports) (VM_WAIT_PORTS + (ports)*VM_PORT_WAITS)

struct vm_fabric {
	/* Constant after the open. */
	struct vm_fabric_config config; /* processes: with the guests; */
	uint32_t mates;			/* of our job, ourselves included */
	struct vm_fabric_limits limits;
	const struct vm_fi *fi; /* NULL: only the loop */
	struct vm_select select;
	bool lossy; /* the network may lose a connection, and connect anew */
	struct fid_fabric *fid;
	struct vm_port *ports;
	struct vm_peer *peers; /* by process */
	uint16_t *ports_of;    /* by process; 0 until it is connected */
	struct vm_shm *shm;    /* NULL: no memory is shared */
	struct vm_lanes lanes;
	_Atomic bool silent; /* nothing is expected from the network */
	int kick_fd;
	struct vm_gather gather;

	uint32_t ends;		 /* end_fd of peers that were opened */
	_Atomic uint32_t deaths; /* processes given up; ports compare it */
	/* An enum vm_fabric_sleeping; pairs with vm_fabric_kick(). */
	_Atomic int sleeping VM_ALIGNED(VM_CACHELINE);
	/* Of the thread that sleeps. */
	struct fabric_node_pvars pvars;
	struct pollfd *waits; /* VM_WAITS: what it waits for */
	/* Registered memory, for the loop. */
	struct vm_lock mr_lock VM_ALIGNED(VM_CACHELINE);
	struct vm_list mrs;
	struct vm_keys keys;
};

/* Under the lock of a port: ends the sleep that began before there was something
 * to wait for a while for; once. */
void vm_fabric_alert(struct vm_fabric *fabric);

/* Gives a process up: all ports will see it.  Any thread, any lock of a port
 * may be held.  error: the reason. */
void vm_peer_fail(struct vm_fabric *fabric, uint32_t process, int error,
		  const char *why);

#endif
