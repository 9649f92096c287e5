// SPDX-License-Identifier: Apache-2.0
// What a rank asks of its peers. All ranks of a communicator must ask the same, in the same order; each shows its call
// to the others, and what differs is told by name (call.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "comm/core/collective_def.h"

namespace npu::comm {

/// How the ranks of a reduction share the work (communicator/algorithm.h chooses).
enum class Algorithm : uint8_t {
  kNone,      ///< calls that have one way only
  kFullMesh,  ///< each shows all of its data, and takes what it needs of everybody's
  kMesh,      ///< each reduces a slice of everybody's data and writes it to those who get it
  kStar,      ///< one reduces everything and writes it to those who get it; the others wait for that one only
  kHosts,     ///< each host reduces its ranks' data, and hosts pass each other what came of it
  kFlat,      ///< hosts pass each other their ranks' data, which is reduced in the order of the ranks
};

enum class ReduceOp : uint32_t { kSum = 0, kProd = 1, kMax = 2, kMin = 3 };

/// Offset and count of one rank's part of a buffer, in elements.
struct Extent {
  uint64_t offset = 0, count = 0;
};

/// Plain data: it lies in memory that ranks share.
struct Call {
  uint16_t collective = 0;  ///< the number of its row
  Algorithm algorithm = Algorithm::kNone;
  bool with_order = false;  ///< an Order is shown with it (order.h)
  DType dtype = DType::kUndefined;
  uint32_t element_bytes = 0;  ///< decides for calls that only move data
  ReduceOp reduce = ReduceOp::kSum;
  uint32_t root = 0;
  uint32_t columns = 0;  ///< of the matrix whose elements they are; 0 where they are no matrix
  uint64_t count = 0;    ///< elements, as the function of that collective counts them
  uint64_t bytes() const { return count * element_bytes; }
  const CollectiveDef& row() const { return comm::collective(collective); }
  bool operator==(const Call&) const = default;
};

const char* name_of(ReduceOp op);
/// "fullmesh", as HCCL_ALGO writes it; "" for kNone.
const char* name_of(Algorithm algorithm);
/// "all_reduce (sum) of 1024 float32".
std::string describe(const Call& call);
/// Whether two ranks' calls belong together.
bool fits(const Call& a, const Call& b);
/// What differs, as "the operation is all_reduce and broadcast"; both must not fit.
std::string difference(const Call& a, const Call& b);

}  // namespace npu::comm
