/* SPDX-License-Identifier: Apache-2.0 */
/* All ranks of a job, and groups of them by name, for bindings such as the Python package `hccl`. All functions return
 * 0 or a number of HcclResult; aclGetRecentErrMsg has the text. HCCL_E_UNAVAIL: the ranks have not been joined yet;
 * HCCL_E_NOT_FOUND: no group of that name; HCCL_E_PARA: anything else that makes no sense. */
#ifndef ANYNPU_ANYNPU_COLLECTIVE_H_
#define ANYNPU_ANYNPU_COLLECTIVE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** One rank of a rank table. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  int32_t rank;
  int32_t device;     /**< its NPU's number on its server */
  const char* server; /**< server_id */
  const char* pod;    /**< template 2: pod_name, which RANK_ID is then; else "" */
} anynpu_table_rank;

/** Calls `visit` for every rank of the table in the file at `path`, in order. Texts live during the call only. */
int32_t anynpu_each_table_rank(const char* path, void (*visit)(const anynpu_table_rank* rank, void* context),
                               void* context);

/** Who this process would be, as its environment says. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* source; /**< the variable that decides: "RANK_TABLE_FILE", "CM_CHIEF_IP", "RANK" …; "" when none does */
  const char* table;  /**< the file of the rank table; "" without one */
  int32_t rank;       /**< -1: not known before the ranks have met */
  uint32_t size;      /**< number of ranks */
  int32_t device;     /**< the table's for this rank; -1 where the source names none */
  uint16_t first_port; /**< where ranks of this source meet, which need not be one of a root info: the first free of */
  uint16_t ports;      /**< this many; 0 with a problem */
  const char* problem; /**< what is wrong with the variables; "" when nothing is */
} anynpu_rank_source;

/** Calls `visit` once. Texts live during the call only. */
void anynpu_who_am_i(void (*visit)(const anynpu_rank_source* source, void* context), void* context);

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

/** Which gradients of the group are sent together, in functions that are compiled from now on: `count` segments, 1 to
 * 8, by the number of the last gradient of each, which ascend; or by percentages of the bytes, 100 together, which win.
 * HCCL_E_PARA for others. Both stay with the name of the group, which this rank must be in. */
int32_t anynpu_split_by_index(const char* name, uint32_t count, const uint32_t* last);
int32_t anynpu_split_by_size(const char* name, uint32_t count, const double* percent);

/** How one collective is done, and how long the model of its cost says that it takes. Members are only ever added at
 * the end. */
typedef struct {
  size_t struct_size;
  const char* operation; /**< "allreduce", as HCCL_ALGO writes it */
  uint64_t bytes;        /**< of the larger of a rank's two buffers */
  const char* algorithm; /**< "fullmesh", "mesh" or "star", "hosts" or "flat"; "" where there is one way only */
  double us;             /**< microseconds expected */
  double limit_us;       /**< those of copying what a rank reads and writes */
} anynpu_collective_plan;

/** Calls `visit` for each operation and size on `ranks` ranks of this host, 1 to 1024, with HCCL_ALGO as it is now. All
 * texts live for ever. HCCL_E_PARA for another number, or an HCCL_ALGO that makes no sense. */
int32_t anynpu_each_collective_plan(uint32_t ranks, void (*visit)(const anynpu_collective_plan* plan, void* context),
                                    void* context);

/** What the way between hosts costs, for anynpu_each_collective_plan_between. Each host has one card, which its ranks
 * share. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  double latency_us;   /**< microseconds until a message's first byte is there */
  double message_us;   /**< of a processor, for each message that a rank sends and the one it gets for it */
  double bytes_per_us; /**< of a card, each way at once */
} anynpu_network;

/** The same as anynpu_each_collective_plan for so many ranks on `hosts` hosts, about as many on each; `algorithm` is
 * "hosts" or "flat", `limit_us` what the busiest card needs. HCCL_E_PARA also for more hosts than ranks, and for costs
 * that are negative, or no bytes. */
int32_t anynpu_each_collective_plan_between(uint32_t ranks, uint32_t hosts, const anynpu_network* network,
                                            void (*visit)(const anynpu_collective_plan* plan, void* context),
                                            void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_COLLECTIVE_H_ */
