// SPDX-License-Identifier: Apache-2.0
// Programs of chains: their steps with kernels.
#include <algorithm>
#include <limits>

#include "ops/vector/chain/chain.h"
#include "ops/vector/chain/join.h"

namespace npu::ops {
namespace {

constexpr size_t kMostRegisters = 512;
constexpr size_t kMostOperands = 5;

/// What the step or its line says of an input that is no register; undefined where nothing does.
Scalar number_for(const ChainStep& step, const PointCall& call, size_t input) {
  for (const auto& [name, value] : step.numbers)
    if (name == call.names[input]) return Scalar(value);
  return call.numbers[input];
}

bool known(DType dtype) { return size_of(dtype) > 0 && slot_of(dtype) != DType::kUndefined; }

void require_registers(const ChainGroup& group) {
  size_t made = group.inputs.size();
  for (const ChainStep& step : group.steps) {
    for (const auto& [name, reg] : step.operands)
      if (reg < 0 || std::cmp_greater_equal(reg, made))
        fail(Code::kInternal, "step {} of a chain reads register {} of {}", step.op, reg, made);
    ++made;
  }
}

bool can_cast(DType from, DType to) {
  return known(from) && known(to) && converter(slot_of(from), to) != nullptr &&
         converter(slot_of(from), slot_of(to)) != nullptr;
}

}  // namespace

bool ChainProgram::knows(std::string_view op, DType dtype, DType result) {
  if (op == "cast") return can_cast(dtype, result);
  if (!known(dtype) || !known(result)) return false;
  const PointCall call = point_call(op, dtype);
  // Floating inputs of another kernel type would be converted on the way.
  return call.kernel.run != nullptr && call.slot == slot_of(dtype) && call.kernel.result == slot_of(result);
}

ChainProgram::ChainProgram(std::vector<ChainGroup> groups) : source_(std::move(groups)) {
  for (const ChainGroup& group : source_) {
    require_registers(group);
    groups_.push_back(compiled(joined(group)));
  }
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
  std::vector<DType> types = group.inputs;  // as the program numbers them
  for (const ChainStep& step : group.steps) {
    require(!step.operands.empty() && step.operands.size() <= kMostOperands, "step {} of a chain has {} operands",
            step.op, step.operands.size());
    // The last operand tells the type a step computes in: a first one may be the bool of a condition.
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
      // One register for equal numbers: each holds a buffer for as long as the chain runs.
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
  // Results narrower than their slot are rounded after every step, by way of the narrow type.
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
    // The result takes its buffer before those of its operands are free: from one type to a wider one no step could
    // work in place.
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
