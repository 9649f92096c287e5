// SPDX-License-Identifier: Apache-2.0
// Programs of chains: their text, and their steps with kernels.
#include <algorithm>
#include <charconv>
#include <limits>

#include "base/split.h"
#include "ops/vector/chain.h"

namespace npu::ops {
namespace {

constexpr size_t kMostRegisters = 512;
constexpr size_t kMostOperands = 5;

template <class List, class Text>
std::string joined(const List& list, std::string_view separator, Text&& text) {
  std::string out;
  bool first = true;
  for (const auto& member : list) {
    if (!first) out += separator;
    out += text(member);
    first = false;
  }
  return out;
}

template <class T>
T value_of(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(Code::kInternal, "a chain's program has '{}' where a number belongs", text);
  return value;
}
int number_of(std::string_view text) { return value_of<int>(text); }
double real_of(std::string_view text) { return value_of<double>(text); }

/// What the step or its line says of an input that is no register; undefined where nothing does.
Scalar number_for(const ChainStep& step, const PointCall& call, size_t input) {
  for (const auto& [name, value] : step.numbers)
    if (name == call.names[input]) return Scalar(value);
  return call.numbers[input];
}

ChainStep step_of(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ":");
  if (parts.size() != 3) fail(Code::kInternal, "a chain's program has the step '{}'", text);
  ChainStep step{std::string(parts[0]), static_cast<DType>(number_of(parts[1]))};
  for (const std::string_view operand : split(parts[2], ",")) {
    if (const size_t sign = operand.find('~'); sign != std::string_view::npos) {
      step.numbers.emplace_back(operand.substr(0, sign), real_of(operand.substr(sign + 1)));
      continue;
    }
    const size_t equal = std::min(operand.find('='), operand.size() - 1);
    step.operands.emplace_back(operand.substr(0, equal), number_of(operand.substr(equal + 1)));
  }
  return step;
}

ChainGroup group_of(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ";");
  if (parts.size() < 2 || !parts.back().starts_with('='))
    fail(Code::kInternal, "a chain's program has the group '{}'", text);
  ChainGroup group;
  for (const std::string_view dtype : split(parts.front(), ","))
    group.inputs.push_back(static_cast<DType>(number_of(dtype)));
  for (size_t i = 1; i + 1 < parts.size(); ++i) group.steps.push_back(step_of(parts[i]));
  for (const std::string_view output : split(parts.back().substr(1), ",")) group.outputs.push_back(number_of(output));
  return group;
}

bool known(DType dtype) { return size_of(dtype) > 0 && slot_of(dtype) != DType::kUndefined; }

bool can_cast(DType from, DType to) {
  return known(from) && known(to) && converter(slot_of(from), to) != nullptr &&
         converter(slot_of(from), slot_of(to)) != nullptr;
}

}  // namespace

std::string to_text(std::span<const ChainGroup> groups) {
  const auto number = [](auto value) { return fmt::format("{}", static_cast<int>(value)); };
  const auto operand = [](const auto& o) { return fmt::format("{}={}", o.first, o.second); };
  const auto real = [](const auto& n) { return fmt::format(",{}~{}", n.first, n.second); };
  const auto step = [&](const ChainStep& s) {
    return fmt::format("{}:{}:{}{};", s.op, static_cast<int>(s.result), joined(s.operands, ",", operand),
                       joined(s.numbers, "", real));
  };
  return joined(groups, "|", [&](const ChainGroup& g) {
    return fmt::format("{};{}={}", joined(g.inputs, ",", number), joined(g.steps, "", step),
                       joined(g.outputs, ",", number));
  });
}

std::vector<ChainGroup> chain_groups(std::string_view text) {
  std::vector<ChainGroup> out;
  for (const std::string_view group : split(text, "|")) out.push_back(group_of(group));
  return out;
}

bool ChainProgram::knows(std::string_view op, DType dtype, DType result) {
  if (op == "cast") return can_cast(dtype, result);
  if (!known(dtype) || !known(result)) return false;
  const PointCall call = point_call(op, dtype);
  // Floating inputs of another kernel type would be converted on the way.
  return call.kernel.run != nullptr && call.slot == slot_of(dtype) && call.kernel.result == slot_of(result);
}

ChainProgram::ChainProgram(std::span<const ChainGroup> groups) {
  for (const ChainGroup& group : groups) groups_.push_back(compiled(group));
}

// Registers are the inputs, then numbers that lines have of their own, then results; a step's operands and the outputs
// are renumbered for the numbers between.
ChainProgram::Group ChainProgram::compiled(const ChainGroup& group) {
  Group g;
  g.inputs = group.inputs.size();
  for (const DType dtype : group.inputs) {
    require(known(dtype), "an input of a chain is {}, which no kernel computes", dtype);
    g.dtype.push_back(dtype);
    g.slot.push_back(slot_of(dtype));
  }
  std::vector<DType> types = group.inputs;  // by number in the program's text
  for (const ChainStep& step : group.steps) {
    for (const auto& [name, reg] : step.operands)
      if (reg < 0 || std::cmp_greater_equal(reg, types.size()))
        fail(Code::kInternal, "step {} of a chain reads register {} of {}", step.op, reg, types.size());
    require(!step.operands.empty() && step.operands.size() <= kMostOperands, "step {} of a chain has {} operands",
            step.op, step.operands.size());
    const DType dtype = types[static_cast<size_t>(step.operands.back().second)];
    require(knows(step.op, dtype, step.result), "a chain has no kernel of {} that makes {} of {}", step.op, step.result,
            dtype);
    types.push_back(step.result);
    if (step.op == "cast") continue;
    const PointCall call = point_call(step.op, dtype);
    for (size_t k = 0; k < call.names.size(); ++k) {
      const bool given = std::any_of(step.operands.begin(), step.operands.end(),
                                     [&](const auto& operand) { return operand.first == call.names[k]; });
      if (given) continue;
      const Scalar number = number_for(step, call, k);
      require(number.defined(), "step {} of a chain has no operand {}", step.op, call.names[k]);
      const double value = number.to_double();
      const bool there = std::any_of(g.numbers.begin(), g.numbers.end(), [&](const Number& n) {
        return n.slot == call.slot && n.value.to_double() == value;
      });
      if (there) continue;
      g.numbers.push_back({static_cast<int>(g.dtype.size()), call.slot, number});
      g.dtype.push_back(call.slot);
      g.slot.push_back(call.slot);
    }
  }
  for (const ChainStep& step : group.steps) add_step(g, step);
  const auto shift = static_cast<int>(g.numbers.size());
  for (const int output : group.outputs) g.outputs.push_back(std::cmp_less(output, g.inputs) ? output : output + shift);
  require(g.dtype.size() <= kMostRegisters, "a chain has {} registers; {} are possible", g.dtype.size(),
          kMostRegisters);
  for (const DType slot : g.slot) g.widest = std::max(g.widest, static_cast<int64_t>(size_of(slot)));
  find_buffers(g);
  return g;
}

void ChainProgram::add_step(Group& g, const ChainStep& step) {
  const auto shift = static_cast<int>(g.numbers.size());
  const auto renumbered = [&](int reg) { return std::cmp_less(reg, g.inputs) ? reg : reg + shift; };
  const int last = renumbered(step.operands.back().second);
  const DType dtype = g.dtype[static_cast<size_t>(last)], kept = slot_of(step.result);
  Step out;
  out.result = static_cast<int>(g.dtype.size());
  out.size = static_cast<int64_t>(size_of(kept));
  const bool cast = step.op == "cast";
  if (cast) {
    out.operands = {last};
  } else {
    const PointCall call = point_call(step.op, dtype);
    out.run = call.kernel.run;
    for (size_t k = 0; k < call.names.size(); ++k) {
      const auto given = std::find_if(step.operands.begin(), step.operands.end(),
                                      [&](const auto& operand) { return operand.first == call.names[k]; });
      if (given != step.operands.end()) {
        out.operands.push_back(renumbered(given->second));
        continue;
      }
      const double value = number_for(step, call, k).to_double();
      const auto number = std::find_if(g.numbers.begin(), g.numbers.end(), [&](const Number& n) {
        return n.slot == call.slot && n.value.to_double() == value;
      });
      out.operands.push_back(number->reg);
    }
  }
  if (kept != step.result || (cast && kept != slot_of(dtype))) {
    out.narrow = kept == step.result ? nullptr : converter(cast ? slot_of(dtype) : kept, step.result);
    out.widen = out.narrow == nullptr ? converter(slot_of(dtype), kept) : converter(step.result, kept);
  } else if (cast) {
    out.widen = converter(slot_of(dtype), kept);
  }
  g.dtype.push_back(step.result);
  g.slot.push_back(kept);
  g.steps.push_back(std::move(out));
}

/// Registers that do not live at the same time share a buffer. Inputs and numbers keep theirs for all tiles.
void ChainProgram::find_buffers(Group& g) {
  const size_t fixed = g.dtype.size() - g.steps.size();
  g.last_use.assign(g.dtype.size(), -1);
  for (size_t s = 0; s < g.steps.size(); ++s)
    for (const int reg : g.steps[s].operands) g.last_use[static_cast<size_t>(reg)] = static_cast<int>(s);
  for (const int output : g.outputs) g.last_use[static_cast<size_t>(output)] = std::numeric_limits<int>::max();
  g.buffer.assign(g.dtype.size(), -1);
  for (size_t r = 0; r < fixed; ++r) g.buffer[r] = g.buffers++;
  std::vector<int> idle;
  for (size_t s = 0; s < g.steps.size(); ++s) {
    const auto result = static_cast<size_t>(g.steps[s].result);
    if (idle.empty()) idle.push_back(g.buffers++);
    g.buffer[result] = idle.back();
    idle.pop_back();
    for (size_t r = fixed; r <= result; ++r) {
      const bool ends = g.last_use[r] == static_cast<int>(s) || (r == result && g.last_use[r] < 0);
      if (ends) idle.push_back(g.buffer[r]);
    }
  }
  ++g.buffers;  // where results are rounded
}

}  // namespace npu::ops
