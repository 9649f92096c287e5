// SPDX-License-Identifier: Apache-2.0
// Records that profiled libraries hand in. They are counted, not kept.
#pragma once

#include <cstdint>

namespace npu::acl {

struct RecordCounts {
  uint64_t api = 0, compact = 0, additional = 0;  ///< records
  uint64_t bytes = 0;                             ///< of compact and additional ones
};

RecordCounts record_counts();

}  // namespace npu::acl
