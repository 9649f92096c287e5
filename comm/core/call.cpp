// SPDX-License-Identifier: Apache-2.0
#include "comm/core/call.h"

#include <fmt/format.h>

namespace npu::comm {
namespace {

bool reduces(Kind kind) {
  return kind == Kind::kAllReduce || kind == Kind::kReduce || kind == Kind::kReduceScatter ||
         kind == Kind::kReduceScatterV;
}

bool has_root(Kind kind) { return kind == Kind::kReduce || kind == Kind::kBroadcast || kind == Kind::kScatter; }

std::string element(const Call& call) {
  return call.dtype == DType::kUndefined ? fmt::format("{}-byte elements", call.element_bytes)
                                         : std::string(name_of(call.dtype));
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kNone: return "nothing";
    case Kind::kAllReduce: return "all_reduce";
    case Kind::kReduce: return "reduce";
    case Kind::kBroadcast: return "broadcast";
    case Kind::kReduceScatter: return "reduce_scatter";
    case Kind::kReduceScatterV: return "reduce_scatter_v";
    case Kind::kAllGather: return "all_gather";
    case Kind::kAllGatherV: return "all_gather_v";
    case Kind::kScatter: return "scatter";
    case Kind::kAllToAll: return "all_to_all";
    case Kind::kAllToAllV: return "all_to_all_v";
    case Kind::kAllToAllVC: return "all_to_all_vc";
    case Kind::kBarrier: return "barrier";
    case Kind::kSend: return "send";
  }
  return "unknown";
}

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
  }
  return "unknown";
}

std::string describe(const Call& call) {
  if (call.kind == Kind::kNone || call.kind == Kind::kBarrier) return name_of(call.kind);
  std::string out = name_of(call.kind);
  if (reduces(call.kind)) out += fmt::format(" ({})", name_of(call.reduce));
  out += fmt::format(" of {} {}", call.count, element(call));
  if (has_root(call.kind)) out += fmt::format(", root {}", call.root);
  return out;
}

bool counts_agree(Kind kind) {
  return kind != Kind::kAllGatherV && kind != Kind::kReduceScatterV && kind != Kind::kAllToAllV;
}

bool fits(const Call& a, const Call& b) {
  return a.kind == b.kind && a.element_bytes == b.element_bytes && a.dtype == b.dtype && a.root == b.root &&
         a.algorithm == b.algorithm && (!reduces(a.kind) || a.reduce == b.reduce) &&
         (!counts_agree(a.kind) || a.count == b.count);
}

std::string difference(const Call& a, const Call& b) {
  if (a.kind != b.kind) return fmt::format("the operation is {} and {}", name_of(a.kind), name_of(b.kind));
  if (a.dtype != b.dtype || a.element_bytes != b.element_bytes)
    return fmt::format("dataType is {} and {}", element(a), element(b));
  if (reduces(a.kind) && a.reduce != b.reduce)
    return fmt::format("op is {} and {}", name_of(a.reduce), name_of(b.reduce));
  if (a.root != b.root) return fmt::format("root is {} and {}", a.root, b.root);
  if (a.count == b.count)
    return fmt::format("HCCL_ALGO (or hcclAlgo) makes it {} and {}", name_of(a.algorithm), name_of(b.algorithm));
  return fmt::format("count is {} and {}", a.count, b.count);
}

}  // namespace npu::comm
