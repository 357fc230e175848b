/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control and performance variables of fabric.
 */
#ifndef FABRIC_PACKET_VARS_H
#define FABRIC_PACKET_VARS_H

#include "fabric/packet/wire.h"
#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"

#define FABRIC_CVARS(X)                                                        \
	X(STRING, provider, "", 0, 0, "name", STARTUP, UB, fabric,             \
	  "The libfabric provider to use, such as verbs or tcp;ofi_rxm (net "  \
	  "and tcp: TCP without a further layer, as libfabric before and "     \
	  "from 1.18 on calls it); empty: the one that vmpi_info --fabric "    \
	  "prints, or none where all processes share memory")                  \
	X(STRING, interface, "", 0, 0, "name", STARTUP, UB, fabric,            \
	  "The network interface, device (mlx5_0), address or network "        \
	  "(10.1.0.0/16) to use; empty: loopback when all processes are on "   \
	  "one host, else the fastest one that vmpi_info --fabric prints")     \
	X(BOOL, shm, 1, 0, 1, "flag", STARTUP, UB, fabric,                     \
	  "Whether processes of one host exchange their messages through "     \
	  "shared memory instead of the network, where they can")              \
	X(INT, ports, 0, 0, 256, "ports", STARTUP, TD, fabric,                 \
	  "Number of ports of each process; 0: one per worker")                \
	X(SIZE, packet_bytes, 32768, 512, 1048576, "bytes", STARTUP, TD, pool, \
	  "Largest payload of a packet; must be the same in all processes.  "  \
	  "Longer eager messages are sent in several packets")                 \
	X(SIZE, copy_limit, 4096, 0, 1048576, "bytes", ANYTIME, TD, fabric,    \
	  "Largest payload that is copied into its packet even if it could "   \
	  "be sent from its buffer; longer ones are where they go in a batch") \
	X(INT, credits, 64, 2, 4096, "packets", ANYTIME, TD, credit,           \
	  "Data packets that each sender may have in flight or not yet "       \
	  "received at a port; twice as many through shared memory")           \
	X(SIZE, receive_bytes_max, 67108864, 65536, 1099511627776, "bytes",    \
	  ANYTIME, TD, credit,                                                 \
	  "Limit on the memory that all senders together may fill at a "       \
	  "port; with many senders each gets fewer credits")                   \
	X(INT, backlog_limit, 256, 1, 1000000, "packets", ANYTIME, TD, credit, \
	  "Most data packets for one receiver that wait for the network; "     \
	  "beyond it sends are refused and tried again")                       \
	X(INT, gather, 4, 0, 1000000, "packets", ANYTIME, TD, fabric,          \
	  "Number of small packets in a row to one receiver that are sent "    \
	  "one by one; those that follow before the next poll are sent as a "  \
	  "batch.  0: no batches")                                             \
	X(INT, gather_us, 50, 1, 1000000, "us", ANYTIME, TD, fabric,           \
	  "Longest time that small packets wait to be sent as a batch")        \
	X(SIZE, rma_chunk, 1048576, 4096, 1073741824, "bytes", ANYTIME, TD,    \
	  rndv, "Chunk size of remote reads and writes")                       \
	X(INT, rma_inflight, 4, 1, 64, "chunks", ANYTIME, TD, rndv,            \
	  "Most chunks of one remote read or write in flight")                 \
	X(INT, send_inflight, 1024, 1, 1024, "packets", ANYTIME, TA, fabric,   \
	  "Most packets and chunks of a port in flight; others wait in the "   \
	  "port.  The provider may allow fewer")                               \
	X(SIZE, slab_bytes, 131072, 4096, 1073741824, "bytes", ANYTIME, TD,    \
	  pool,                                                                \
	  "Size by which packet memory grows at a time; at least eight "       \
	  "packets")                                                           \
	X(INT, pool_keep, 1, 0, 1000000, "slabs", ANYTIME, TB, pool,           \
	  "Unused slabs that a port keeps for each packet size; others are "   \
	  "freed after a second")                                              \
	X(SIZE, send_bytes_max, 268435456, 1048576, 1099511627776, "bytes",    \
	  ANYTIME, TD, pool,                                                   \
	  "Packet memory of a port beyond which it accepts no more data to "   \
	  "send; messages then wait in their senders' buffers")                \
	X(INT, peer_timeout_s, 3600, 1, 1000000, "s", ANYTIME, UD, fabric,     \
	  "Time after which a process that accepts nothing is considered "     \
	  "dead")                                                              \
	X(INT, link_latency_ns, 0, 0, 60000000000, "ns", ANYTIME, DD, link,    \
	  "Link model: latency added to packets and transfers between "        \
	  "processes")                                                         \
	X(SIZE, link_bandwidth, 0, 0, 1099511627776, "bytes/s", ANYTIME, DD,   \
	  link,                                                                \
	  "Link model: bandwidth between two processes, in each direction; "   \
	  "0: no limit")                                                       \
	X(INT, link_message_ns, 0, 0, 60000000000, "ns", ANYTIME, DD, link,    \
	  "Link model: time for which each message occupies the link, in "     \
	  "addition to that of its bytes")

struct fabric_cvars {
	FABRIC_CVARS(VM_CVAR_FIELD)
};
extern struct fabric_cvars fabric_cvar;
extern const struct vm_cvar_table fabric_cvar_table;

/* Of each port, written under its lock. */
#define FABRIC_PORT_PVARS(X)                                                  \
	X(COUNTER, sent, "packets", WORKER, UD, fabric, "Packets sent")       \
	X(AGGREGATE, sent_bytes, "bytes", WORKER, UD, fabric,                 \
	  "Payload sent in packets")                                          \
	X(COUNTER, sent_control, "packets", WORKER, TD, fabric,               \
	  "Control packets sent")                                             \
	X(COUNTER, shm_sent, "packets", WORKER, UD, fabric,                   \
	  "Packets sent through shared memory")                               \
	X(AGGREGATE, shm_moved_bytes, "bytes", WORKER, UD, rndv,              \
	  "Bytes that remote reads and writes have moved from memory to "     \
	  "memory of processes of one host")                                  \
	X(COUNTER, received, "packets", WORKER, UD, fabric,                   \
	  "Packets received")                                                 \
	X(AGGREGATE, received_bytes, "bytes", WORKER, UD, fabric,             \
	  "Payload received in packets")                                      \
	X(COUNTER, polls, "polls", WORKER, TB, poll, "Polls")                 \
	X(COUNTER, polls_busy, "polls", WORKER, DD, poll,                     \
	  "Polls skipped while another thread polled the port, or sent")      \
	X(COUNTER, polls_found, "polls", WORKER, TB, poll,                    \
	  "Polls that found something")                                       \
	X(HIGHWATERMARK, events_max, "events", WORKER, DD, poll,              \
	  "Most events found by one poll")                                    \
	X(COUNTER, events_own, "events", WORKER, TB, poll,                    \
	  "Events handled by the port's own worker")                          \
	X(COUNTER, events_helped, "events", WORKER, TB, poll,                 \
	  "Events handled by other, idle workers")                            \
	X(AGGREGATE, bytes_helped, "bytes", WORKER, TB, poll,                 \
	  "Payload received in polls by other workers")                       \
	X(COUNTER, no_credit, "sends", WORKER, TB, credit,                    \
	  "Sends refused for lack of credits")                                \
	X(LOWWATERMARK, credits_low, "packets", WORKER, TB, credit,           \
	  "Fewest credits left for a receiver, sampled when it returns "      \
	  "credits and when a send is refused; initially fabric_credits")     \
	X(COUNTER, again, "calls", WORKER, TD, fabric,                        \
	  "Calls that the provider refused temporarily (FI_EAGAIN)")          \
	X(COUNTER, errors, "operations", WORKER, UD, fabric,                  \
	  "Operations that failed, at once or in the completion queue, "      \
	  "except those cancelled at the end")                                \
	X(COUNTER, no_memory, "sends", WORKER, TB, pool,                      \
	  "Sends refused because of fabric_send_bytes_max")                   \
	X(LEVEL, inflight, "packets", WORKER, TD, fabric,                     \
	  "Packets and chunks in flight")                                     \
	X(HIGHWATERMARK, inflight_max, "packets", WORKER, TD, fabric,         \
	  "Most packets and chunks in flight at a time")                      \
	X(COUNTER, backlogged, "packets", WORKER, TD, fabric,                 \
	  "Packets that waited for the network")                              \
	X(COUNTER, batches, "messages", WORKER, TD, fabric,                   \
	  "Batches sent: messages of the provider that carry several "        \
	  "packets")                                                          \
	X(COUNTER, gathered, "packets", WORKER, TD, fabric,                   \
	  "Packets sent in batches")                                          \
	X(COUNTER, gathered_received, "packets", WORKER, TD, fabric,          \
	  "Packets received in batches")                                      \
	X(LEVEL, backlog, "packets", WORKER, TD, fabric,                      \
	  "Packets that wait for the network")                                \
	X(HIGHWATERMARK, backlog_max, "packets", WORKER, TD, fabric,          \
	  "Most packets that waited at a time")                               \
	X(COUNTER, credit_packets, "packets", WORKER, TD, credit,             \
	  "Packets sent only to return credits")                              \
	X(COUNTER, resent, "packets", WORKER, UD, fabric,                     \
	  "Packets sent again because they may have been lost")               \
	X(COUNTER, repeated, "packets", WORKER, TD, fabric,                   \
	  "Packets dropped because they had arrived before")                  \
	X(COUNTER, gaps, "packets", WORKER, TD, fabric,                       \
	  "Packets dropped because others before them were lost")             \
	X(COUNTER, asks, "packets", WORKER, TD, fabric,                       \
	  "Packets sent only to ask what has arrived")                        \
	X(COUNTER, answers, "packets", WORKER, TD, fabric,                    \
	  "Packets sent only to confirm others")                              \
	X(COUNTER, chunks_again, "chunks", WORKER, TD, rndv,                  \
	  "Chunks of remote reads and writes that were lost and begun again") \
	X(LEVEL, kept, "packets", WORKER, TD, pool,                           \
	  "Received packets that the layer above holds, such as unexpected "  \
	  "messages")                                                         \
	X(HIGHWATERMARK, kept_max, "packets", WORKER, TD, pool,               \
	  "Most received packets held at a time")                             \
	X(COUNTER, kept_moved, "packets", WORKER, DD, pool,                   \
	  "Held packets whose payload was moved to a smaller packet")         \
	X(COUNTER, reads, "operations", WORKER, TB, rndv, "Remote reads")     \
	X(COUNTER, writes, "operations", WORKER, TB, rndv, "Remote writes")   \
	X(COUNTER, notices, "operations", WORKER, TD, rndv,                   \
	  "Remote writes of others that told of their end themselves")        \
	X(AGGREGATE, rma_bytes, "bytes", WORKER, TB, rndv,                    \
	  "Bytes moved by remote reads and writes")                           \
	X(COUNTER, chunks, "chunks", WORKER, TD, rndv,                        \
	  "Chunks of remote reads and writes")                                \
	X(LEVEL, posted, "packets", WORKER, DD, pool,                         \
	  "Packets posted to receive")                                        \
	X(LEVEL, pool_bytes, "bytes", WORKER, UD, pool, "Packet memory")      \
	X(HIGHWATERMARK, pool_bytes_max, "bytes", WORKER, UD, pool,           \
	  "Most packet memory at a time")                                     \
	X(COUNTER, pool_grows, "slabs", WORKER, TD, pool,                     \
	  "Times packet memory grew")                                         \
	X(COUNTER, pool_shrinks, "slabs", WORKER, TD, pool,                   \
	  "Times packet memory was freed")                                    \
	X(LEVEL, small_used, "packets", WORKER, TD, pool,                     \
	  "Packets of 256 bytes in use")                                      \
	X(LEVEL, medium_used, "packets", WORKER, TD, pool,                    \
	  "Packets of 2048 bytes in use")                                     \
	X(LEVEL, large_used, "packets", WORKER, TD, pool,                     \
	  "Packets of the largest size in use")                               \
	X(LEVEL, long_used, "packets", WORKER, TD, pool,                      \
	  "Packets of larger sizes in use, for payloads received in several " \
	  "packets")                                                          \
	X(LEVEL, pool_packets[9], "packets", WORKER, TD, pool,                \
	  "Packets allocated, by size: 256 bytes, 2048, "                     \
	  "fabric_packet_bytes, and 32K to 1M for payloads received in "      \
	  "several packets")                                                  \
	X(LEVEL, pool_peak[9], "packets", WORKER, TD, pool,                   \
	  "Most packets in use at a time during the last full second, by "    \
	  "size")                                                             \
	VM_WIRE_REJECTS(X)

struct fabric_port_pvars {
	FABRIC_PORT_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table fabric_port_pvar_table;

/* Of the process. */
#define FABRIC_NODE_PVARS(X)                                    \
	X(COUNTER, sleeps, "sleeps", NODE, TD, poll,            \
	  "Times a worker slept waiting for the network")       \
	X(COUNTER, spurious, "wakes", NODE, DD, poll,           \
	  "Times the network woke a worker but had nothing")    \
	X(COUNTER, peers_failed, "processes", NODE, UD, fabric, \
	  "Other processes that died or are considered dead")

struct fabric_node_pvars {
	FABRIC_NODE_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table fabric_node_pvar_table;

/* Adds the variables of this layer; idempotent. */
void vm_fabric_vars_add(void);

#endif
