// SPDX-License-Identifier: Apache-2.0
// One step of an optimiser on one parameter, by a rule of the list in rule.cpp. With `indices` the gradient's rows
// belong to rows of the parameter, which are updated one gradient row after the other, in order.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/split.h"
#include "base/thread_pool.h"
#include "ops/optimizer/rule.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

constexpr size_t kMostStates = 3, kMostNumbers = 6;
constexpr int64_t kGrain = 1 << 14;  // elements of a parallel part

/// A rule as registered: its lists taken apart.
struct Line {
  Rule rule;
  std::vector<std::string_view> states, numbers;
};

struct Apply final : Operator {
  Tensor var, grad, indices;
  std::array<Tensor, kMostStates> states;
  std::array<Tensor, kMostNumbers> numbers;
  bool flag = false;
  Update update;
  UpdateKernel kernel = nullptr;
  DType slot = DType::kFloat;

  void prepare() override;
  /// Raises 161002 for an index that names no row; indices are values, so they are seen only here.
  void run() override;
  int64_t cost() const override { return indices.defined() ? 500 + 4 * grad.count() : update.cost(); }

 private:
  const Line& line() const { return *static_cast<const Line*>(def->data); }
  void prepare_rows();
  void run_rows(const double* param) const;
  std::vector<int64_t> read_indices() const;
  void update_row(int64_t row, int64_t position, const double* param) const;
};

void Apply::prepare() {
  // Numbers are tensors that change between steps: their values are read with each run.
  for (size_t k = 0; k < line().numbers.size(); ++k)
    require(numbers.at(k).count() == 1, "{} is {}: it is one number", line().numbers[k], numbers.at(k));
  slot = update_slot(var);
  kernel = slot == DType::kDouble ? line().rule.f64 : line().rule.f32;
  if (indices.defined()) return prepare_rows();
  update.begin(slot);
  update.add("var", var, Update::Access::kBoth);
  for (size_t k = 0; k < line().states.size(); ++k) update.add(line().states[k], states.at(k), Update::Access::kBoth);
  update.add("grad", grad, Update::Access::kRead);
  update.plan(kernel);
}

void Apply::prepare_rows() {
  require(is_floating(var.dtype) && is_floating(grad.dtype), "var is {}, grad {}: optimisers take floating point", var,
          grad);
  require(var.rank() >= 1 && indices.rank() == 1 && is_integer(indices.dtype),
          "var is {}, indices {}: indices name rows of var, in one dimension", var, indices);
  Dims rows = var.shape;
  rows[0] = indices.shape[0];
  require(grad.shape == rows, "grad is {}, expected {} for var {} and indices {}", grad, rows, var, indices);
  // Rows are runs of memory: one kernel call takes a row of every tensor.
  require(var.contiguous() && grad.contiguous(), "var and grad must be row-major to be taken by rows");
  for (size_t k = 0; k < line().states.size(); ++k)
    require(states.at(k).shape == var.shape && states.at(k).dtype == var.dtype && states.at(k).contiguous(),
            "{} is {}, var is {}: both are row-major and of one shape and dtype", line().states[k], states.at(k), var);
}

void Apply::run() {
  double param[kMostNumbers + 1] = {};
  for (size_t k = 0; k < line().numbers.size(); ++k) param[k] = load_element(numbers.at(k));
  // The flag is the last parameter, as the list of rule.cpp has it.
  param[line().numbers.size()] = flag ? 1 : 0;
  indices.defined() ? run_rows(param) : update.run(param);
}

std::vector<int64_t> Apply::read_indices() const {
  std::vector<int64_t> rows(static_cast<size_t>(indices.shape[0]));
  converter(indices.dtype, DType::kInt64)(indices.bytes(), indices.strides[0], rows.data(), 1, indices.shape[0]);
  // All are checked before any row changes.
  for (size_t i = 0; i < rows.size(); ++i)
    require(rows[i] >= 0 && rows[i] < var.shape[0], "Index {} at offset {} in indices is out of range", rows[i], i);
  return rows;
}

void Apply::run_rows(const double* param) const {
  const std::vector<int64_t> rows = read_indices();
  // Of an empty gradient there is no width to divide by.
  if (grad.count() == 0) return;
  // Gradients of one row stay together and in order, so rows may be shared out among threads.
  // Stable: several gradients of one row are applied one after the other, each on the result of the one before.
  std::vector<int64_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  const auto row_of = [&](int64_t i) { return rows[static_cast<size_t>(order[static_cast<size_t>(i)])]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return rows[static_cast<size_t>(a)] < rows[static_cast<size_t>(b)]; });
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t width = grad.count() / count;
  parallel_for(count, std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
    // A part takes whole rows: those that begin in it.
    while (begin > 0 && begin < count && row_of(begin) == row_of(begin - 1)) ++begin;
    while (end > begin && end < count && row_of(end) == row_of(end - 1)) ++end;
    for (int64_t i = begin; i < end; ++i) update_row(row_of(i), order[static_cast<size_t>(i)], param);
  });
}

void Apply::update_row(int64_t row, int64_t position, const double* param) const {
  const int64_t width = var.count() / var.shape[0];
  const auto sized = static_cast<int64_t>(size_of(slot));
  // Halves are widened row by row, and rounded once per gradient row, as each is a step of its own.
  const Scratch<std::byte> buffer(static_cast<int64_t>(kMostStates + 2) * width * sized);
  void* blocks[kMostStates + 2];
  size_t used = 0;
  const auto load = [&](const Tensor& t, int64_t at) {
    std::byte* from = t.bytes() + at * width * static_cast<int64_t>(size_of(t.dtype));
    blocks[used] = t.dtype == slot ? from : buffer.data() + static_cast<int64_t>(used) * width * sized;
    if (t.dtype != slot) converter(t.dtype, slot)(from, 1, blocks[used], 1, width);
    ++used;
  };
  const auto store = [&](const Tensor& t, size_t k) {
    if (t.dtype == slot) return;
    std::byte* to = t.bytes() + row * width * static_cast<int64_t>(size_of(t.dtype));
    converter(slot, t.dtype)(blocks[k], 1, to, 1, width);
  };
  load(var, row);
  for (size_t k = 0; k < line().states.size(); ++k) load(states.at(k), row);
  load(grad, position);
  kernel(blocks, width, param);
  store(var, 0);
  for (size_t k = 0; k < line().states.size(); ++k) store(states.at(k), k + 1);
}

// Fields are reached through plain functions: one type serves all rules, whose lists differ in length.
using Locate = Member (*)(Operator&);
constexpr std::array<Locate, kMostStates> kState{
    [](Operator& op) -> Member { return &static_cast<Apply&>(op).states[0]; },
    [](Operator& op) -> Member { return &static_cast<Apply&>(op).states[1]; },
    [](Operator& op) -> Member { return &static_cast<Apply&>(op).states[2]; }};
constexpr std::array<Locate, kMostNumbers> kNumber{
    [](Operator& op) -> Member { return &static_cast<Apply&>(op).numbers[0]; },
    [](Operator& op) -> Member { return &static_cast<Apply&>(op).numbers[1]; },
    [](Operator& op) -> Member { return &static_cast<Apply&>(op).numbers[2]; },
    [](Operator& op) -> Member { return &static_cast<Apply&>(op).numbers[3]; },
    [](Operator& op) -> Member { return &static_cast<Apply&>(op).numbers[4]; },
    [](Operator& op) -> Member { return &static_cast<Apply&>(op).numbers[5]; }};

std::unique_ptr<Operator> make_apply(const OperatorDef& def) {
  auto made = std::make_unique<Apply>();
  made->flag = static_cast<const Line*>(def.data)->rule.flag.ends_with("=1");
  return made;
}

void register_rule(const Rule& rule) {
  // Lives as long as the registry.
  const auto* line = new Line{rule, split(rule.states, ", "), split(rule.numbers, ", ")};
  std::vector<Field> fields{inout<&Apply::var>("var")};
  for (size_t k = 0; k < line->states.size(); ++k)
    fields.push_back({line->states[k], FieldKind::kTensor, FieldRole::kInOut, kState.at(k)});
  for (size_t k = 0; k < line->numbers.size(); ++k)
    fields.push_back({line->numbers[k], FieldKind::kTensor, FieldRole::kIn, kNumber.at(k)});
  fields.push_back(in<&Apply::grad>("grad"));
  fields.push_back(optional<&Apply::indices>("indices"));
  if (!rule.flag.empty()) fields.push_back(attr<&Apply::flag>(rule.flag.substr(0, rule.flag.find('='))));
  Registration(rule.name, "optimizer", std::move(fields), &make_apply, line);
}

const bool kRegistered = [] {
  for (const Rule& rule : update_rules()) register_rule(rule);
  return true;
}();

}  // namespace
}  // namespace npu::ops
