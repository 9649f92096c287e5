// SPDX-License-Identifier: Apache-2.0
// SoC profiles as data: what the process claims to run on. `ANYNPU_SOC` picks one, `ANYNPU_DEVICES` says how many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace npu::device {

/// Facts of one SoC. Clients size their tiles and choose code paths by them; results never depend on them, except
/// through `inf_nan`.
struct Soc {
  const char* name;   ///< what aclrtGetSocName answers
  uint32_t ai_cores;  ///< cube cores
  uint32_t vector_cores;
  uint64_t l2_bytes;
  uint64_t memory_bytes;  ///< device memory of the card; a machine with less offers less (memory/capacity.h)
  bool inf_nan;           ///< IEEE infinities and NaN by default; without it overflow saturates
  bool bfloat16;
};

/// The largest ANYNPU_DEVICES.
inline constexpr int kMaxDevices = 64;

/// All profiles, the default first.
std::span<const Soc> soc_profiles();
/// The profile in force. Raises 100000 naming the known ones when ANYNPU_SOC is not among them.
const Soc& soc();
/// ANYNPU_DEVICES, between 1 and kMaxDevices; of these, as many as ASCEND_RT_VISIBLE_DEVICES names, when it is set.
int device_count();
/// ANYNPU_DEVICES alone: what the machine has, also beside those this process may use.
int all_devices();
/// The number that `device` of this process has on the machine, as ASCEND_RT_VISIBLE_DEVICES names it. Raises 107001.
int physical_device(int device);
/// Raises 107001 unless 0 <= device < device_count().
void check_device(int64_t device);

namespace detail {
/// Entries of "0,3,1" up to the first that is no number below `all`, or stands there twice.
std::vector<int> visible_numbers(std::string_view list, int all);
}  // namespace detail

}  // namespace npu::device
