// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/layout.h"

#include <vector>

#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

std::byte* first_element(const Tensor& view, int64_t batch, int64_t head, int64_t row) {
  const int64_t offset = batch * view.strides[0] + head * view.strides[1] + row * view.strides[2];
  return view.bytes() + offset * static_cast<int64_t>(size_of(view.dtype));
}

// [.., H] -> [.., N, D]
Tensor unfold_heads(const Tensor& t, int64_t heads, const char* name) {
  require(heads > 0 && t.shape[2] % heads == 0, "{} is {}: its last size does not divide into {} heads", name, t.shape,
          heads);
  const int64_t depth = t.shape[2] / heads;
  return t.view({t.shape[0], t.shape[1], heads, depth},
                {t.strides[0], t.strides[1], depth * t.strides[2], t.strides[2]});
}

}  // namespace

Tensor head_view(const Tensor& tensor, const std::string& layout, int64_t heads, const char* name) {
  const bool folded = layout == "BSH" || layout == "SBH";
  require(folded || layout == "BNSD" || layout == "BSND",
          "input_layout is {}; this device takes BNSD, BSND, BSH and SBH", layout);
  require(tensor.rank() == (folded ? 3u : 4u), "{} is {}: layout {} has {} dimensions", name, tensor.shape, layout,
          folded ? 3 : 4);
  // Only strides change: no layout costs a copy by itself.
  if (layout == "BNSD") return tensor;
  if (layout == "BSND") return tensor.transposed(1, 2);
  const Tensor split = unfold_heads(tensor, heads, name);
  return layout == "BSH" ? split.transposed(1, 2) : split.transposed(0, 1).transposed(1, 2);
}

Tensor packed_view(const Tensor& tensor, const char* name) {
  require(tensor.rank() == 3, "{} is {}: layout TND has 3 dimensions", name, tensor.shape);
  return tensor.view({1, tensor.shape[1], tensor.shape[0], tensor.shape[2]},
                     {0, tensor.strides[1], tensor.strides[0], tensor.strides[2]});
}

const float* load_rows(const Tensor& view, int64_t batch, int64_t head, int64_t row, int64_t rows, float* buffer,
                       int64_t* ld) {
  const std::byte* from = first_element(view, batch, head, row);
  const int64_t depth = view.shape[3];
  // Rows that overlap or repeat (stride 0) are copied: a product wants rows at least `depth` apart.
  if (view.dtype == DType::kFloat && (view.strides[3] == 1 || depth == 1) && view.strides[2] >= depth) {
    *ld = view.strides[2];
    return reinterpret_cast<const float*>(from);
  }
  copy_rows(view, batch, head, row, rows, buffer, depth);
  *ld = depth;
  return buffer;
}

void copy_rows(const Tensor& view, int64_t batch, int64_t head, int64_t row, int64_t rows, float* to, int64_t ld) {
  const std::byte* from = first_element(view, batch, head, row);
  const Convert convert = converter(view.dtype, DType::kFloat);
  const int64_t step = view.strides[2] * static_cast<int64_t>(size_of(view.dtype));
  for (int64_t r = 0; r < rows; ++r) convert(from + r * step, view.strides[3], to + r * ld, 1, view.shape[3]);
}

void store_rows(const Tensor& view, int64_t batch, int64_t head, int64_t row, int64_t rows, const float* from,
                int64_t ld) {
  std::byte* to = first_element(view, batch, head, row);
  const Convert convert = converter(DType::kFloat, view.dtype);
  const int64_t step = view.strides[2] * static_cast<int64_t>(size_of(view.dtype));
  for (int64_t r = 0; r < rows; ++r) convert(from + r * ld, 1, to + r * step, view.strides[3], view.shape[3]);
}

void clear_rows(const Tensor& view, int64_t row) {
  const std::vector<float> nothing(static_cast<size_t>(view.shape[3]));
  for (int64_t b = 0; b < view.shape[0]; ++b) {
    // The distance 0 repeats the one row of zeros.
    for (int64_t n = 0; n < view.shape[1]; ++n) store_rows(view, b, n, row, view.shape[2] - row, nothing.data(), 0);
  }
}

}  // namespace npu::ops
