/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network in memory, behind the table that the fabric calls
 * (fabric/ofi/fi.h).
 *
 * It keeps libfabric's rules as far as vmpi relies on them, and no further:
 * messages of one endpoint to another stay in order, but those of different
 * ones overtake each other; everything takes a random number of polls; any call
 * may say FI_EAGAIN.  On demand it loses, doubles or changes messages and whole
 * peers, as the networks of TCP do.  All fabrics of a process share it.
 */
#ifndef T_FAKE_FABRIC_H
#define T_FAKE_FABRIC_H

#include <stdbool.h>

#include "fabric/ofi/fi.h"

struct fake_faults {
	unsigned again_percent; /* of calls that answer FI_EAGAIN */
	unsigned delay_max;	/* polls until something moves */
	bool no_rma;
	bool local_mr; /* wants local memory registered, addresses are real */
	bool small;    /* few operations at a time */
	/* Connections that are lost, as networks of TCP lose them.  Of
	 * messages; of sends that end with an error, whether they arrive or
	 * not, or never end; of remote operations that do so. */
	bool lossy;
	unsigned lose_percent, double_percent, fail_percent;
	unsigned send_stuck_percent;
	unsigned rma_fail_percent, rma_stuck_percent;
	/* One at a time, then it is reset. */
	bool lose_next, double_next, fail_next;
	int flip_next; /* bit of the next message to be changed; 0: none */
};

extern struct fake_faults fake_faults;
extern const struct vm_fi fake_fabric;

/* Everything random begins with this. */
void fake_seed(unsigned seed);

/*
 * Kills the endpoint with that number (in the order of their opening, from 0):
 * messages under way are lost, sends to it answer FI_EAGAIN forever.
 */
void fake_kill(unsigned endpoint);

/* Sends bytes to an endpoint as a stranger would. */
void fake_inject(unsigned endpoint, const void *bytes, size_t count);

/* Objects that are open, to find what was not closed. */
unsigned fake_open_objects(void);

/* Among the files of the network itself. */
#define FAKE_ENDPOINTS 32
#define FAKE_INJECT 128
void fake_objects_add(int count);
int fake_getinfo(const char *node, uint64_t flags, const struct fi_info *hints,
		 struct fi_info **info);
struct fi_info *fake_dupinfo(const struct fi_info *info);
void fake_freeinfo(struct fi_info *info);
int fake_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric);
int fake_mr_enable(struct fid_mr *mr, struct fid_ep *ep);
uint64_t fake_mr_key(struct fid_mr *mr);
void *fake_mr_desc(struct fid_mr *mr);
struct fid_mr *fake_mr_add(struct fid_domain *domain, const void *base,
			   size_t bytes, uint64_t access, uint64_t key);
void fake_mr_remove(struct fid *fid);
/* The place of so many bytes, if that access is allowed; or NULL. */
char *fake_mr_find(const struct fid_domain *domain, uint64_t key,
		   uint64_t address, size_t bytes, uint64_t access);

#endif
