// SPDX-License-Identifier: Apache-2.0
#include "graph/run/collective_order.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "graph/ir/control_flow.h"
#include "graph/passes/pass.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

/// Ranks give unlike shapes to what has none of these: each sends others as much as it likes.
bool of_one_shape(const Node& node) {
  return node.attributes.find<std::string>("reduction") != nullptr ||
         node.attributes.find<int64_t>("root_rank") != nullptr || node.attributes.find<int64_t>("rank_size") != nullptr;
}

std::string described(const Node& node, const ValueType& type) {
  std::string out = node.op;
  if (const auto* reduction = node.attributes.find<std::string>("reduction")) out += fmt::format(" ({})", *reduction);
  if (const auto* root = node.attributes.find<int64_t>("root_rank")) out += fmt::format(" from or to {}", *root);
  return out + " of " + to_string(type);
}

class Collector {
 public:
  explicit Collector(const Program& program) : program_(program) {}

  void add(const Function& function) {
    if (name_.empty()) name_ = client_name(function.name);
    for (const NodeId id : function.order()) {
      const Node& node = function[id];
      if (ops::is_collective(node.op))
        add(function, node);
      else if (const std::optional<Call> call = as_call(node))
        add_bodies(*call);
    }
  }

  comm::Announcement::ByGroup orders;

 private:
  void add(const Function& function, const Node& node) {
    const auto* group = node.attributes.find<std::string>("group");
    if (group == nullptr || node.attributes.find<int64_t>("sr_tag") != nullptr) return;
    comm::Order& order = orders.try_emplace(*group, name_).first->second;
    const bool alike = of_one_shape(node);
    for (const Edge& input : std::span(node.inputs).first(alike ? node.inputs.size() : 1)) {
      const Output& given = function.output(input);
      order.add(described(node, given.type), alike ? to_string(given.shape) : "");
    }
  }

  void add_bodies(const Call& call) {
    if (!call.condition.empty()) add_body(call.condition);
    for (const std::string& body : call.bodies) add_body(body);
  }

  void add_body(const std::string& name) {
    const auto found = program_.functions.find(name);
    if (found == program_.functions.end() || !within_.insert(name).second) return;  // it runs itself
    add(*found->second);
    within_.erase(name);
  }

  const Program& program_;
  std::string name_;
  std::set<std::string, std::less<>> within_;
};

}  // namespace

comm::Announcement::ByGroup collective_order(const Function& function, const Program& program) {
  Collector collector(program);
  collector.add(function);
  return std::move(collector.orders);
}

}  // namespace npu::graph
