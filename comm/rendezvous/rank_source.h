// SPDX-License-Identifier: Apache-2.0
// Which rank this process is, as its environment says. The first of these that is there decides:
//   RANK_TABLE_FILE with RANK_ID      the vendor's rank tables
//   CM_CHIEF_IP, _PORT, _DEVICE, CM_WORKER_SIZE (CM_WORKER_IP)   ranks follow host addresses and devices
//   RANK, WORLD_SIZE                  torchrun
//   OMPI_COMM_WORLD_RANK, _SIZE       mpirun
//   SLURM_PROCID, SLURM_NTASKS        srun
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "comm/core/group.h"

namespace npu::comm {

struct RankSource {
  std::string name;        ///< of the variable that decided
  std::string table;       ///< RANK_TABLE_FILE
  std::string rank_id;     ///< RANK_ID, with a table
  uint32_t rank_size = 0;  ///< RANK_SIZE, with a table; 0 where it is not set
  uint32_t rank = kAnyRank, size = 0;
  uint32_t hosts = 1;      ///< on how many the launcher has started ranks; 2 for several
  std::string first_host;  ///< that of rank 0: its name or address, where the launcher says so
  std::string meeting;     ///< what tells this group of processes from others
  std::string chief;       ///< CM_CHIEF_IP
  uint16_t port = 0;       ///< CM_CHIEF_PORT
  int32_t chief_device = -1;
  std::string worker;  ///< CM_WORKER_IP
};

/// The first host of Slurm's list: "node03" of "node[03-07,12],other".
std::string first_of_list(std::string_view list);

/// Looks at variables through `get`, "" for one that is not set. Nothing when none is there. Raises kParameter,
/// "EI0001: …", for values that make no sense, and for CM_* beside RANK_TABLE_FILE.
std::optional<RankSource> find_rank_source(const std::function<std::string(std::string_view)>& get);

/// The same for this process's environment.
std::optional<RankSource> find_rank_source();

}  // namespace npu::comm
