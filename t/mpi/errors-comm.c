/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invalid arguments of calls on communicators, groups, attributes and
 * topologies, call by call.
 */
#include "wants.h"

#define WORLD MPI_COMM_WORLD
#define SELF MPI_COMM_SELF

static int n, size;
static MPI_Comm comm, bad = MPI_COMM_NULL;
static MPI_Group self_group, group;
static MPI_Request request;

static void questions(void)
{
	char name[MPI_MAX_OBJECT_NAME];

#define ASKS(call, out)                                \
	WANTS(MPI_ERR_COMM, call(MPI_COMM_NULL, out)); \
	WANTS(MPI_ERR_ARG, call(WORLD, NULL))
	ASKS(MPI_Comm_size, &n);
	ASKS(MPI_Comm_rank, &n);
	ASKS(MPI_Comm_test_inter, &n);
	ASKS(MPI_Comm_group, &(MPI_Group){ 0 });
	ASKS(MPI_Topo_test, &n);
	ASKS(MPI_Comm_get_info, &(MPI_Info){ 0 });
	ASKS(MPI_Comm_set_name, "name");
	WANTS(MPI_ERR_COMM, MPI_Comm_remote_size(WORLD, &n));
	WANTS(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_NULL, &n));
	WANTS(MPI_ERR_COMM, MPI_Comm_remote_group(WORLD, &(MPI_Group){ 0 }));
	WANTS(MPI_ERR_COMM,
	      MPI_Comm_remote_group(MPI_COMM_NULL, &(MPI_Group){ 0 }));
	WANTS(MPI_ERR_COMM, MPI_Comm_compare(MPI_COMM_NULL, WORLD, &n));
	WANTS(MPI_ERR_COMM, MPI_Comm_compare(WORLD, MPI_COMM_NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Comm_compare(WORLD, WORLD, NULL));
	WANTS(MPI_ERR_ARG, MPI_Comm_get_name(WORLD, NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Comm_get_name(WORLD, name, NULL));
	WANTS(MPI_SUCCESS, MPI_Comm_get_name(MPI_COMM_NULL, name, &n));
	is_string(name, "MPI_COMM_NULL", "the null communicator has a name");
	WANTS(MPI_ERR_COMM, MPI_Comm_set_info(MPI_COMM_NULL, MPI_INFO_NULL));
}

static void makers(void)
{
	MPI_Comm world = WORLD;

	ASKS(MPI_Comm_dup, &comm);
	WANTS(MPI_ERR_COMM,
	      MPI_Comm_dup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &comm));
	WANTS(MPI_ERR_ARG, MPI_Comm_dup_with_info(SELF, MPI_INFO_NULL, NULL));
	WANTS(MPI_ERR_COMM, MPI_Comm_idup(MPI_COMM_NULL, &comm, &request));
	WANTS(MPI_ERR_ARG, MPI_Comm_idup(SELF, NULL, &request));
	WANTS(MPI_ERR_ARG, MPI_Comm_idup(SELF, &comm, NULL));
	WANTS(MPI_ERR_COMM,
	      MPI_Comm_idup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &comm,
				      &request));
	WANTS(MPI_ERR_ARG,
	      MPI_Comm_idup_with_info(SELF, MPI_INFO_NULL, NULL, &request));
	WANTS(MPI_ERR_COMM, MPI_Comm_split(MPI_COMM_NULL, 0, 0, &comm));
	WANTS(MPI_ERR_ARG, MPI_Comm_split(SELF, -7, 0, &comm));
	WANTS(MPI_ERR_ARG, MPI_Comm_split(SELF, 0, 0, NULL));
	WANTS(MPI_ERR_COMM,
	      MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0,
				  MPI_INFO_NULL, &comm));
	WANTS(MPI_ERR_ARG,
	      MPI_Comm_split_type(SELF, -99, 0, MPI_INFO_NULL, &comm));
	WANTS(MPI_ERR_ARG, MPI_Comm_split_type(SELF, MPI_COMM_TYPE_SHARED, 0,
					       MPI_INFO_NULL, NULL));
	WANTS(MPI_ERR_COMM, MPI_Comm_create(MPI_COMM_NULL, self_group, &comm));
	WANTS(MPI_ERR_GROUP, MPI_Comm_create(SELF, MPI_GROUP_NULL, &comm));
	WANTS(MPI_ERR_ARG, MPI_Comm_create(SELF, self_group, NULL));
	WANTS(MPI_ERR_GROUP, MPI_Comm_create(SELF, group, &comm));
	WANTS(MPI_ERR_COMM,
	      MPI_Comm_create_group(MPI_COMM_NULL, self_group, 0, &comm));
	WANTS(MPI_ERR_GROUP,
	      MPI_Comm_create_group(SELF, MPI_GROUP_NULL, 0, &comm));
	WANTS(MPI_ERR_GROUP, MPI_Comm_create_group(SELF, group, 0, &comm));
	WANTS(MPI_ERR_TAG, MPI_Comm_create_group(SELF, self_group, -5, &comm));
	WANTS(MPI_ERR_ARG, MPI_Comm_create_group(SELF, self_group, 0, NULL));
	comm = MPI_COMM_WORLD;
	WANTS(MPI_SUCCESS,
	      MPI_Comm_create_group(WORLD, MPI_GROUP_EMPTY, 0, &comm));
	ok(comm == MPI_COMM_NULL, "no member, no communicator");
	WANTS(MPI_ERR_ARG, MPI_Comm_free(NULL));
	WANTS(MPI_ERR_COMM, MPI_Comm_free(&bad));
	WANTS(MPI_ERR_COMM, MPI_Comm_free(&world));
}

/* A call that fails leaves no handle that could be taken for one. */
static void none_made(void)
{
	int one = 1, two = 2, edge = 5;

#define NONE_MADE(call)                                                 \
	do {                                                            \
		comm = WORLD;                                           \
		ok(call != 0 && comm == MPI_COMM_NULL, "none: " #call); \
	} while (0)
	NONE_MADE(MPI_Comm_dup(MPI_COMM_NULL, &comm));
	NONE_MADE(MPI_Comm_dup_with_info(bad, MPI_INFO_NULL, &comm));
	NONE_MADE(MPI_Comm_idup(bad, &comm, &request));
	NONE_MADE(MPI_Comm_idup_with_info(bad, MPI_INFO_NULL, &comm, &request));
	NONE_MADE(MPI_Comm_split(SELF, -7, 0, &comm));
	NONE_MADE(MPI_Comm_split_type(SELF, -99, 0, MPI_INFO_NULL, &comm));
	NONE_MADE(MPI_Comm_create(SELF, MPI_GROUP_NULL, &comm));
	NONE_MADE(MPI_Comm_create_group(SELF, group, 0, &comm));
	NONE_MADE(MPI_Intercomm_create(SELF, 1, WORLD, 1, 0, &comm));
	NONE_MADE(MPI_Intercomm_merge(WORLD, 0, &comm));
	NONE_MADE(MPI_Cart_create(SELF, 1, &two, &one, 0, &comm));
	NONE_MADE(MPI_Cart_sub(SELF, &one, &comm));
	NONE_MADE(MPI_Graph_create(SELF, 1, &one, &edge, 0, &comm));
	NONE_MADE(MPI_Dist_graph_create(SELF, 1, &edge, &one, &edge,
					MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
					&comm));
	NONE_MADE(MPI_Dist_graph_create_adjacent(SELF, 1, &edge, MPI_UNWEIGHTED,
						 0, NULL, MPI_UNWEIGHTED,
						 MPI_INFO_NULL, 0, &comm));
}

static void inter(void)
{
	WANTS(MPI_ERR_COMM,
	      MPI_Intercomm_create(MPI_COMM_NULL, 0, WORLD, 1, 0, &comm));
	WANTS(MPI_ERR_RANK, MPI_Intercomm_create(SELF, 1, WORLD, 1, 0, &comm));
	WANTS(MPI_ERR_RANK, MPI_Intercomm_create(SELF, -1, WORLD, 1, 0, &comm));
	WANTS(MPI_ERR_ARG, MPI_Intercomm_create(SELF, 0, WORLD, 1, 0, NULL));
	WANTS(MPI_ERR_COMM,
	      MPI_Intercomm_create(SELF, 0, MPI_COMM_NULL, 1, 0, &comm));
	WANTS(MPI_ERR_RANK,
	      MPI_Intercomm_create(SELF, 0, WORLD, size, 0, &comm));
	WANTS(MPI_ERR_TAG, MPI_Intercomm_create(SELF, 0, WORLD, 1, -5, &comm));
	WANTS(MPI_ERR_COMM, MPI_Intercomm_merge(WORLD, 0, &comm));
	WANTS(MPI_ERR_COMM, MPI_Intercomm_merge(MPI_COMM_NULL, 0, &comm));
}

static void groups(void)
{
	MPI_Group none = MPI_GROUP_NULL, out;
	int zero = 0, far = 1, twice[2] = { 0, 0 }, still[1][3] = { { 0 } },
	    beyond[1][3] = { { 0, 1, 1 } };

	WANTS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Group_size(self_group, NULL));
	WANTS(MPI_ERR_GROUP, MPI_Group_rank(MPI_GROUP_NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Group_rank(self_group, NULL));
#define TWO(call, out)                                               \
	WANTS(MPI_ERR_GROUP, call(MPI_GROUP_NULL, self_group, out)); \
	WANTS(MPI_ERR_GROUP, call(self_group, MPI_GROUP_NULL, out)); \
	WANTS(MPI_ERR_ARG, call(self_group, self_group, NULL))
	TWO(MPI_Group_compare, &n);
	TWO(MPI_Group_union, &out);
	TWO(MPI_Group_intersection, &out);
	TWO(MPI_Group_difference, &out);
#define RANKS(call, one, wrong, class)                            \
	WANTS(MPI_ERR_GROUP, call(MPI_GROUP_NULL, 1, one, &out)); \
	WANTS(MPI_ERR_ARG, call(self_group, -1, one, &out));      \
	WANTS(MPI_ERR_ARG, call(self_group, 1, NULL, &out));      \
	WANTS(MPI_ERR_ARG, call(self_group, 1, one, NULL));       \
	WANTS(class, call(self_group, 1, wrong, &out))
	RANKS(MPI_Group_incl, &zero, &far, MPI_ERR_RANK);
	RANKS(MPI_Group_excl, &zero, &far, MPI_ERR_RANK);
	RANKS(MPI_Group_range_incl, still, still, MPI_ERR_ARG);
	RANKS(MPI_Group_range_excl, still, still, MPI_ERR_ARG);
	WANTS(MPI_ERR_RANK, MPI_Group_incl(self_group, 2, twice, &out));
	WANTS(MPI_ERR_RANK, MPI_Group_excl(self_group, 2, twice, &out));
	WANTS(MPI_ERR_RANK, MPI_Group_range_incl(self_group, 1, beyond, &out));
	WANTS(MPI_ERR_RANK, MPI_Group_range_excl(self_group, 1, beyond, &out));
#define TRANSLATE(class, from, count, list, to, result) \
	WANTS(class, MPI_Group_translate_ranks(from, count, list, to, result))
	TRANSLATE(MPI_ERR_GROUP, MPI_GROUP_NULL, 1, &zero, self_group, &n);
	TRANSLATE(MPI_ERR_GROUP, self_group, 1, &zero, MPI_GROUP_NULL, &n);
	TRANSLATE(MPI_ERR_ARG, self_group, -1, &zero, self_group, &n);
	TRANSLATE(MPI_ERR_ARG, self_group, 1, NULL, self_group, &n);
	TRANSLATE(MPI_ERR_ARG, self_group, 1, &zero, self_group, NULL);
	TRANSLATE(MPI_ERR_RANK, self_group, 1, &far, self_group, &n);
	WANTS(MPI_ERR_ARG, MPI_Group_free(NULL));
	WANTS(MPI_ERR_GROUP, MPI_Group_free(&none));
}

static int refuse_copy(MPI_Comm old, int key, void *extra, void *in, void *out,
		       int *flag)
{
	(void)old, (void)key, (void)extra, (void)in, (void)out, (void)flag;
	return MPI_ERR_INTERN;
}

static int refuse_delete(MPI_Comm old, int key, void *value, void *extra)
{
	int *may = value;

	(void)old, (void)key, (void)extra;
	return *may ? MPI_SUCCESS : MPI_ERR_INTERN;
}

static void attributes(void)
{
	int key, flag, *value, wrong = MPI_KEYVAL_INVALID, fixed = MPI_TAG_UB;
	int type_key, may = 0;

#define KEYS(set, get, delete, object, null, class)                 \
	WANTS(class, set(null, key, &n));                           \
	WANTS(MPI_ERR_KEYVAL, set(object, MPI_KEYVAL_INVALID, &n)); \
	WANTS(class, get(null, key, &value, &flag));                \
	WANTS(MPI_ERR_KEYVAL, get(object, -1, &value, &flag));      \
	WANTS(MPI_ERR_ARG, get(object, key, NULL, &flag));          \
	WANTS(MPI_ERR_ARG, get(object, key, &value, NULL));         \
	WANTS(class, delete (null, key));                           \
	WANTS(MPI_ERR_KEYVAL, delete (object, MPI_KEYVAL_INVALID))
	MPI_Comm_create_keyval(refuse_copy, refuse_delete, &key, NULL);
	KEYS(MPI_Comm_set_attr, MPI_Comm_get_attr, MPI_Comm_delete_attr, SELF,
	     MPI_COMM_NULL, MPI_ERR_COMM);
	KEYS(MPI_Attr_put, MPI_Attr_get, MPI_Attr_delete, SELF, MPI_COMM_NULL,
	     MPI_ERR_COMM);
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN,
			       &type_key, NULL);
	WANTS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(SELF, type_key, &n));
	WANTS(MPI_ERR_KEYVAL, MPI_Type_set_attr(MPI_INT, key, &n));
	WANTS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&type_key));
	WANTS(MPI_ERR_KEYVAL, MPI_Type_free_keyval(&key));
	WANTS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(SELF, MPI_TAG_UB, &n));
	WANTS(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(SELF, MPI_TAG_UB));
	WANTS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&wrong));
	WANTS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&fixed));
	WANTS(MPI_ERR_ARG, MPI_Comm_free_keyval(NULL));
	WANTS(MPI_ERR_KEYVAL, MPI_Keyval_free(&wrong));
	WANTS(MPI_ERR_ARG, MPI_Keyval_free(NULL));
	WANTS(MPI_ERR_ARG,
	      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
				     MPI_COMM_NULL_DELETE_FN, NULL, NULL));
	WANTS(MPI_ERR_ARG, MPI_Keyval_create(MPI_NULL_COPY_FN,
					     MPI_NULL_DELETE_FN, NULL, NULL));
	/* The call returns what the callback returns. */
	MPI_Comm_dup(SELF, &comm);
	MPI_Comm_set_attr(comm, key, &may);
	WANTS(MPI_ERR_INTERN, MPI_Comm_dup(comm, &bad));
	WANTS(MPI_ERR_INTERN, MPI_Comm_idup(comm, &bad, &request));
	WANTS(MPI_ERR_INTERN, MPI_Comm_delete_attr(comm, key));
	WANTS(MPI_ERR_INTERN, MPI_Comm_set_attr(comm, key, &n));
	WANTS(MPI_ERR_INTERN, MPI_Comm_free(&comm));
	ok(comm != MPI_COMM_NULL, "the communicator is still there");
	may = 1;
	WANTS(MPI_SUCCESS, MPI_Comm_free(&comm));
	MPI_Comm_free_keyval(&key);
	MPI_Type_free_keyval(&type_key);
}

static void grids(void)
{
	int dims[2] = { 1, 1 }, periods[2] = { 0, 1 }, out[2];
	int zero[2] = { 0, 1 }, large[2] = { 2, 1 }, minus[2] = { -1, 0 };
	int five[2] = { 5, 0 }, far[2] = { 1, 0 };
	MPI_Comm grid;

#define GRID(class, comm, ndims, dims, periods, out) \
	WANTS(class, MPI_Cart_create(comm, ndims, dims, periods, 0, out))
	GRID(MPI_ERR_COMM, MPI_COMM_NULL, 2, dims, periods, &grid);
	GRID(MPI_ERR_ARG, SELF, -1, dims, periods, &grid);
	GRID(MPI_ERR_ARG, SELF, 2, NULL, periods, &grid);
	GRID(MPI_ERR_ARG, SELF, 2, dims, NULL, &grid);
	GRID(MPI_ERR_ARG, SELF, 2, dims, periods, NULL);
	GRID(MPI_ERR_DIMS, SELF, 2, zero, periods, &grid);
	GRID(MPI_ERR_DIMS, SELF, 2, large, periods, &grid);
	MPI_Cart_create(SELF, 2, dims, periods, 0, &grid);
	WANTS(MPI_ERR_COMM, MPI_Cartdim_get(MPI_COMM_NULL, &n));
	WANTS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(SELF, &n));
	WANTS(MPI_ERR_ARG, MPI_Cartdim_get(grid, NULL));
	WANTS(MPI_ERR_TOPOLOGY, MPI_Cart_get(SELF, 2, out, out, out));
	WANTS(MPI_ERR_ARG, MPI_Cart_get(grid, 1, out, out, out));
	WANTS(MPI_ERR_ARG, MPI_Cart_get(grid, 2, NULL, out, out));
	WANTS(MPI_ERR_ARG, MPI_Cart_get(grid, 2, out, NULL, out));
	WANTS(MPI_ERR_ARG, MPI_Cart_get(grid, 2, out, out, NULL));
	WANTS(MPI_ERR_TOPOLOGY, MPI_Cart_coords(SELF, 0, 2, out));
	WANTS(MPI_ERR_RANK, MPI_Cart_coords(grid, 1, 2, out));
	WANTS(MPI_ERR_RANK, MPI_Cart_coords(grid, -1, 2, out));
	WANTS(MPI_ERR_ARG, MPI_Cart_coords(grid, 0, 1, out));
	WANTS(MPI_ERR_ARG, MPI_Cart_coords(grid, 0, 2, NULL));
	WANTS(MPI_ERR_TOPOLOGY, MPI_Cart_rank(SELF, out, &n));
	WANTS(MPI_ERR_ARG, MPI_Cart_rank(grid, NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Cart_rank(grid, zero, NULL));
	WANTS(MPI_ERR_ARG, MPI_Cart_rank(grid, far, &n));
	WANTS(MPI_ERR_TOPOLOGY, MPI_Cart_shift(SELF, 0, 1, &n, &n));
	WANTS(MPI_ERR_ARG, MPI_Cart_shift(grid, 2, 1, &n, &n));
	WANTS(MPI_ERR_ARG, MPI_Cart_shift(grid, -1, 1, &n, &n));
	WANTS(MPI_ERR_ARG, MPI_Cart_shift(grid, 0, 1, NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Cart_shift(grid, 0, 1, &n, NULL));
	WANTS(MPI_ERR_TOPOLOGY, MPI_Cart_sub(SELF, dims, &comm));
	WANTS(MPI_ERR_ARG, MPI_Cart_sub(grid, NULL, &comm));
	WANTS(MPI_ERR_ARG, MPI_Cart_sub(grid, dims, NULL));
	MPI_Comm_free(&grid);
	WANTS(MPI_ERR_ARG, MPI_Dims_create(0, 1, dims));
	WANTS(MPI_ERR_DIMS, MPI_Dims_create(4, -1, dims));
	WANTS(MPI_ERR_ARG, MPI_Dims_create(4, 2, NULL));
	WANTS(MPI_ERR_DIMS, MPI_Dims_create(4, 2, minus));
	WANTS(MPI_ERR_DIMS, MPI_Dims_create(4, 2, five));
}

static void body(int rank, int ranks)
{
	if (rank != 0)
		return;
	size = ranks;
	bad = MPI_COMM_NULL;
	MPI_Comm_group(SELF, &self_group);
	MPI_Comm_group(WORLD, &group);
	questions();
	makers();
	none_made();
	inter();
	groups();
	attributes();
	grids();
	MPI_Group_free(&group);
	MPI_Group_free(&self_group);
}

int main(void)
{
	ranks_run(2, 1, body);
	return done_testing();
}
