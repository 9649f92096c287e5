// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "tools/profile/report/model/work.h"

namespace npu::profile {
namespace {

/// What a rank gives each other one: a share of its message, or of the message's n-th part.
struct Algorithm {
  std::string_view type;
  double whole, parts;
  bool to_one = false;
};
// Reductions and broadcasts of a message in two steps: each rank has the n-th part first, then all have all.
constexpr std::array kAlgorithms{
    Algorithm{"HcomAllReduce", 0, 2},      Algorithm{"HcomAllGather", 1, 0},  Algorithm{"HcomAllGatherV", 1, 0},
    Algorithm{"HcomReduceScatter", 0, 1},  Algorithm{"HcomAllToAll", 0, 1},   Algorithm{"HcomAllToAllV", 0, 1},
    Algorithm{"HcomReduceScatterV", 0, 1}, Algorithm{"HcomAllToAllVc", 0, 1}, Algorithm{"HcomBroadcast", 0, 2},
    Algorithm{"HcomReduce", 0, 2},         Algorithm{"HcomScatter", 0, 1},    Algorithm{"HcomBarrier", 0, 0},
    Algorithm{"HcomSend", 1, 0, true},     Algorithm{"HcomRecv", 1, 0, true}};

double bytes_of(const Tensors& tensors) {
  double bytes = 0;
  for (const Listed& one : tensors) bytes += one.count() * width_of(one.type);
  return bytes;
}

/// What is gathered is n times what was given.
double ranks_by_shapes(std::string_view type, double in, double out) {
  if (in <= 0 || out <= 0) return 0;
  if (type == "HcomAllGather") return out / in;
  return type == "HcomReduceScatter" ? in / out : 0;
}

/// Who only receives gives nothing; of what is scattered each gets a part.
double message_of(std::string_view type, double given, double out, double ranks) {
  if (type == "HcomScatter" && out > 0) return out * ranks;
  return type.starts_with("HcomAllGather") ? given : std::max(given, out);
}

}  // namespace

void add_exchange(std::string_view type, const Tensors& inputs, const Tensors& outputs, double given, double ranks,
                  Work& work) {
  const auto* const algorithm = std::ranges::find(kAlgorithms, type, &Algorithm::type);
  const double in = bytes_of(inputs), out = bytes_of(outputs), shown = ranks_by_shapes(type, in, out);
  work.ranks = algorithm != kAlgorithms.end() && algorithm->to_one ? 2 : shown > 0 ? shown : ranks;
  if (algorithm == kAlgorithms.end()) {
    work.missing = "what a " + std::string(type) + " sends to whom";
  } else if (work.ranks == 0) {
    work.missing = "number of ranks of a collective (show the collections of all ranks)";
  } else if (work.ranks > 1) {
    const double message = message_of(type, given, out, work.ranks);
    work.to_peer = message * (algorithm->whole + algorithm->parts / work.ranks);
    work.sent = work.to_peer * (work.ranks - 1);
  }
}

}  // namespace npu::profile
