// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/layout.h"

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

const float* load_rows(const Tensor& view, int64_t batch, int64_t head, int64_t row, int64_t rows, float* buffer,
                       int64_t* ld) {
  const std::byte* from = first_element(view, batch, head, row);
  const int64_t depth = view.shape[3];
  // Rows that overlap or repeat (stride 0) are copied: a product wants rows at least `depth` apart.
  if (view.dtype == DType::kFloat && (view.strides[3] == 1 || depth == 1) && view.strides[2] >= depth) {
    *ld = view.strides[2];
    return reinterpret_cast<const float*>(from);
  }
  const Convert convert = converter(view.dtype, DType::kFloat);
  const int64_t step = view.strides[2] * static_cast<int64_t>(size_of(view.dtype));
  for (int64_t r = 0; r < rows; ++r) convert(from + r * step, view.strides[3], buffer + r * depth, 1, depth);
  *ld = depth;
  return buffer;
}

void store_rows(const Tensor& view, int64_t batch, int64_t head, int64_t row, int64_t rows, const float* from) {
  std::byte* to = first_element(view, batch, head, row);
  const int64_t depth = view.shape[3];
  const Convert convert = converter(DType::kFloat, view.dtype);
  const int64_t step = view.strides[2] * static_cast<int64_t>(size_of(view.dtype));
  for (int64_t r = 0; r < rows; ++r) convert(from + r * depth, 1, to + r * step, view.strides[3], depth);
}

}  // namespace npu::ops
