// SPDX-License-Identifier: Apache-2.0
// The vendor's collectives: nodes that meet those of the same place in the graphs of the group's other ranks. They are
// stateful, so that all ranks come to them in one order.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "comm/operator/packing.h"
#include "graph/plan/lowering.h"

namespace npu::graph {
namespace {

/// The operator `name` on input `i`, of which output `i` has the first axis `times` as long, or 1 / `parts` of that.
OperatorCall meet(Lowering& l, std::string_view name, size_t i = 0, int64_t times = 1, int64_t parts = 1) {
  const Planned self = l.input(i);
  Dims shape = self.shape();
  if (times != 1 || parts != 1) {
    require(!shape.empty() && shape[0] % parts == 0,
            "its input is {}; the first dimension is put together or cut along, so it is a multiple of {}", shape,
            parts);
    shape[0] = shape[0] * times / parts;
  }
  OperatorCall call = l.call(name);
  call.set("self", self)
      .set("hcom", l.attributes().get<std::string>("group"))
      .set("out", l.make(i, self.dtype(), shape));
  return call;
}

std::string reduction(const Lowering& l) { return l.attributes().get<std::string>("reduction"); }
int64_t root(const Lowering& l) { return l.attributes().get<int64_t>("root_rank"); }
int64_t ranks(const Lowering& l) { return l.attributes().get<int64_t>("rank_size"); }

void all_gather(Lowering& l) { meet(l, "hcom_all_gather", 0, ranks(l)); }

void reduce_scatter(Lowering& l) { meet(l, "hcom_reduce_scatter", 0, 1, ranks(l)).set("reduction", reduction(l)); }

/// The operator `list` on these inputs, which lie in one block then; each output is a part of it.
OperatorCall meet_once(Lowering& l, std::string_view list, const std::vector<size_t>& which) {
  std::vector<Planned> self;
  std::vector<Tensor> views;
  for (const size_t i : which) views.push_back(self.emplace_back(l.input(i)).view);
  const comm::Packing packing = comm::packing_of(views);
  const Planned block = l.scratch(views.front().dtype, {packing.count});
  OperatorCall call = l.call(list);
  call.set("self", self).set("hcom", l.attributes().get<std::string>("group")).set("out", block);
  Step& step = l.steps().back();
  step.block = block.slot;
  for (size_t k = 0; k < which.size(); ++k) {
    Planned part = block;
    part.view = make_tensor(nullptr, views[k].dtype, views[k].shape);
    part.view.offset = packing.begin[k];
    l.alias(which[k], part);
    step.places.push_back(packing.begin[k] * static_cast<int64_t>(size_of(views[k].dtype)));
  }
  return call;
}

/// One step for all inputs of a type, in the order of the types' first inputs; `set` adds what the operator is to do.
void meet_by_type(Lowering& l, std::string_view one, std::string_view list,
                  const std::function<void(OperatorCall)>& set) {
  std::vector<std::vector<size_t>> by_type;
  for (size_t i = 0; i < l.input_count(); ++i) {
    const auto same = [&](const std::vector<size_t>& each) { return l.dtype(each.front()) == l.dtype(i); };
    const auto at = std::ranges::find_if(by_type, same);
    (at == by_type.end() ? by_type.emplace_back() : *at).push_back(i);
  }
  for (const std::vector<size_t>& which : by_type)
    set(which.size() == 1 ? meet(l, one, which.front()) : meet_once(l, list, which));
}

void all_reduce(Lowering& l) {
  meet_by_type(l, "hcom_all_reduce", "hcom_all_reduce_list",
               [&](OperatorCall call) { call.set("reduction", reduction(l)); });
}

void reduce(Lowering& l) {
  meet_by_type(l, "hcom_reduce", "hcom_reduce_list",
               [&](OperatorCall call) { call.set("reduction", reduction(l)).set("root", root(l)); });
}

void broadcast(Lowering& l) {
  meet_by_type(l, "hcom_broadcast", "hcom_broadcast_list", [&](OperatorCall call) { call.set("root", root(l)); });
}

/// What this rank sends to each and gets of each: counts and where they stand.
struct Exchanged {
  std::vector<int64_t> send_counts, send_displacements, recv_counts, recv_displacements;
};

/// Where parts begin that lie one after the other.
std::vector<int64_t> packed(const std::vector<int64_t>& counts) {
  std::vector<int64_t> out(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), out.begin(), int64_t{0});
  return out;
}

void exchange(Lowering& l, const Planned& self, const Exchanged& parts, int64_t rank = -1) {
  int64_t end = 0;
  for (size_t i = 0; i < parts.recv_counts.size() && i < parts.recv_displacements.size(); ++i)
    if (parts.recv_counts[i] > 0) end = std::max(end, parts.recv_displacements[i] + parts.recv_counts[i]);
  l.call("hcom_all_to_all_v")
      .set("self", self)
      .set("hcom", l.attributes().get<std::string>("group"))
      .set("send_counts", parts.send_counts)
      .set("send_displacements", parts.send_displacements)
      .set("recv_counts", parts.recv_counts)
      .set("recv_displacements", parts.recv_displacements)
      .set("rank", rank)
      .set("out", l.make(0, self.dtype(), {end}));
}

void all_to_all_v(Lowering& l) {
  exchange(l, l.input(0), {l.integers(1), l.integers(2), l.integers(3), l.integers(4)});
}

void all_to_all_vc(Lowering& l) {
  const std::vector<int64_t> matrix = l.integers(1);
  const auto rank = l.attributes().get<int64_t>("rank");
  const Dims& shape = l.shape(1);
  require(shape.size() == 2 && shape[0] == shape[1], "send_count_matrix is {}; of n ranks it is [n, n]", shape);
  const auto size = shape[0];
  require(rank >= 0 && rank < size, "rank is {}; send_count_matrix is of the ranks 0 to {}", rank, size - 1);
  Exchanged parts;
  for (int64_t i = 0; i < size; ++i) {
    parts.send_counts.push_back(matrix[static_cast<size_t>(rank * size + i)]);
    parts.recv_counts.push_back(matrix[static_cast<size_t>(i * size + rank)]);
  }
  parts.send_displacements = packed(parts.send_counts), parts.recv_displacements = packed(parts.recv_counts);
  exchange(l, l.input(0), parts, rank);
}

/// Pieces of memory, as pairs of address and bytes, so many for each rank.
void gather_all_to_all_v(Lowering& l) {
  const std::vector<int64_t> info = l.integers(0), pieces = l.integers(1);
  for (const int64_t count : pieces)
    require(count >= 0, "addrinfo_count_per_rank is {}; these are numbers of addresses", fmt::join(pieces, ", "));
  require(info.size() == 2 * static_cast<size_t>(std::accumulate(pieces.begin(), pieces.end(), int64_t{0})),
          "addrinfo has {} numbers; addrinfo_count_per_rank tells {} addresses, each with its bytes", info.size(),
          fmt::join(pieces, " + "));
  const auto dtype = l.attributes().get<ValueType>("dtype").dtype;
  const auto unit = static_cast<int64_t>(size_of(dtype));
  std::vector<int64_t> addresses, lengths;
  for (size_t i = 0; i < info.size(); i += 2) addresses.push_back(info[i]), lengths.push_back(info[i + 1]);
  Exchanged parts{{}, {}, l.integers(2), l.integers(3)};
  for (size_t i = 0, piece = 0; i < pieces.size(); ++i) {
    int64_t bytes = 0;
    for (int64_t end = pieces[i]; end > 0; --end) bytes += lengths[piece++];
    require(bytes >= 0 && bytes % unit == 0, "rank {} is sent {} bytes, which are no whole number of {}", i, bytes,
            name_of(dtype));
    parts.send_counts.push_back(bytes / unit);
  }
  parts.send_displacements = packed(parts.send_counts);
  const int64_t all = std::accumulate(parts.send_counts.begin(), parts.send_counts.end(), int64_t{0});
  const Planned gathered = l.make(1, dtype, {all});
  l.call("gather_memory")
      .set("addresses", addresses)
      .set("lengths", lengths)
      .set("device", static_cast<int64_t>(l.device()))
      .set("out", gathered);
  exchange(l, gathered, parts);
}

OperatorCall message(Lowering& l, std::string_view name, std::string_view peer) {
  OperatorCall call = l.call(name);
  call.set("hcom", l.attributes().get<std::string>("group"))
      .set("peer", l.attributes().get<int64_t>(peer))
      .set("tag", l.attributes().get<int64_t>("sr_tag"));
  return call;
}

void send(Lowering& l) { message(l, "hcom_send", "dest_rank").set("self", l.input(0)); }

void receive(Lowering& l) {
  const auto& shape = l.attributes().get<PartialShape>("shape");
  require(shape.known(), "shape is {}; all of it must be known", to_string(shape));
  const Planned out = l.make(0, l.attributes().get<ValueType>("T").dtype, *shape.dims);
  message(l, "hcom_receive", "src_rank").set("out", out);
}

NPU_NODE("HcomAllToAllV", all_to_all_v);
NPU_NODE("HcomAllToAllVC", all_to_all_vc);
NPU_NODE("HcomGatherAllToAllV", gather_all_to_all_v);
NPU_NODE("HcomSend", send);
NPU_NODE("HcomReceive", receive);
NPU_NODE(Kind::kAllReduce, all_reduce);
NPU_NODE(Kind::kRankReduce, reduce);
NPU_NODE(Kind::kRankBroadcast, broadcast);
NPU_NODE(Kind::kAllGather, all_gather);
NPU_NODE(Kind::kReduceScatter, reduce_scatter);

}  // namespace
}  // namespace npu::graph
