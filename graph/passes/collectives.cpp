// SPDX-License-Identifier: Apache-2.0
// Collectives of one kind that wait for no result of each other go together: gradients in the segments of the group's
// split (comm/core/gradient_split.h), others by the number that the client gave them. What goes together lies in one
// block, where element i of one rank still meets element i of the others: the sums have the bits that they have alone.
//
// All ranks must come to the same collectives in the same order, and what else their functions compute may differ: each
// updates its own part of the variables, say. So the order is that in which the client called them, the last of those
// that go together counting, as far as none waits for a later one.
//
// A message between two ranks keeps its place among the calls: what is called before it does not go together with what
// is called after it, for the sum whose result the one sends may be called before what the other makes of it is summed.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "comm/core/gradient_split.h"
#include "graph/ir/waiting.h"
#include "graph/passes/pipeline.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

enum Fusion : int64_t { kNever, kBySegment, kByNumber };

bool is_collective(const Node& node) {
  return !node.removed && (is_collective(node.kind) || (node.kind == Kind::kOpaque && ops::is_collective(node.op)));
}

/// Between two ranks: the others of the group do not know of it.
bool is_message(const Node& node) { return is_collective(node) && node.attributes.find<int64_t>("sr_tag") != nullptr; }
bool meets_all(const Node& node) { return is_collective(node) && !is_message(node); }

int64_t fusion_of(const Node& node) { return node.attributes.get_or<int64_t>("fusion", kNever); }

/// What collectives must have in common.
struct Bucket {
  Kind kind;
  std::string group, reduction;
  int64_t root, fusion, number;
  std::vector<DType> types;
  size_t depth, messages;  ///< before it
  auto operator<=>(const Bucket&) const = default;
};

/// Where a collective comes: after the calls up to this one; there, by the number of its segment; there, as called.
struct Turn {
  size_t call, segment, last;
  auto operator<=>(const Turn&) const = default;
};

class Collectives {
 public:
  Collectives(Function& f, FusionCount& count) : f_(f), count_(count), order_(f.order()), place_(f.nodes.size()) {
    for (size_t i = 0; i < order_.size(); ++i) place_[static_cast<size_t>(order_[i])] = i;
  }

  void run() {
    find_depths();
    count_messages();
    for (const NodeId id : order_)
      if (is_collective(f_[id]) && may_join(id)) buckets_[bucket_of(id)].push_back(id);
    for (const auto& [bucket, members] : buckets_)
      if (has_segments(bucket)) last_of(bucket) = std::max(last_of(bucket), last_call(members));
    for (auto& [bucket, members] : buckets_) divide(bucket, members);
    if (hoisted_.empty()) return;
    forget_order();
    join_all();
    set_order();
    arrange();
  }

 private:
  bool may_join(NodeId id) {
    const Node& node = f_[id];
    if (node.kind != Kind::kAllReduce && node.kind != Kind::kRankReduce && node.kind != Kind::kRankBroadcast)
      return false;
    if (fusion_of(node) == kNever) return count_.decline("it is to go alone (fusion is 0)"), false;
    if (node.kind != Kind::kRankBroadcast && node.attributes.get<std::string>("reduction") != "sum")
      return count_.decline("it is no sum"), false;
    if (!bytes_of_outputs(node)) return count_.decline("its shape is not known before it runs"), false;
    return true;
  }

  static std::optional<int64_t> bytes_of_outputs(const Node& node) {
    int64_t bytes = 0;
    for (const Output& output : node.outputs) {
      if (!output.shape.known()) return std::nullopt;
      bytes += count_of(*output.shape.dims) * static_cast<int64_t>(size_of(output.type.dtype));
    }
    return bytes;
  }

  /// How many collectives, at most, one waits for, one of which waits for the other and so on: those of one depth wait
  /// for none of each other, and neither do any two made of them. That a client, or TensorFlow for it, lets each wait
  /// for the one before, without a result, is to give them an order: another one will do.
  void find_depths() {
    depth_.resize(f_.nodes.size());
    for (const NodeId id : order_) {
      size_t& depth = depth_[static_cast<size_t>(id)];
      const auto wait_for = [&](NodeId before) {
        depth = std::max(depth, depth_[static_cast<size_t>(before)] + (meets_all(f_[before]) ? 1 : 0));
      };
      for (const Edge& edge : f_[id].inputs) wait_for(edge.node);
      for (const NodeId before : f_[id].after)
        if (!(is_collective(f_[id]) && is_collective(f_[before]))) wait_for(before);
    }
  }

  void count_messages() {
    messages_.resize(f_.nodes.size());
    size_t messages = 0;
    for (const NodeId id : order_) messages_[static_cast<size_t>(id)] = is_message(f_[id]) ? messages++ : messages;
  }

  Bucket bucket_of(NodeId id) const {
    const Node& node = f_[id];
    const Attributes& a = node.attributes;
    std::set<DType> types;
    for (const Output& output : node.outputs) types.insert(output.type.dtype);
    return {node.kind,
            a.get<std::string>("group"),
            a.get_or<std::string>("reduction", ""),
            a.get_or<int64_t>("root_rank", 0),
            fusion_of(node),
            a.get_or<int64_t>("fusion_id", -1),
            {types.begin(), types.end()},
            depth_[static_cast<size_t>(id)],
            messages_[static_cast<size_t>(id)]};
  }

  /// Where the last of its inputs is there: gradients count in the order in which they come.
  size_t ready(NodeId id) const {
    size_t at = 0;
    for (const Edge& edge : f_[id].inputs) at = std::max(at, place_[static_cast<size_t>(edge.node)]);
    return at;
  }

  static bool has_segments(const Bucket& bucket) {
    return bucket.fusion == kBySegment && bucket.number == -1 && bucket.kind == Kind::kAllReduce;
  }
  size_t& last_of(const Bucket& bucket) { return last_[{bucket.messages, bucket.depth}]; }
  size_t call(NodeId id) const { return place_[static_cast<size_t>(id)]; }
  size_t last_call(const std::vector<NodeId>& members) const {
    size_t last = 0;
    for (const NodeId id : members) last = std::max(last, call(id));
    return last;
  }

  void divide(const Bucket& bucket, std::vector<NodeId>& members) {
    std::ranges::stable_sort(members, {}, [&](NodeId id) { return ready(id); });
    std::vector<int64_t> bytes;
    for (const NodeId id : members) bytes.push_back(*bytes_of_outputs(f_[id]));
    std::vector<size_t> last{members.size() - 1};
    if (has_segments(bucket)) tell(members, last = comm::segments(bucket.group, bytes));
    const size_t turn = has_segments(bucket) ? last_of(bucket) : last_call(members);
    size_t next = 0;
    for (size_t i = 0; i < last.size(); ++i) {
      take(members, bytes, next, last[i], {turn, i, last_call(members)});
      next = last[i] + 1;
    }
  }

  /// For the log and the report, which a function that was kept on disk has to bring its lines to as well.
  void tell(const std::vector<NodeId>& members, const std::vector<size_t>& last) {
    f_[members.back()].attributes.set("_segments", comm::to_string(last));
  }

  /// One segment, in pieces that are not too large to go together.
  void take(const std::vector<NodeId>& members, const std::vector<int64_t>& bytes, size_t first, size_t last,
            const Turn& turn) {
    std::vector<NodeId> piece;
    int64_t together = 0;
    for (size_t i = first; i <= last; ++i) {
      if (!piece.empty() && together + bytes[i] > comm::most_bytes_together())
        keep(std::exchange(piece, {}), turn), together = 0;
      piece.push_back(members[i]);
      together += bytes[i];
    }
    keep(std::move(piece), turn);
  }

  void keep(std::vector<NodeId> piece, const Turn& turn) {
    hoisted_.push_back(piece.back());
    turns_[piece.back()] = turn;
    if (piece.size() == 1) return count_.decline("there is no other for it to go with");
    for (size_t i = 0; i < piece.size(); ++i) count_.take();
    pieces_.push_back(std::move(piece));
  }

  /// Waits between collectives: two that go together would wait for what waits for them.
  void forget_order() {
    for (Node& node : f_.nodes)
      if (is_collective(node)) std::erase_if(node.after, [&](NodeId before) { return is_collective(f_[before]); });
  }

  void join_all() {
    std::map<Edge, Edge> edges;
    std::map<NodeId, NodeId> nodes;
    for (const std::vector<NodeId>& piece : pieces_) join(piece, edges, nodes);
    for (Node& node : f_.nodes) {
      if (node.removed) continue;
      for (Edge& edge : node.inputs)
        if (const auto at = edges.find(edge); at != edges.end()) edge = at->second;
      replace(node.after, nodes);
    }
    for (Result& result : f_.results)
      if (const auto at = edges.find(result.value); at != edges.end()) result.value = at->second;
    replace(f_.control_results, nodes);
    for (const auto& [from, to] : nodes)
      if (from != to) f_.remove(from);
  }

  /// The last of them takes over what the others take and give.
  void join(const std::vector<NodeId>& piece, std::map<Edge, Edge>& edges, std::map<NodeId, NodeId>& nodes) {
    const NodeId to = piece.back();
    Node joined = f_[to];
    joined.inputs.clear(), joined.outputs.clear(), joined.after.clear();
    std::vector<ValueType> types;
    std::vector<std::string> names;
    for (const NodeId id : piece) {
      const Node& one = f_[id];
      for (size_t i = 0; i < one.outputs.size(); ++i) {
        edges[{id, static_cast<int32_t>(i)}] = {to, static_cast<int32_t>(joined.outputs.size())};
        joined.inputs.push_back(one.inputs[i]), joined.outputs.push_back(one.outputs[i]);
        types.push_back(one.outputs[i].type);
      }
      joined.after.insert(joined.after.end(), one.after.begin(), one.after.end());
      names.push_back(one.calls + one.client_name);
      nodes[id] = to;
    }
    joined.attributes.set("_original_nodes", std::move(names));
    if (joined.kind == Kind::kRankBroadcast) joined.attributes.set("T", std::move(types));
    f_[to] = std::move(joined);
  }

  static void replace(std::vector<NodeId>& ids, const std::map<NodeId, NodeId>& nodes) {
    std::set<NodeId> seen;
    for (NodeId& id : ids)
      if (const auto at = nodes.find(id); at != nodes.end()) id = at->second;
    std::erase_if(ids, [&](NodeId id) { return !seen.insert(id).second; });
  }

  /// Each waits for the one whose turn is before, among those that can run when all else that can has run.
  void set_order() {
    Waiting waiting(f_.nodes);
    std::vector<NodeId> others, order;
    std::set<std::pair<Turn, NodeId>> ready;
    const auto add = [&](NodeId id) {
      if (is_collective(f_[id]))
        ready.emplace(turn_of(id), id);
      else
        others.push_back(id);
    };
    const auto done = [&](NodeId id) {
      for (const NodeId user : waiting.users(id))
        if (waiting.come(user)) add(user);
    };
    for (size_t i = 0; i < f_.nodes.size(); ++i)
      if (const auto id = static_cast<NodeId>(i); !f_[id].removed && waiting.is_ready(id)) add(id);
    while (!others.empty() || !ready.empty()) {
      if (!others.empty()) {
        const NodeId id = others.back();
        others.pop_back();
        done(id);
      } else {
        order.push_back(ready.extract(ready.begin()).value().second);
        done(order.back());
      }
    }
    for (size_t i = 1; i < order.size(); ++i) f_[order[i]].after.push_back(order[i - 1]);
  }
  Turn turn_of(NodeId id) const {
    const auto at = turns_.find(id);
    return at == turns_.end() ? Turn{call(id), 0, call(id)} : at->second;
  }

  /// They stand first, so that each runs as soon as its inputs are there: what is computed behind it need not wait.
  void arrange() {
    std::vector<NodeId> all = hoisted_;
    const std::set<NodeId> first(all.begin(), all.end());
    for (size_t i = 0; i < f_.nodes.size(); ++i)
      if (const auto id = static_cast<NodeId>(i); !first.contains(id)) all.push_back(id);
    f_.arrange(all);
  }

  Function& f_;
  FusionCount& count_;
  std::vector<NodeId> order_;
  std::vector<size_t> place_, depth_, messages_;  ///< by node; the first in order_
  std::map<Bucket, std::vector<NodeId>> buckets_;
  std::vector<std::vector<NodeId>> pieces_;  ///< what goes together
  std::vector<NodeId> hoisted_;              ///< what becomes of them, and those that go alone
  std::map<NodeId, Turn> turns_;             ///< of these
  /// By messages and depth: the last call of those that go in segments.
  std::map<std::pair<size_t, size_t>, size_t> last_;
};

}  // namespace

void fuse_collectives(Function& f, Program&, FusionCount& count) {
  if (std::ranges::any_of(f.nodes, [](const Node& node) { return is_collective(node); })) Collectives(f, count).run();
}

}  // namespace npu::graph
