/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values whose length the caller gives, without the null character that the
 * functions of C count.
 */
#include <stdlib.h>

#include "by_hand.h"
#include "convert.h"

int vm_f_info_get(__typeof__(MPI_Info_get) *call, MPI_Fint *info, char *key,
		  MPI_Fint *valuelen, char *value, MPI_Fint *flag,
		  size_t key_bytes, size_t value_bytes)
{
	struct vm_f_string c_key;
	char *c_value = calloc(1, *valuelen < 0 ? 1 : (size_t)*valuelen + 1);
	int rc = c_value ? vm_f_word_in(&c_key, key, key_bytes) :
			   vm_f_fail(MPI_ERR_NO_MEM);

	if (rc == 0) {
		rc = call(vm_f_info(*info), c_key.text, *valuelen, c_value,
			  flag);
		vm_f_string_end(&c_key);
		if (rc == 0 && *flag)
			vm_f_string_out(c_value, value, value_bytes);
	}
	free(c_value);
	return rc;
}

int vm_f_info_get_string(__typeof__(MPI_Info_get_string) *call, MPI_Fint *info,
			 char *key, MPI_Fint *buflen, char *value,
			 MPI_Fint *flag, size_t key_bytes, size_t value_bytes)
{
	struct vm_f_string c_key;
	int room = *buflen > 0 ? *buflen + 1 : *buflen;
	char *c_value = calloc(1, room < 0 ? 1 : (size_t)room + 1);
	int rc = c_value ? vm_f_word_in(&c_key, key, key_bytes) :
			   vm_f_fail(MPI_ERR_NO_MEM);

	if (rc == 0) {
		rc = call(vm_f_info(*info), c_key.text, &room, c_value, flag);
		vm_f_string_end(&c_key);
		if (rc == 0 && *flag) {
			if (*buflen > 0)
				vm_f_string_out(c_value, value, value_bytes);
			*buflen = room - 1;
		}
	}
	free(c_value);
	return rc;
}

int vm_f_session_get_nth_pset(__typeof__(MPI_Session_get_nth_pset) *call,
			      MPI_Fint *session, MPI_Fint *info, MPI_Fint *n,
			      MPI_Fint *pset_len, char *pset_name,
			      size_t pset_name_bytes)
{
	int room = *pset_len > 0 ? *pset_len + 1 : *pset_len;
	char *name = calloc(1, room < 0 ? 1 : (size_t)room + 1);
	int rc;

	if (!name)
		return vm_f_fail(MPI_ERR_NO_MEM);
	rc = call(vm_f_session(*session), vm_f_info(*info), *n, &room, name);
	if (rc == 0) {
		if (*pset_len > 0)
			vm_f_string_out(name, pset_name, pset_name_bytes);
		*pset_len = room - 1;
	}
	free(name);
	return rc;
}
