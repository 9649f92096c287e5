// SPDX-License-Identifier: Apache-2.0
// Convolutions and products in the kinds that passes look for, where ranks are known; otherwise in a meaning that sees
// the shapes of the run.
#include <algorithm>
#include <set>

#include "graph/import/onnx/translation.h"

namespace npu::graph::onnx {
namespace {

PartialShape unknown_dims(size_t rank) { return {Dims(std::vector<int64_t>(rank, kUnknownDim))}; }

std::vector<int64_t> behind(std::vector<int64_t> head, const std::vector<int64_t>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

void opaque(Translation& t) {
  Made made = t.itself({ValueType::tensor(t.dtype(t.in(0)))});
  if (const auto rank = t.rank(t.in(0))) made.shaped(unknown_dims(*rank));
  t.give(0, made);
}

/// Pads as the engine's convolution has them: two for each axis, those of batch and channels in front.
void set_padding(Translation& t, Made& made, size_t axes) {
  const std::string mode = t.attribute<std::string>("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    made.with("padding", std::string(mode == "SAME_UPPER" ? "SAME" : "SAME_LOWER"));
    return;
  }
  const auto pads = t.attribute<std::vector<int64_t>>("pads", {});
  if (mode == "VALID" || std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; })) {
    made.with("padding", std::string("VALID"));
    return;
  }
  if (pads.size() != 2 * axes) t.refuse(fmt::format("pads has {} numbers for {} spatial axes", pads.size(), axes));
  std::vector<int64_t> pairs{0, 0, 0, 0};
  for (size_t d = 0; d < axes; ++d) {
    if (pads[d] < 0 || pads[axes + d] < 0) t.refuse("pads holds a negative number");
    pairs.insert(pairs.end(), {pads[d], pads[axes + d]});
  }
  made.with("padding", std::string("EXPLICIT")).with("explicit_paddings", pairs);
}

/// The sizes of a constant weight must be those that the attributes name.
bool fits(const Translation& t, const PartialShape& weight) {
  const auto kernel = t.attribute<std::vector<int64_t>>("kernel_shape", {});
  for (size_t d = 0; d < kernel.size(); ++d) {
    const size_t axis = d + 2;
    if (axis >= weight.dims->size()) return false;
    if ((*weight.dims)[axis] != kUnknownDim && (*weight.dims)[axis] != kernel[d]) return false;
  }
  return true;
}

/// Over 2 and 3 axes; the channels of images and weight tell the groups.
void conv(Translation& t) {
  const Edge image = t.in(0), weight = t.in(1);
  const auto rank = t.rank(weight);
  const bool known = rank && (*rank == 4 || *rank == 5) && fits(t, t.value(weight).shape);
  if (!known) return opaque(t);
  const size_t axes = *rank - 2;
  std::vector<Edge> inputs{image, weight};
  if (t.has(2)) inputs.push_back(t.in(2));
  Made made = t.make(axes == 2 ? "Conv2D" : "Conv3D", inputs, t.dtype(image));
  const auto of_axes = [&](const char* name) {
    auto list = t.attribute<std::vector<int64_t>>(name, {});
    if (list.empty()) list.assign(axes, 1);
    if (list.size() != axes) t.refuse(fmt::format("{} has {} numbers for {} spatial axes", name, list.size(), axes));
    return behind({1, 1}, list);
  };
  made.with("strides", of_axes("strides")).with("dilations", of_axes("dilations"));
  made.with("data_format", std::string(axes == 2 ? "NCHW" : "NCDHW")).with("filter_format", std::string("OIHW"));
  made.with("group", t.attribute<int64_t>("group", 1));
  set_padding(t, made, axes);
  t.give(0, made.shaped(unknown_dims(*rank)));
}

void mat_mul(Translation& t) {
  const Edge a = t.in(0), b = t.in(1);
  const auto left = t.rank(a), right = t.rank(b);
  if (!left || !right || *left < 2 || *right < 2 || !is_floating(t.dtype(a)))
    return t.give(0, t.itself({ValueType::tensor(t.dtype(a))}));
  if (*left == 2 && *right == 2)
    return t.give(0, t.make("MatMul", {a, b}, t.dtype(a))
                         .with("transpose_a", false)
                         .with("transpose_b", false)
                         .shaped(unknown_dims(2)));
  t.give(0, t.make("BatchMatMulV2", {a, b}, t.dtype(a))
                .with("adj_x", false)
                .with("adj_y", false)
                .shaped(unknown_dims(std::max(*left, *right))));
}

Edge scaled(Translation& t, Edge x, double factor) {
  return factor == 1 ? x : Edge(t.point("Mul", {x, t.number(t.dtype(x), factor)}));
}

/// alpha · A · B + beta · C, of which factors of 1 are left out.
void gemm(Translation& t) {
  const Edge a = t.in(0), b = t.in(1);
  const double alpha = t.attribute<double>("alpha", 1), beta = t.attribute<double>("beta", 1);
  const DType dtype = t.dtype(a), slot = is_floating(dtype) ? dtype : DType::kDouble;
  Edge out = t.make("MatMul", {t.cast(a, slot), t.cast(b, slot)}, slot)
                 .with("transpose_a", t.attribute<int64_t>("transA", 0) != 0)
                 .with("transpose_b", t.attribute<int64_t>("transB", 0) != 0)
                 .shaped(unknown_dims(2));
  out = scaled(t, out, alpha);
  if (t.has(2) && beta != 0) out = t.point("AddV2", {out, scaled(t, t.cast(t.in(2), slot), beta)});
  t.give(0, t.cast(out, dtype));
}

/// Whether the equation is one of the engine's: a result, one or two terms, no label twice in one of them.
bool is_simple(std::string_view equation, size_t terms) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos || terms > 2) return false;
  std::set<char> known, here;
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') here.clear();
    if (c == ',' || c == ' ') continue;
    if (std::isalpha(static_cast<unsigned char>(c)) == 0 || !here.insert(c).second) return false;
    known.insert(c);
  }
  here.clear();
  for (const char c : equation.substr(arrow + 2))
    if (c != ' ' && (!known.contains(c) || !here.insert(c).second)) return false;
  return true;
}

void einsum(Translation& t) {
  const auto equation = t.required<std::string>("equation");
  const std::vector<Edge> inputs = t.ins();
  if (inputs.empty()) t.refuse("it has no inputs");
  const DType dtype = t.dtype(inputs.front());
  if (!is_simple(equation, inputs.size()) || !is_floating(dtype))
    return t.give(0, t.itself({ValueType::tensor(dtype)}));
  const auto count = static_cast<int64_t>(inputs.size());
  t.give(0, t.make("Einsum", inputs, dtype).with("equation", equation).with("N", count));
}

NPU_ONNX("Conv", conv);
NPU_ONNX("ConvTranspose", opaque);
NPU_ONNX("MatMul", mat_mul);
NPU_ONNX("Gemm", gemm);
NPU_ONNX("Einsum", einsum);

}  // namespace
}  // namespace npu::graph::onnx
