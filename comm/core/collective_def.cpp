// SPDX-License-Identifier: Apache-2.0
#include "comm/core/collective_def.h"

#include <cstdio>
#include <cstdlib>

namespace npu::comm {
namespace {

constexpr CollectiveDef kNothing{.name = "nothing", .moves = false};
}  // namespace

namespace detail {
constinit std::array<const CollectiveDef*, kMostCollectives> rows{&kNothing};
constinit const CollectiveDef unknown{.name = "unknown"};
}  // namespace detail

std::vector<const CollectiveDef*> collectives() {
  std::vector<const CollectiveDef*> out;
  for (uint32_t id = 1; id < kMostCollectives; ++id)
    if (detail::rows[id] != nullptr) out.push_back(detail::rows[id]);
  return out;
}

CollectiveRegistration::CollectiveRegistration(const CollectiveDef& row) {
  if (row.id < kMostCollectives && detail::rows[row.id] == nullptr) {
    detail::rows[row.id] = &row;
    return;
  }
  std::fprintf(stderr, "collective %s has the number %u, which is out of range or that of %s\n", row.name, row.id,
               collective(row.id).name);
  std::abort();
}

}  // namespace npu::comm
