// SPDX-License-Identifier: Apache-2.0
// What the processes of this user do on an NPU, for the interfaces of management: the figures of `npu-smi info`.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
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
/// `text` in a field of an interface's structure, with zeros behind it.
template <size_t N>
void put_name(std::string_view text, unsigned char (&field)[N]) {
  std::ranges::fill(field, uint8_t{0});
  std::copy_n(text.begin(), std::min(text.size(), N - 1), field);
}

/// The names of a chip: "Ascend", "910B1", "V1".
template <class Info>
void put_chip_names(Info& info) {
  put_name("Ascend", info.chip_type);
  put_name(chip_name(), info.chip_name);
  put_name("V1", info.chip_ver);
}

/// A figure of hardware: raises 107001 where no NPU has this number, and 207000 where one has.
[[noreturn]] void refuse_hardware(int npu, const char* figure);

}  // namespace npu::acl
