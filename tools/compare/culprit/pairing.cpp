// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/culprit/pairing.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/dump/record/dump_name.h"
#include "tools/compare/culprit/deviation.h"

namespace npu::compare {
namespace {

constexpr double kAlike = 1e-3;  // values this near are the same tensor, where names say nothing

/// A name as files spell it: arrays have "." where the framework has ":".
std::string key_of(std::string_view name) {
  std::string key = graph::record::path_word(name);
  std::ranges::replace(key, ':', '_');
  return key;
}

bool fits(const Port& mine, const Port& golden) {
  return elements(mine.shape).value_or(0) == elements(golden.shape).value_or(1);
}

/// Pictures may stand in another format, with padding.
bool comparable(const Port& mine, const Port& golden) {
  return fits(mine, golden) ||
         (mine.shape.size() != golden.shape.size() && mine.shape.size() > 3 && golden.shape.size() > 3);
}

class Pairer {
 public:
  Pairer(const Run& mine, const Run& golden) : mine_(mine), golden_(golden) {
    for (const Operator& op : golden.operators) {
      if (!op.ran) continue;
      by_last_.try_emplace(key_of(op.last()), &op);
      by_name_.try_emplace(key_of(op.name), &op);
    }
    found_.twins.resize(mine.operators.size());
  }

  Pairing pair() {
    for (size_t i = 0; i < mine_.operators.size(); ++i)
      if (mine_.operators[i].ran && (found_.twins[i] = named_twin(mine_.operators[i]))) take(found_.twins[i]);
    by_structure();
    by_values();
    for (size_t i = 0; i < mine_.operators.size(); ++i) fill_outputs(i);
    for (size_t i = 0; i < mine_.operators.size(); ++i) fill_inputs(i);
    count();
    return std::move(found_);
  }

 private:
  static const Operator* look(const std::map<std::string, const Operator*>& in, std::string_view name) {
    const auto at = in.find(key_of(name));
    return at == in.end() ? nullptr : at->second;
  }

  /// What a fused operator gives is what the last of its originals gives.
  const Operator* named_twin(const Operator& op) const {
    const Operator* twin = look(by_last_, op.last());
    if (twin == nullptr && op.originals.size() < 2) twin = look(by_name_, op.name);
    return twin;
  }

  void take(const Operator* golden) { taken_.insert(golden); }

  /// The type, what it gives, and the partners of those that it reads.
  std::string signature(const Operator& op, bool golden, bool neighbours) const {
    std::string text = op.type;
    for (const Port& port : op.outputs) text += fmt::format("|{}{}", port.type, shape_text(port.shape));
    if (!neighbours) return text;
    for (const Port& port : op.inputs) {
      if (port.maker.empty()) continue;
      const auto at = mine_.by_name.find(port.maker);
      if (golden) {
        text += "<" + key_of(port.maker);
      } else if (at != mine_.by_name.end()) {
        const Operator* twin = found_.twins[at->second];
        text += "<" + key_of(twin != nullptr ? twin->name : port.maker);
      }
    }
    return text;
  }

  /// Operators of a signature that both sides have equally often, in their order.
  void by_structure() {
    if (golden_.kind != Kind::kDevice) return;
    for (const bool neighbours : {true, false}) {
      std::map<std::string, std::pair<std::vector<size_t>, std::vector<const Operator*>>> left;
      for (size_t i = 0; i < mine_.operators.size(); ++i)
        if (mine_.operators[i].ran && found_.twins[i] == nullptr)
          left[signature(mine_.operators[i], false, neighbours)].first.push_back(i);
      for (const Operator& op : golden_.operators)
        if (op.ran && !taken_.contains(&op)) left[signature(op, true, neighbours)].second.push_back(&op);
      for (const auto& [text, both] : left) {
        if (both.first.size() != both.second.size()) continue;
        for (size_t k = 0; k < both.first.size(); ++k) join(both.first[k], both.second[k]);
      }
    }
  }

  /// What has the same elements, where just one tensor of the golden has them.
  void by_values() {
    for (size_t i = 0; i < mine_.operators.size(); ++i) {
      const Operator& op = mine_.operators[i];
      if (!op.ran || found_.twins[i] != nullptr || op.outputs.empty() || op.outputs[0].shape.empty()) continue;
      const Operator* only = nullptr;
      size_t alike = 0;
      for (const Operator& golden : golden_.operators) {
        if (!golden.ran || taken_.contains(&golden) || golden.outputs.empty() ||
            golden.outputs[0].shape != op.outputs[0].shape)
          continue;
        const Deviation d = deviation(op.outputs[0], golden.outputs[0]);
        if (d.known && d.largest > 0 && d.relative() < kAlike) only = &golden, ++alike;
      }
      if (alike == 1) join(i, only);
    }
  }

  void join(size_t mine, const Operator* golden) { found_.twins[mine] = golden, take(golden), ++found_.by_structure; }

  /// Output 0 of a fused operator is its last original's; others are compared where both sides were fused alike.
  bool same_outputs(const Operator& op, const Operator& twin) const {
    if (golden_.kind == Kind::kMsprobe) return true;
    if (golden_.kind == Kind::kArrays) return op.originals.size() < 2;
    return (op.originals.size() < 2 && twin.originals.size() < 2) || op.originals == twin.originals;
  }

  void fill_outputs(size_t i) {
    const Operator& op = mine_.operators[i];
    auto& ports = found_.outputs.emplace_back(op.outputs.size(), nullptr);
    const Operator* twin = found_.twins[i];
    if (twin == nullptr) return;
    const size_t count = same_outputs(op, *twin) ? op.outputs.size() : 1;
    for (size_t k = 0; k < std::min({count, op.outputs.size(), twin->outputs.size()}); ++k)
      if ((twin->outputs[k].source || twin->outputs[k].statistics) && comparable(op.outputs[k], twin->outputs[k]))
        ports[k] = &twin->outputs[k];
    if (golden_.kind == Kind::kArrays && op.originals.size() > 1 && op.outputs.size() > 1) fill_fused(op, ports);
  }

  /// Of several outputs of a fused operator nobody tells which original gave which: what agrees with one is it. None
  /// agrees: output 0 stays the last one's, and the others are not compared.
  void fill_fused(const Operator& op, std::vector<const Port*>& ports) const {
    for (size_t k = 0; k < op.outputs.size(); ++k) {
      for (auto name = op.originals.rbegin(); name != op.originals.rend(); ++name) {
        const Operator* made = look(by_last_, *name);
        if (made == nullptr || made->outputs.empty() || !made->outputs[0].source) continue;
        if (!fits(op.outputs[k], made->outputs[0])) continue;
        const Deviation d = deviation(op.outputs[k], made->outputs[0]);
        if (!d.known || !(d.relative() < kAlike)) continue;
        ports[k] = &made->outputs[0];
        break;
      }
    }
  }

  bool same_inputs(const Operator& op, const Operator& twin) const {
    return golden_.kind != Kind::kArrays && op.inputs.size() == twin.inputs.size() &&
           (op.originals == twin.originals || found_.by_structure > 0);
  }

  /// An input is that of the partner, or what its maker's partner gives.
  void fill_inputs(size_t i) {
    const Operator& op = mine_.operators[i];
    auto& ports = found_.inputs.emplace_back(op.inputs.size(), nullptr);
    const Operator* twin = found_.twins[i];
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      const Port& input = op.inputs[k];
      if (!input.source && !input.statistics) continue;
      if (twin != nullptr && same_inputs(op, *twin) && fits(input, twin->inputs[k]) &&
          (twin->inputs[k].source || twin->inputs[k].statistics)) {
        ports[k] = &twin->inputs[k];
      } else if (const Port* made = made_by(input); made != nullptr && fits(input, *made)) {
        ports[k] = made;
      }
    }
  }

  const Port* made_by(const Port& input) const {
    const auto maker = mine_.by_name.find(input.maker);
    if (maker == mine_.by_name.end()) return nullptr;
    const Operator& op = mine_.operators[maker->second];
    const Operator* twin = found_.twins[maker->second];
    if (twin == nullptr && !op.ran) twin = named_twin(op);  // constants and variables, which leave no file here
    if (twin == nullptr || input.output >= twin->outputs.size() || (input.output > 0 && !same_outputs(op, *twin)))
      return nullptr;
    const Port& port = twin->outputs[input.output];
    return port.source || port.statistics ? &port : nullptr;
  }

  void count() {
    for (size_t i = 0; i < mine_.operators.size(); ++i) {
      const Operator& op = mine_.operators[i];
      if (!op.ran || op.outputs.empty()) continue;
      ++found_.ran;
      if (std::ranges::any_of(found_.outputs[i], [](const Port* port) { return port != nullptr; })) {
        ++found_.matched;
      } else {
        found_.missing.push_back(op.name);
      }
    }
    std::set<std::string> known;
    for (const Operator& op : mine_.operators) {
      known.insert(key_of(op.name));
      for (const std::string& original : op.originals) known.insert(key_of(original));
    }
    for (const Operator& op : golden_.operators)
      if (op.ran && !taken_.contains(&op) && !known.contains(key_of(op.last()))) found_.golden_only.push_back(op.name);
  }

  const Run &mine_, &golden_;
  std::map<std::string, const Operator*> by_last_, by_name_;
  std::set<const Operator*> taken_;
  Pairing found_;
};

}  // namespace

Pairing pair_runs(const Run& mine, const Run& golden) { return Pairer(mine, golden).pair(); }

}  // namespace npu::compare
