// SPDX-License-Identifier: Apache-2.0
// SoC profiles as data: what the process claims to run on. `ANYNPU_SOC` picks one, `ANYNPU_DEVICES` says how many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace npu::device {

/// A set of element types: bit n stands for the DType of number n.
using DTypes = uint64_t;
inline bool has(DTypes types, DType dtype) {
  const auto number = static_cast<uint32_t>(dtype);
  return number < 64 && (types >> number & 1) != 0;
}

/// What the SoC's collectives take, for who refuses the rest (ANYNPU_STRICT_DEVICE). From the vendor's pages on
/// HcclAllReduce and HcclAllGather, and the guides to migration.
struct CollectiveLimits {
  DTypes reduces, no_product, no_extreme;  ///< to be summed; of them, not to be multiplied; without max and min
  DTypes moves;
  uint64_t ranks_per_host;  ///< bit n: n ranks may be on a host; 0: any number
  int cluster;              ///< fewer ranks than two clusters have are on devices of one, of so many; 0: on any
  uint32_t hosts;           ///< at most; 0: any number
};

/// Facts of one SoC, a line of soc_profile.tsv. Clients size their tiles and choose code paths by them. Results depend
/// on `inf_nan` and `precision_mode` alone; what has a type of `lacks` is refused.
struct Soc {
  const char* name;       ///< what aclrtGetSocName answers
  const char* family;     ///< as folders of the installed toolkit are called: ascend910b
  int generation;         ///< 1: cube and vector units in one core
  uint32_t ai_cores;      ///< cube cores
  uint32_t vector_cores;  ///< the joint cores of the first generation count as both
  uint64_t l2_bytes;
  uint64_t memory_bytes;       ///< device memory of the card; a machine with less offers less (memory/capacity.h)
  bool inf_nan;                ///< IEEE infinities and NaN by default; without it overflow saturates
  const char* precision_mode;  ///< of graphs, where none is chosen
  DTypes lacks;                ///< types that no operator of it takes
  CollectiveLimits collective;
  bool has(DType dtype) const { return !device::has(lacks, dtype); }
};

/// The largest ANYNPU_DEVICES.
inline constexpr int kMaxDevices = 64;

/// All profiles, as soc_profile.tsv lists them, the default first.
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
/// For tests: the profile in force from now on; null: that of ANYNPU_SOC again.
void override_soc(const Soc* soc);
/// Entries of "0,3,1" up to the first that is no number below `all`, or stands there twice.
std::vector<int> visible_numbers(std::string_view list, int all);
}  // namespace detail

}  // namespace npu::device
