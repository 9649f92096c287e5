// SPDX-License-Identifier: Apache-2.0
#include "comm/core/call.h"

#include <fmt/format.h>

namespace npu::comm {
namespace {

std::string element(const Call& call) {
  return call.dtype == DType::kUndefined ? fmt::format("{}-byte elements", call.element_bytes)
                                         : std::string(name_of(call.dtype));
}

}  // namespace

const char* name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return "sum";
    case ReduceOp::kProd: return "prod";
    case ReduceOp::kMax: return "max";
    case ReduceOp::kMin: return "min";
  }
  return "unknown";
}

const char* name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kNone: return "";
    case Algorithm::kFullMesh: return "fullmesh";
    case Algorithm::kMesh: return "mesh";
    case Algorithm::kStar: return "star";
    case Algorithm::kHosts: return "hosts";
    case Algorithm::kFlat: return "flat";
  }
  return "unknown";
}

std::string describe(const Call& call) {
  const CollectiveDef& row = call.row();
  std::string out = row.name;
  if (!row.moves) return out;
  if (row.reduces) out += fmt::format(" ({})", name_of(call.reduce));
  out += fmt::format(" of {} {}", call.count, element(call));
  if (row.has_root) out += fmt::format(", root {}", call.root);
  return out;
}

bool fits(const Call& a, const Call& b) {
  const CollectiveDef& row = a.row();
  return a.collective == b.collective && a.element_bytes == b.element_bytes && a.dtype == b.dtype && a.root == b.root &&
         a.columns == b.columns && a.algorithm == b.algorithm && (!row.reduces || a.reduce == b.reduce) &&
         (!row.counts_agree || a.count == b.count);
}

std::string difference(const Call& a, const Call& b) {
  if (a.collective != b.collective) return fmt::format("the operation is {} and {}", a.row().name, b.row().name);
  if (a.dtype != b.dtype || a.element_bytes != b.element_bytes)
    return fmt::format("dataType is {} and {}", element(a), element(b));
  if (a.row().reduces && a.reduce != b.reduce)
    return fmt::format("op is {} and {}", name_of(a.reduce), name_of(b.reduce));
  if (a.root != b.root) return fmt::format("{} is {} and {}", a.row().has_root ? "root" : "sr_tag", a.root, b.root);
  if (a.count == b.count && a.columns != b.columns)
    return fmt::format("their matrix has {} and {} columns (0: no matrix)", a.columns, b.columns);
  if (a.count == b.count)
    return fmt::format("HCCL_ALGO (or hcclAlgo) makes it {} and {}", name_of(a.algorithm), name_of(b.algorithm));
  return fmt::format("count is {} and {}", a.count, b.count);
}

}  // namespace npu::comm
