/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of communicators and datatypes.
 */
#include "mtap.h"

static int copies, deletes, last_deleted;

static int copy_twice(MPI_Comm comm, int keyval, void *extra, void *in,
		      void *out, int *flag)
{
	(void)comm, (void)keyval;
	copies++;
	*(void **)out = (char *)in + *(int *)extra;
	*flag = 1;
	return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)extra;
	deletes++;
	last_deleted = (int)(MPI_Aint)value;
	return MPI_SUCCESS;
}

static int refuse(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	return MPI_ERR_OTHER;
}

static void predefined(void)
{
	int *tag_ub = NULL, *global = NULL, *universe = NULL, *appnum = NULL;
	int flag[4] = { 0 };

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag[0]);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global,
			  &flag[1]);
	MPI_Attr_get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag[2]);
	MPI_Attr_get(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag[3]);
	all_ok(flag[0] && *tag_ub >= 32767, "MPI_TAG_UB is at least 32767");
	all_ok(flag[1] && flag[2] && flag[3] && *universe >= size,
	       "the other predefined attributes are there");
	MPI_Send(NULL, 0, MPI_INT, rank, *tag_ub, MPI_COMM_WORLD);
	MPI_Recv(NULL, 0, MPI_INT, rank, *tag_ub, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	all_ok(true, "a message can have the largest tag");
}

static void set_get_delete(void)
{
	int key = -1, flag = 1;
	void *value = NULL;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, &key, NULL);
	MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
	all_ok(!flag, "a key begins without a value");
	MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)7);
	MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
	all_ok(flag && value == (void *)7, "a value can be set and read");
	deletes = 0;
	MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)8);
	all_ok(deletes == 1 && last_deleted == 7,
	       "a new value deletes the old one");
	MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
	MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
	all_ok(!flag && deletes == 2 && last_deleted == 8,
	       "MPI_Comm_delete_attr calls back");
	MPI_Comm_free_keyval(&key);
	all_ok(key == MPI_KEYVAL_INVALID, "a freed key is invalid");
}

static void duplicates(void)
{
	static int step = 5; /* the key lasts longer than this call */
	int keys[3], flags[3];
	void *values[3] = { NULL };
	MPI_Comm copy;

	MPI_Comm_create_keyval(copy_twice, count_delete, &keys[0], &step);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_delete, &keys[1], NULL);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
			       &keys[2], NULL);
	for (int i = 0; i < 3; i++)
		MPI_Comm_set_attr(mtap_comm, keys[i], (void *)100);
	copies = deletes = 0;
	MPI_Comm_dup(mtap_comm, &copy);
	for (int i = 0; i < 3; i++)
		MPI_Comm_get_attr(copy, keys[i], &values[i], &flags[i]);
	all_ok(flags[0] && values[0] == (void *)105 && copies == 1,
	       "MPI_Comm_dup calls the copy function");
	all_ok(flags[1] && values[1] == (void *)100,
	       "MPI_COMM_DUP_FN copies the value");
	all_ok(!flags[2], "MPI_COMM_NULL_COPY_FN does not");
	/* A freed key remains usable by its attributes. */
	MPI_Comm_free_keyval(&keys[0]);
	MPI_Comm_free(&copy);
	all_ok(deletes == 2, "MPI_Comm_free calls the delete functions");
	MPI_Comm_delete_attr(mtap_comm, keys[1]);
	MPI_Comm_delete_attr(mtap_comm, keys[2]);
	MPI_Comm_free_keyval(&keys[1]);
	MPI_Comm_free_keyval(&keys[2]);
}

static void refusal(void)
{
	int key, other = MPI_TAG_UB, rc, flag = 0;
	void *value;
	MPI_Comm copy, same;

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, NULL);
	MPI_Comm_set_attr(copy, key, NULL);
	rc = MPI_Comm_delete_attr(copy, key);
	MPI_Comm_get_attr(copy, key, &value, &flag);
	all_ok(rc == MPI_ERR_OTHER && flag, "a delete function may refuse");
	same = copy;
	rc = MPI_Comm_free(&copy);
	all_ok(rc == MPI_ERR_OTHER && copy == same,
	       "then the communicator stays too");
	rc = MPI_Comm_set_attr(copy, other, NULL);
	all_class(rc, MPI_ERR_KEYVAL, "predefined keys cannot be set");
	rc = MPI_Comm_get_attr(copy, 999999, &value, &flag);
	all_class(rc, MPI_ERR_KEYVAL, "unknown keys are MPI_ERR_KEYVAL");
}

/* The deprecated names. */
static void old_names(void)
{
	int key, flag = 0;
	void *value = NULL;

	MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
	MPI_Attr_put(MPI_COMM_WORLD, key, &key);
	MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag);
	all_ok(flag && value == &key, "MPI_Attr_put and MPI_Attr_get");
	MPI_Attr_delete(MPI_COMM_WORLD, key);
	MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag);
	all_ok(!flag, "MPI_Attr_delete");
	MPI_Keyval_free(&key);
	all_ok(key == MPI_KEYVAL_INVALID, "MPI_Keyval_free");
}

static int freed_again;

static int free_again(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)value, (void)extra;
	freed_again++;
	return MPI_Comm_free_keyval(&keyval);
}

/* A freed key remains usable by attributes that were set under it. */
static void freed_keys(void)
{
	int key, copy, flag = 1;
	void *value = NULL;
	MPI_Comm comm;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, &key, NULL);
	copy = key;
	MPI_Comm_set_attr(mtap_comm, key, (void *)3);
	MPI_Comm_free_keyval(&key);
	MPI_Comm_get_attr(mtap_comm, copy, &value, &flag);
	all_ok(flag && value == (void *)3, "a freed key still reads its value");
	deletes = 0;
	MPI_Comm_delete_attr(mtap_comm, copy);
	all_ok(deletes == 1, "and deletes it");
	MPI_Comm_dup(mtap_comm, &comm);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_again, &key, NULL);
	MPI_Comm_set_attr(mtap_comm, key, NULL);
	MPI_Comm_set_attr(comm, key, NULL);
	copy = key;
	MPI_Comm_free(&comm);
	MPI_Comm_free_keyval(&key);
	MPI_Comm_delete_attr(mtap_comm, copy);
	all_ok(freed_again == 2, "delete functions may free their own key");
}

static int type_copies, type_deletes;

static int type_copy(MPI_Datatype type, int keyval, void *extra, void *in,
		     void *out, int *flag)
{
	(void)type, (void)keyval, (void)extra;
	type_copies++;
	*(void **)out = (char *)in + 1;
	*flag = 1;
	return MPI_SUCCESS;
}

static int type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
	(void)type, (void)keyval, (void)value, (void)extra;
	type_deletes++;
	return MPI_SUCCESS;
}

static void types(void)
{
	int key, comm_key, flag = 0, rc;
	void *value = NULL;
	MPI_Datatype type, copy;

	MPI_Type_create_keyval(type_copy, type_delete, &key, NULL);
	MPI_Type_contiguous(3, MPI_INT, &type);
	MPI_Type_set_attr(type, key, (void *)41);
	MPI_Type_dup(type, &copy);
	MPI_Type_get_attr(copy, key, &value, &flag);
	all_ok(flag && value == (void *)42 && type_copies == 1,
	       "MPI_Type_dup calls the copy function");
	MPI_Type_free(&copy);
	MPI_Type_delete_attr(type, key);
	all_ok(type_deletes == 2, "both ends call the delete function");
	MPI_Type_get_attr(type, key, &value, &flag);
	all_ok(!flag, "the attribute of the datatype is gone");
	MPI_Type_free(&type);
	MPI_Type_set_attr(MPI_INT, key, &key);
	MPI_Type_get_attr(MPI_INT, key, &value, &flag);
	all_ok(flag && value == &key,
	       "each rank has attributes of its own on predefined types");
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
			       &comm_key, NULL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	rc = MPI_Type_set_attr(MPI_INT, comm_key, NULL);
	all_class(rc, MPI_ERR_KEYVAL, "keys of communicators do not fit types");
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_free_keyval(&comm_key);
	MPI_Type_free_keyval(&key);
}

/* Attributes of MPI_COMM_SELF are deleted first of all in MPI_Finalize, the
 * latest first; MPI still works then. */
static int order[3], ended;

static int at_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
	int flag = 1;

	(void)comm, (void)keyval, (void)extra;
	MPI_Finalized(&flag);
	if (!flag)
		order[ended++] = (int)(MPI_Aint)value;
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	int key;

	mtap_init(&argc, &argv);
	predefined();
	set_get_delete();
	duplicates();
	refusal();
	old_names();
	freed_keys();
	types();
	for (int i = 0; i < 3; i++) {
		MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key,
				       NULL);
		MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)(MPI_Aint)i);
		MPI_Comm_free_keyval(&key);
	}
	MPI_Comm_free(&mtap_comm);
	MPI_Finalize();
	if (rank != 0)
		return 0;
	ok(ended == 3 && order[0] == 2 && order[1] == 1 && order[2] == 0,
	   "MPI_Finalize deletes the attributes of MPI_COMM_SELF, latest first");
	return done_testing();
}
