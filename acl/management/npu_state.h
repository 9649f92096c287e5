// SPDX-License-Identifier: Apache-2.0
// What the processes of this user do on an NPU, for the interfaces of management: the figures of `npu-smi info`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace npu::acl {

struct NpuProcess {
  pid_t pid = 0;
  uint64_t used = 0;  ///< bytes
};

struct NpuState {
  uint64_t capacity = 0, used = 0;  ///< bytes
  std::vector<NpuProcess> processes;
  unsigned memory_percent() const;
};

/// Raises 107001 where no NPU has this number.
NpuState npu_state(int npu);

/// What an interface calls a share of an NPU: memory, or the time of its cores. Raises 207000 for other types.
unsigned utilization(int npu, int type);

/// "910B1" of "Ascend910B1".
std::string chip_name();

/// A figure of hardware: raises 107001 where no NPU has this number, and 207000 where one has.
[[noreturn]] void refuse_hardware(int npu, const char* figure);

}  // namespace npu::acl
