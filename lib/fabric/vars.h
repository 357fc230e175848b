/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one can set and count in fabric.
 */
#ifndef FABRIC_VARS_H
#define FABRIC_VARS_H

#include "fabric/wire.h"
#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"

#define FABRIC_CVARS(X)                                                        \
	X(STRING, provider, "", 0, 0, "name", STARTUP, UB, fabric,             \
	  "The libfabric provider to use, such as net or tcp;ofi_rxm; empty: " \
	  "the first that fits of an order of preference (vmpi_info "          \
	  "--fabric)")                                                         \
	X(STRING, interface, "", 0, 0, "name", STARTUP, UB, fabric,            \
	  "The network interface, address or network (10.1.0.0/16) to use; "   \
	  "empty: loopback when all processes are on one host, else the "      \
	  "interface of the default route")                                    \
	X(INT, ports, 0, 0, 256, "ports", STARTUP, TD, fabric,                 \
	  "Ports of each process; 0: one per worker")                          \
	X(SIZE, packet_bytes, 16128, 512, 1048576, "bytes", STARTUP, TD, pool, \
	  "Largest payload of a packet; the same in all processes.  Longer "   \
	  "messages that are sent at once go in several")                      \
	X(SIZE, copy_limit, 4096, 0, 1048576, "bytes", ANYTIME, TD, fabric,    \
	  "Largest payload that is copied into its packet although it could "  \
	  "be sent from where it lies")                                        \
	X(INT, credits, 64, 2, 4096, "packets", ANYTIME, TD, credit,           \
	  "Packets of data that a sender may have under way or unreceived at " \
	  "each port")                                                         \
	X(SIZE, receive_bytes_max, 67108864, 65536, 1099511627776, "bytes",    \
	  ANYTIME, TD, credit,                                                 \
	  "Bound on the memory that all senders together may fill at a port; " \
	  "with many senders each gets fewer credits")                         \
	X(INT, backlog_limit, 256, 1, 1000000, "packets", ANYTIME, TD, credit, \
	  "Packets of data for one receiver that wait for the network before " \
	  "senders are told to try again")                                     \
	X(INT, gather, 4, 0, 1000000, "packets", ANYTIME, TD, fabric,          \
	  "Small packets in a row to one receiver that are sent one by one; "  \
	  "those that follow before the next look at the network go "          \
	  "together.  0: none do")                                             \
	X(INT, gather_us, 50, 1, 1000000, "us", ANYTIME, TD, fabric,           \
	  "Longest time that small packets wait for others to go together")    \
	X(SIZE, rma_chunk, 1048576, 4096, 1073741824, "bytes", ANYTIME, TD,    \
	  rndv, "Remote reads and writes go in chunks of this size")           \
	X(INT, rma_inflight, 4, 1, 64, "chunks", ANYTIME, TD, rndv,            \
	  "Chunks of a remote read or write that are under way at a time")     \
	X(INT, send_inflight, 1024, 1, 1024, "packets", ANYTIME, TA, fabric,   \
	  "Packets and chunks of a port that the network has at a time; the "  \
	  "others wait in the port.  The provider may allow fewer")            \
	X(SIZE, slab_bytes, 131072, 4096, 1073741824, "bytes", ANYTIME, TD,    \
	  pool,                                                                \
	  "Packet memory grows by so much at a time, but at least by eight "   \
	  "packets")                                                           \
	X(INT, pool_keep, 1, 0, 1000000, "slabs", ANYTIME, TB, pool,           \
	  "Unused pieces of packet memory, for each size of packets, that a "  \
	  "port keeps; the others are given back after a second")              \
	X(SIZE, send_bytes_max, 268435456, 1048576, 1099511627776, "bytes",    \
	  ANYTIME, TD, pool,                                                   \
	  "Packet memory of a port beyond which it takes no data to send: "    \
	  "messages wait in their senders' memory")                            \
	X(INT, peer_timeout_s, 3600, 1, 1000000, "s", ANYTIME, UD, fabric,     \
	  "A process that takes nothing for so long is given up for dead")     \
	X(INT, link_latency_ns, 0, 0, 60000000000, "ns", ANYTIME, DD, link,    \
	  "Link model: latency added to what goes between processes")          \
	X(SIZE, link_bandwidth, 0, 0, 1099511627776, "bytes/s", ANYTIME, DD,   \
	  link,                                                                \
	  "Link model: bandwidth between two processes, each way; 0: no "      \
	  "limit")                                                             \
	X(INT, link_message_ns, 0, 0, 60000000000, "ns", ANYTIME, DD, link,    \
	  "Link model: time that each message occupies the link besides its "  \
	  "bytes")

struct fabric_cvars {
	FABRIC_CVARS(VM_CVAR_FIELD)
};
extern struct fabric_cvars fabric_cvar;
extern const struct vm_cvar_table fabric_cvar_table;

/* Of each port, written under its lock. */
#define FABRIC_PORT_PVARS(X)                                                   \
	X(COUNTER, sent, "packets", WORKER, UD, fabric, "Packets sent")        \
	X(AGGREGATE, sent_bytes, "bytes", WORKER, UD, fabric,                  \
	  "Payload sent in packets")                                           \
	X(COUNTER, sent_control, "packets", WORKER, TD, fabric,                \
	  "Control packets sent")                                              \
	X(COUNTER, received, "packets", WORKER, UD, fabric,                    \
	  "Packets received")                                                  \
	X(AGGREGATE, received_bytes, "bytes", WORKER, UD, fabric,              \
	  "Payload received in packets")                                       \
	X(COUNTER, polls, "polls", WORKER, TB, poll, "Looks at the network")   \
	X(COUNTER, polls_busy, "polls", WORKER, DD, poll,                      \
	  "Polls that found another thread polling the same port")             \
	X(COUNTER, polls_found, "polls", WORKER, TB, poll,                     \
	  "Looks at the network that found something")                         \
	X(HIGHWATERMARK, events_max, "events", WORKER, DD, poll,               \
	  "Most that one look found")                                          \
	X(COUNTER, events_own, "events", WORKER, TB, poll,                     \
	  "Events handled by the worker that the port belongs to")             \
	X(COUNTER, events_helped, "events", WORKER, TB, poll,                  \
	  "Events handled by other workers")                                   \
	X(AGGREGATE, bytes_helped, "bytes", WORKER, TB, poll,                  \
	  "Payload received by other workers' polls")                          \
	X(COUNTER, no_credit, "sends", WORKER, TB, credit,                     \
	  "Sends refused because the receiver had given no credit")            \
	X(LOWWATERMARK, credits_low, "packets", WORKER, TB, credit,            \
	  "Fewest credits that a receiver had left us, of those seen when it " \
	  "gave some back and when a send was refused; at first "              \
	  "fabric_credits")                                                    \
	X(COUNTER, again, "calls", WORKER, TD, fabric,                         \
	  "Calls of the provider that it refused for now (FI_EAGAIN)")         \
	X(COUNTER, errors, "operations", WORKER, UD, fabric,                   \
	  "Operations that failed, at once or in the completion queue, but "   \
	  "for those cancelled at the end")                                    \
	X(COUNTER, no_memory, "sends", WORKER, TB, pool,                       \
	  "Sends refused because of fabric_send_bytes_max")                    \
	X(LEVEL, inflight, "packets", WORKER, TD, fabric,                      \
	  "Packets and chunks that the network has now")                       \
	X(HIGHWATERMARK, inflight_max, "packets", WORKER, TD, fabric,          \
	  "Most that the network had at a time")                               \
	X(COUNTER, backlogged, "packets", WORKER, TD, fabric,                  \
	  "Packets that had to wait for the network")                          \
	X(COUNTER, batches, "messages", WORKER, TD, fabric,                    \
	  "Messages of the network that carried several packets")              \
	X(COUNTER, gathered, "packets", WORKER, TD, fabric,                    \
	  "Packets in such messages")                                          \
	X(COUNTER, gathered_received, "packets", WORKER, TD, fabric,           \
	  "Packets received in messages that carried several")                 \
	X(LEVEL, backlog, "packets", WORKER, TD, fabric,                       \
	  "Packets that wait now")                                             \
	X(HIGHWATERMARK, backlog_max, "packets", WORKER, TD, fabric,           \
	  "Most packets that waited at a time")                                \
	X(COUNTER, credit_packets, "packets", WORKER, TD, credit,              \
	  "Packets sent only to give credits back")                            \
	X(LEVEL, kept, "packets", WORKER, TD, pool,                            \
	  "Arrived packets that the layer above keeps")                        \
	X(HIGHWATERMARK, kept_max, "packets", WORKER, TD, pool,                \
	  "Most packets kept at a time")                                       \
	X(COUNTER, kept_moved, "packets", WORKER, DD, pool,                    \
	  "Kept packets that were moved to a packet of their size")            \
	X(COUNTER, reads, "operations", WORKER, TB, rndv, "Remote reads")      \
	X(COUNTER, writes, "operations", WORKER, TB, rndv, "Remote writes")    \
	X(AGGREGATE, rma_bytes, "bytes", WORKER, TB, rndv,                     \
	  "Bytes moved by remote reads and writes")                            \
	X(COUNTER, chunks, "chunks", WORKER, TD, rndv,                         \
	  "Chunks of remote reads and writes")                                 \
	X(LEVEL, posted, "packets", WORKER, DD, pool,                          \
	  "Packets ready for what arrives next")                               \
	X(LEVEL, pool_bytes, "bytes", WORKER, UD, pool, "Memory of packets")   \
	X(HIGHWATERMARK, pool_bytes_max, "bytes", WORKER, UD, pool,            \
	  "Most memory of packets at a time")                                  \
	X(COUNTER, pool_grows, "slabs", WORKER, TD, pool,                      \
	  "Times packet memory grew")                                          \
	X(COUNTER, pool_shrinks, "slabs", WORKER, TD, pool,                    \
	  "Times packet memory was given back")                                \
	X(LEVEL, small_used, "packets", WORKER, TD, pool,                      \
	  "Packets of 256 bytes in use")                                       \
	X(LEVEL, medium_used, "packets", WORKER, TD, pool,                     \
	  "Packets of 2048 bytes in use")                                      \
	X(LEVEL, large_used, "packets", WORKER, TD, pool,                      \
	  "Packets of the largest size in use")                                \
	X(LEVEL, long_used, "packets", WORKER, TD, pool,                       \
	  "Packets of larger sizes in use, of payloads that came in several")  \
	X(LEVEL, pool_packets[9], "packets", WORKER, TD, pool,                 \
	  "Packets there are, by size: 256 bytes, 2048, fabric_packet_bytes, " \
	  "and 32K to 1M for payloads that came in several")                   \
	X(LEVEL, pool_peak[9], "packets", WORKER, TD, pool,                    \
	  "Most of them in use at a time, of the second before last")          \
	VM_WIRE_REJECTS(X)

struct fabric_port_pvars {
	FABRIC_PORT_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table fabric_port_pvar_table;

/* Of the process. */
#define FABRIC_NODE_PVARS(X)                                      \
	X(COUNTER, sleeps, "sleeps", NODE, TD, poll,              \
	  "Times a worker slept until the network had something") \
	X(COUNTER, spurious, "wakes", NODE, DD, poll,             \
	  "Times a sleeper was woken by the network for nothing") \
	X(COUNTER, peers_failed, "processes", NODE, UD, fabric,   \
	  "Other processes that died or were given up")

struct fabric_node_pvars {
	FABRIC_NODE_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table fabric_node_pvar_table;

#endif
