// SPDX-License-Identifier: Apache-2.0
#include "comm/core/collective_def.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace npu::comm {
namespace {

constexpr CollectiveDef kNothing{.name = "nothing", .moves = false};
constexpr CollectiveDef kUnknown{.name = "unknown"};

constinit std::array<const CollectiveDef*, kMostCollectives> rows{&kNothing};

}  // namespace

const CollectiveDef& collective(uint32_t id) {
  return id < kMostCollectives && rows[id] != nullptr ? *rows[id] : kUnknown;
}

std::vector<const CollectiveDef*> collectives() {
  std::vector<const CollectiveDef*> out;
  for (uint32_t id = 1; id < kMostCollectives; ++id)
    if (rows[id] != nullptr) out.push_back(rows[id]);
  return out;
}

CollectiveRegistration::CollectiveRegistration(const CollectiveDef& row) {
  if (row.id < kMostCollectives && rows[row.id] == nullptr) {
    rows[row.id] = &row;
    return;
  }
  std::fprintf(stderr, "collective %s has the number %u, which is out of range or that of %s\n", row.name, row.id,
               collective(row.id).name);
  std::abort();
}

}  // namespace npu::comm
