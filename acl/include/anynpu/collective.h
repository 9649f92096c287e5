/* SPDX-License-Identifier: Apache-2.0 */
/* All ranks of a job, and groups of them by name, for bindings such as the Python package `hccl`. All functions return
 * 0 or a number of HcclResult; aclGetRecentErrMsg has the text. HCCL_E_UNAVAIL: the ranks have not been joined yet;
 * HCCL_E_NOT_FOUND: no group of that name; HCCL_E_PARA: anything else that makes no sense. */
#ifndef ANYNPU_ANYNPU_COLLECTIVE_H_
#define ANYNPU_ANYNPU_COLLECTIVE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Joins the ranks that the environment names, with the thread's device: RANK_TABLE_FILE and RANK_ID, else CM_CHIEF_IP
 * and what belongs to it, else the variables of torchrun, mpirun or srun. Done before: nothing happens. */
int32_t anynpu_world_join(void);
/** Leaves all groups and the world; fine when there is none. */
int32_t anynpu_world_leave(void);

/** A group of `count` ranks of the world; all of them call this, with the same ranks and in the same order of groups.
 * The world's own group is "hccl_world_group". */
int32_t anynpu_group_create(const char* name, uint32_t count, const uint32_t* ranks);
int32_t anynpu_group_destroy(const char* name);

/** Ranks of the group, and this process's number among them; `local`: of those on this host only. */
int32_t anynpu_group_size(const char* name, int32_t local, uint32_t* size);
int32_t anynpu_group_rank(const char* name, int32_t local, uint32_t* rank);
/** Between numbers of the group and of the world. */
int32_t anynpu_group_to_world(const char* name, uint32_t group_rank, uint32_t* world_rank);
int32_t anynpu_group_from_world(const char* name, uint32_t world_rank, uint32_t* group_rank);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_COLLECTIVE_H_ */
