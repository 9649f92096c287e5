// SPDX-License-Identifier: Apache-2.0
#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "base/setting.h"

namespace npu {
namespace {

NPU_SETTING(int64_t, torch_ranks, "LOCAL_WORLD_SIZE", 0,
            "Ranks on this host, set by torchrun and anynpu launch: each takes its part of the cores.");
NPU_SETTING(int64_t, mpi_ranks, "OMPI_COMM_WORLD_LOCAL_SIZE", 0,
            "Ranks on this host, set by mpirun: each takes its part of the cores.");

size_t cores_of(pid_t process) {
  cpu_set_t set;
  if (sched_getaffinity(process, sizeof(set), &set) == 0) return static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

size_t usable_cores() { return cores_of(0); }

size_t core_share() {
  // What the first process has is what the machine or its container has: nobody is bound before it.
  return detail::core_share(usable_cores(), cores_of(1), torch_ranks() > 0 ? torch_ranks() : mpi_ranks());
}

size_t detail::core_share(size_t usable, size_t all, int64_t ranks) {
  if (ranks <= 1 || usable < all) return usable;
  return std::max<size_t>(1, usable / static_cast<size_t>(ranks));
}

}  // namespace npu
