// SPDX-License-Identifier: Apache-2.0
// A grouped product of int8 whose rows are weighed and added to those of the tokens they came from, over what the
// experts that all tokens share made of some of them.
#include <algorithm>

#include "base/thread_pool.h"
#include "ops/moe/group_list.h"
#include "ops/runner/delegate.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

constexpr int64_t kColumns = 256;  // of the result, in one part: rows are added in order, whoever adds them

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

/// out[row_index[i]] += logit[i] * (x[i] @ w[group of i]) * scale[group] * pertoken_scale[i], and
/// out[shared_input_offset + i] += shared_input_weight * shared_input[i].
struct GroupedFinalize final : Delegate {
  Tensor x, w, scale, bias, offset, antiquant_scale, antiquant_offset, pertoken_scale, group_list, shared_input, logit,
      row_index, out;
  int64_t dtype = 0, shared_input_offset = 0, group_list_type = 1;
  double shared_input_weight = 1;
  bool transpose_x = false, transpose_w = false;

  void prepare() override;
  void run() override;

 private:
  void check_options() const;
  void check_shapes() const;
  void check_indices(int64_t rows) const;
  void add_part(int64_t column, int64_t count, int64_t rows) const;

  std::vector<float> product_;
  GroupList list_;
};

void GroupedFinalize::check_options() const {
  for (const auto& [t, name] :
       {std::pair(&bias, "bias"), std::pair(&offset, "offset"), std::pair(&antiquant_scale, "antiquantScale"),
        std::pair(&antiquant_offset, "antiquantOffset")})
    require(absent(*t), "{} is {}: it goes with weights of 4 bits, which are not built; leave it out", name, *t);
  require(dtype == 0, "dtype is {}; only 0, float32, is built", dtype);
  require(!transpose_x && !transpose_w, "transposeX is {}, transposeW is {}; give both matrices as they are multiplied",
          transpose_x, transpose_w);
  require(group_list_type == 0 || group_list_type == 1,
          "groupListType is {}; use 0 for where groups end, 1 for how many rows they have", group_list_type);
  require(x.dtype == DType::kInt8 && w.dtype == DType::kInt8, "x is {}, w is {}; only int8 by int8 is built", x, w);
}

void GroupedFinalize::check_shapes() const {
  require(x.rank() == 2 && w.rank() == 3, "x is {}, w is {}; they are [m, k] and [groups, k, n]", x, w);
  require(out.dtype == DType::kFloat && out.rank() == 2 && out.shape[1] == w.shape[2],
          "out is {}; it is float32 [tokens, {}]", out, w.shape[2]);
  require(is_integer(row_index.dtype) && row_index.shape == Dims{x.shape[0]},
          "rowIndex is {}; it has a number for each of {} rows of x", row_index, x.shape[0]);
  require(absent(logit) || (is_floating(logit.dtype) && logit.shape == Dims{x.shape[0]}),
          "logit is {}; it has a number for each of {} rows of x", logit, x.shape[0]);
  if (absent(shared_input)) return;
  require(is_floating(shared_input.dtype) && shared_input.rank() == 2 && shared_input.shape[1] == out.shape[1],
          "sharedInput is {}; it is [tokens, {}]", shared_input, out.shape[1]);
  require(shared_input_offset >= 0 && shared_input_offset + shared_input.shape[0] <= out.shape[0],
          "sharedInput has {} rows, the first is added to row {}: out has {}", shared_input.shape[0],
          shared_input_offset, out.shape[0]);
}

void GroupedFinalize::prepare() {
  restart();
  check_options();
  check_shapes();
  list_.plan(group_list, group_list_type, w.shape[0]);
  product_.resize(static_cast<size_t>(x.shape[0] * w.shape[2]));
  using Tensors = std::vector<Tensor>;
  const Tensor made = make_tensor(product_.data(), DType::kFloat, {x.shape[0], w.shape[2]});
  step("grouped_matmul", with("x", Tensors{x}), with("weight", Tensors{w}), with("scale", Tensors{scale}),
       with("per_token_scale", absent(pertoken_scale) ? Tensors{} : Tensors{pertoken_scale}),
       with("group_list", group_list), with("group_list_type", group_list_type), with("split_item", int64_t{3}),
       with("group_type", int64_t{0}), with("out", Tensors{made}));
}

void GroupedFinalize::check_indices(int64_t rows) const {
  for (int64_t i = 0; i < rows; ++i) {
    const double row = load_element(row_index, i * row_index.strides[0]);
    require(row >= 0 && row < static_cast<double>(out.shape[0]), "rowIndex[{}] is {}; out has {} rows", i, row,
            out.shape[0]);
  }
}

void GroupedFinalize::add_part(int64_t column, int64_t count, int64_t rows) const {
  const int64_t step = out.strides[1], n = w.shape[2];
  const auto line = [&](int64_t row) { return out.as<float>() + row * out.strides[0] + column * step; };
  for (int64_t row = 0; row < out.shape[0]; ++row) {
    for (int64_t i = 0; i < count; ++i) line(row)[i * step] = 0;
  }
  for (int64_t i = 0; i < rows; ++i) {
    const auto share = absent(logit) ? 1.0f : static_cast<float>(load_element(logit, i * logit.strides[0]));
    float* to = line(static_cast<int64_t>(load_element(row_index, i * row_index.strides[0])));
    const float* from = product_.data() + i * n + column;
    for (int64_t c = 0; c < count; ++c) to[c * step] += share * from[c];
  }
  const auto weight = static_cast<float>(shared_input_weight);
  for (int64_t i = 0; !absent(shared_input) && i < shared_input.shape[0]; ++i) {
    float* to = line(shared_input_offset + i);
    for (int64_t c = 0; c < count; ++c) {
      const int64_t at = i * shared_input.strides[0] + (column + c) * shared_input.strides[1];
      to[c * step] += weight * static_cast<float>(load_element(shared_input, at));
    }
  }
}

void GroupedFinalize::run() {
  // Rows behind the last group belong to no token.
  int64_t rows = 0;
  for (const Span& span : list_.spans(group_list, x.shape[0])) rows = span.begin + span.count;
  check_indices(rows);
  if (out.count() == 0) return;
  Delegate::run();
  parallel_parts((out.shape[1] + kColumns - 1) / kColumns, [&](int64_t part) {
    const int64_t column = part * kColumns;
    add_part(column, std::min(kColumns, out.shape[1] - column), rows);
  });
}

using F = GroupedFinalize;
NPU_OPERATOR(F, "grouped_finalize", "moe", in<&F::x>("x"), in<&F::w>("w"), in<&F::scale>("scale"),
             optional<&F::bias>("bias"), optional<&F::offset>("offset"),
             optional<&F::antiquant_scale>("antiquant_scale"), optional<&F::antiquant_offset>("antiquant_offset"),
             optional<&F::pertoken_scale>("pertoken_scale"), in<&F::group_list>("group_list"),
             optional<&F::shared_input>("shared_input"), optional<&F::logit>("logit"), in<&F::row_index>("row_index"),
             attr<&F::dtype>("dtype"), attr<&F::shared_input_weight>("shared_input_weight"),
             attr<&F::shared_input_offset>("shared_input_offset"), attr<&F::transpose_x>("transpose_x"),
             attr<&F::transpose_w>("transpose_w"), attr<&F::group_list_type>("group_list_type"), out<&F::out>("out"));

}  // namespace
}  // namespace npu::ops
