// SPDX-License-Identifier: Apache-2.0
#include "graph/run/fusion_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/model/digest.h"
#include "graph/run/executable.h"
#include "ops/tuner/tuner.h"
#include "ops/tuning/bank.h"
#include "ops/tuning/question.h"
#include "ops/vector/conversion/convert.h"

namespace npu::graph {
namespace {

namespace tuning = ops::tuning;

enum Way : size_t { kWhole, kParts };
constexpr std::array<std::string_view, 2> kWays{"whole", "parts"};
const tuning::Point kPoint("fused_node", "Whether a node that fusion made is computed whole or in its parts.", kWays);

thread_local bool measuring = false;  // NOLINT: what is measured is planned without asking

/// The place in which a function is measured: nobody listens, and no client is there.
class Aside final : public Environment {
 public:
  explicit Aside(Environment& real) : real_(real) {}
  int device() const override { return real_.device(); }
  std::function<void(Frame&)> on_host(HostStep) override { return {}; }
  std::shared_ptr<NodeState> state(const std::string&, const std::string&,
                                   const std::function<std::shared_ptr<NodeState>()>& make) override {
    return make();
  }
  std::shared_ptr<Executable> get(std::string_view name, Role role) override { return real_.get(name, role); }
  Program program() const override { return real_.program(); }
  const HostNode& host() const override { return none_; }
  Listener& listener() override { return nobody_; }

 private:
  Environment& real_;
  HostNode none_;
  Listener nobody_;
};

/// Parts as text, nodes by their position; attributes that begin with "_" are the client's notes to itself.
std::string text_of(const Function& parts) {
  std::map<NodeId, size_t> place;
  std::string out;
  for (const NodeId id : parts.order()) {
    const Node& node = parts[id];
    out += fmt::format("%{} {}", place.emplace(id, place.size()).first->second, node.op);
    for (const Edge& edge : node.inputs) out += fmt::format(" {}:{}", place.at(edge.node), edge.output);
    for (const auto& [name, entry] : node.attributes.entries())
      if (!name.starts_with('_')) out += fmt::format(" {}={}", name, to_string(entry.value));
    if (node.parts) out += fmt::format(" [{}]", text_of(*node.parts));
    out += "\n";
  }
  for (const Result& result : parts.results)
    out += fmt::format("result {}:{}\n", place.at(result.value.node), result.value.output);
  return out;
}

bool measurable(const Node& node, std::span<const Planned> inputs) {
  return !node.stateful && std::ranges::all_of(inputs, [](const Planned& one) {
    return one.type.is_tensor() && !one.dynamic && !one.list &&
           (one.literal || is_floating(one.dtype()) || is_integer(one.dtype()) || one.dtype() == DType::kBool);
  });
}

/// Numbers between 0.5 and 1.5, which every function of elements takes; whole ones are 1.
Value value_like(int device, const Planned& planned) {
  Value value = make_value(device, planned.dtype(), planned.shape());
  const int64_t count = value.tensor.count();
  if (count == 0) return value;
  if (planned.literal && planned.literal->bytes) {
    std::ranges::copy(*planned.literal->bytes, value.tensor.bytes());
    return value;
  }
  std::vector<double> numbers(static_cast<size_t>(count), 1.0);
  if (is_floating(planned.dtype()))
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.5 + std::fmod(static_cast<double>(i) * 0.618, 1.0);
  ops::converter(DType::kDouble, planned.dtype())(numbers.data(), 1, value.tensor.bytes(), 1, count);
  return value;
}

/// A function of this node alone.
Function function_of(const Node& node, const Dialect& dialect) {
  Function f("measured", dialect);
  Node copy = node;
  copy.after.clear();
  for (size_t i = 0; i < node.inputs.size(); ++i)
    copy.inputs[i] = {f.add_argument(fmt::format("x{}", i), node.parts->arguments[i].value), 0};
  const size_t outputs = node.outputs.size();
  const NodeId id = f.add(std::move(copy));
  for (size_t i = 0; i < outputs; ++i) f.results.push_back({fmt::format("y{}", i), {id, static_cast<int32_t>(i)}});
  return f;
}

class Measured {
 public:
  Measured(Function function, Environment& environment, const std::vector<Value>& arguments)
      : executable_(std::make_shared<Executable>(std::move(function), environment, Role::kOperator)),
        arguments_(arguments) {}
  void run() const { executable_->run(arguments_); }

 private:
  const std::shared_ptr<Executable> executable_;
  const std::vector<Value>& arguments_;
};

tuning::Entry measure(const Node& node, std::span<const Planned> inputs, Environment& environment,
                      const tuning::Effort& effort) {
  std::vector<Value> arguments;
  for (const Planned& input : inputs) arguments.push_back(value_like(environment.device(), input));
  Aside aside(environment);
  const Measured whole(function_of(node, *node.parts->dialect), aside, arguments);
  const Measured parts(Function(*node.parts), aside, arguments);
  const auto comparison = tuning::compare([&] { whole.run(); }, [&] { parts.run(); }, effort);
  return tuning::entry_from(comparison, std::string(kWays[kParts]), std::string(kWays[kWhole]));
}

void tune(const Node& node, std::span<const Planned> inputs, Environment& environment, tuning::Session& session,
          const std::string& key) {
  const std::string type = node.op;
  const tuning::Bank::Key question{std::string(kPoint.name), key};
  const auto is_wanted = [&] {
    // A node is wanted by what fusion called it, or by any of those it stands for.
    const std::vector<const Node*> all = origins(node);
    return session.scope().wants(node.name, type) || std::ranges::any_of(all, [&](const Node* part) {
             return session.scope().wants(part->client_name, part->op);
           });
  };
  if (!measurable(node, inputs) || !is_wanted() || !session.is_open(question, node.name, type)) return;
  measuring = true;
  try {
    session.alone(
        [&] { session.found(question, measure(node, inputs, environment, session.effort()), node.name, type); });
  } catch (const Error& e) {
    session.failed(question, node.name, type, e.message());
  }
  measuring = false;
}

}  // namespace

std::string fusion_key(const Node& node, std::span<const Planned> inputs) {
  std::string key = node.op;
  for (const Planned& input : inputs)
    key += input.type.is_tensor() ? fmt::format(" {}{}", name_of(input.dtype()), input.shape()) : " object";
  return key + fmt::format(" parts {}", model::digest_of(text_of(*node.parts)).text());
}

bool parts_are_faster(const Node& node, std::span<const Planned> inputs, Environment& environment) {
  if (measuring) return false;
  const auto session = tuning::session(tuning::Job::kGraphs);
  if (session == nullptr && !tuning::has_answers(tuning::Job::kGraphs)) return false;
  const std::string key = fusion_key(node, inputs);
  if (session != nullptr) tune(node, inputs, environment, *session, key);
  return tuning::answer_of(tuning::Job::kGraphs, kPoint.name, key) == kWays[kParts];
}

}  // namespace npu::graph
