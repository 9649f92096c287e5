// SPDX-License-Identifier: Apache-2.0
#include "ops/moe/grouped_matmul.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/moe/dequantise.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

/// Elements [first, first + count) of one-dimensional `t` as float32.
void read_part(const Tensor& t, int64_t first, int64_t count, float* to) {
  converter(t.dtype, DType::kFloat)(t.bytes() + first * t.strides[0] * static_cast<int64_t>(size_of(t.dtype)),
                                    t.strides[0], to, 1, count);
}

/// Calls visit(matrix, row) for each matrix of the last two axes of `t`, the ones before them in order.
template <class F>
void for_matrices(const Tensor& t, F&& visit) {
  const size_t lead = t.rank() - 2;
  Dims index(lead, 0);
  const int64_t count = count_of(Dims(std::span(t.shape.data(), lead)));
  for (int64_t i = 0; i < count; ++i) {
    Tensor one = t.view({t.shape[lead], t.shape[lead + 1]}, {t.strides[lead], t.strides[lead + 1]});
    for (size_t d = 0; d < lead; ++d) one.offset += index[d] * t.strides[d];
    visit(Matrix::of(one), i * t.shape[lead]);
    for (size_t d = lead; d-- > 0;) {
      if (++index[d] < t.shape[d]) break;
      index[d] = 0;
    }
  }
}

/// A tensor whose leading axes continue its rows, as one matrix; undefined where they do not.
Tensor flat(const Tensor& t) {
  for (size_t d = 0; d + 2 < t.rank(); ++d) {
    if (t.strides[d] != t.shape[d + 1] * t.strides[d + 1]) return {};
  }
  return t.view({t.count() / std::max<int64_t>(t.shape.back(), 1), t.shape.back()},
                {t.strides[t.rank() - 2], t.strides.back()});
}

}  // namespace

/// The same tensors, those that a result would overwrite in memory of their own.
GroupedMatmul::Tensors GroupedMatmul::apart(const Tensors& list, std::deque<Scratch<std::byte>>& room) const {
  Tensors there = list;
  for (Tensor& t : there) {
    const int64_t bytes =
        t.dtype == DType::kInt4 ? (t.span() + 1) / 2 : t.span() * static_cast<int64_t>(size_of(t.dtype));
    std::byte* from = t.dtype == DType::kInt4 ? static_cast<std::byte*>(t.data) + t.offset / 2 : t.bytes();
    const bool clash = std::ranges::any_of(out, [&](const Tensor& o) {
      return o.bytes() < from + bytes && from < o.bytes() + o.span() * static_cast<int64_t>(size_of(o.dtype));
    });
    if (!clash || bytes == 0) continue;
    Scratch<std::byte>& copy = room.emplace_back(bytes);
    std::memcpy(copy.data(), from, static_cast<size_t>(bytes));
    t.data = copy.data(), t.offset = t.dtype == DType::kInt4 ? t.offset & 1 : 0;
  }
  return there;
}

/// The matrices of the groups, those that lie in blocks as plain ones in memory of their own.
GroupedMatmul::Tensors GroupedMatmul::plain_weights(std::deque<Scratch<std::byte>>& room) const {
  Tensors there = weights_;
  for (size_t i = 0; i < weight.size(); ++i) {
    void* data = blocked_[i].of(weight[i], room.emplace_back()).data;
    if (data == weight[i].data) continue;
    for (size_t g = one_weight_ ? 0 : i; g < (one_weight_ ? there.size() : i + 1); ++g) there[g].data = data;
  }
  return there;
}

/// Rows [row, row + count) of the result of a group, or of the only one.
Matrix GroupedMatmul::out_of(int64_t group, int64_t row, int64_t count) const {
  const Tensor& t = out[split_item >= 2 ? 0 : static_cast<size_t>(group)];
  const Matrix whole = Matrix::of(t);
  return whole.part(row, count, 0, whole.cols);
}

void GroupedMatmul::add_lone(const Tensors& left, std::vector<Item>& to) const {
  for (size_t i = 0; i < left.size(); ++i) {
    const auto group = static_cast<int64_t>(i);
    const Tensor a = flat(left[i]), c = flat(out[i]);
    if (a.defined() && c.defined()) {
      to.push_back({Matrix::of(a), Matrix::of(weights_[i]), Matrix::of(c), group, group, 0});
      continue;
    }
    const size_t first = to.size();
    for_matrices(left[i], [&](const Matrix& m, int64_t row) {
      to.push_back({m, Matrix::of(weights_[i]), {}, group, group, row});
    });
    size_t next = first;
    for_matrices(out[i], [&](const Matrix& m, int64_t) { to[next++].out = m; });
  }
}

void GroupedMatmul::add_rows(const Tensors& left, std::vector<Item>& to) const {
  if (left.size() > 1) {
    int64_t row = 0;
    for (int64_t g = 0; g < groups_; ++g) {
      const Matrix a = Matrix::of(left[static_cast<size_t>(g)]);
      to.push_back({a, Matrix::of(weight_of(g)), out_of(g, split_item >= 2 ? row : 0, a.rows), g, g, 0});
      row += a.rows;
    }
    return;
  }
  const Matrix a = Matrix::of(left[0]);
  std::vector<Span> spans{{0, 0, a.rows}};
  if (has_list()) spans = list_.spans(group_list, a.rows);
  int64_t end = 0;
  for (const Span& s : spans) {
    const int64_t count = split_item >= 2 ? s.count : std::min(s.count, out[static_cast<size_t>(s.group)].shape[0]);
    to.push_back({a.part(s.begin, count, 0, a.cols), Matrix::of(weight_of(s.group)),
                  out_of(s.group, split_item >= 2 ? s.begin : 0, count), s.group, 0, s.begin});
    end = s.begin + s.count;
  }
  // Rows of no group are products of no depth: zeros.
  if (split_item < 2 || groups_ == 0 || end == a.rows) return;
  const Matrix b = Matrix::of(weight_of(0));
  to.push_back({a.part(end, a.rows - end, 0, 0), b.part(0, 0, 0, b.cols), out_of(0, end, a.rows - end), -1, 0, 0});
}

void GroupedMatmul::add_depth(const Tensors& left, std::vector<Item>& to) const {
  const Matrix a = Matrix::of(left[0]);
  std::vector<Span> spans;
  int64_t begin = 0;
  if (weights_.size() == 1) {
    spans = list_.spans(group_list, a.cols);
  } else {
    for (int64_t g = 0; g < groups_; ++g) {
      spans.push_back({g, begin, weight_of(g).shape[0]});
      begin += weight_of(g).shape[0];
    }
  }
  for (const Span& s : spans) {
    Tensor made = out[split_item >= 2 ? 0 : static_cast<size_t>(s.group)];
    if (split_item >= 2) {
      made.offset += s.group * made.strides[0];
      made.shape.erase(0), made.strides.erase(0);
    }
    const Matrix b = Matrix::of(weight_of(s.group));
    to.push_back({a.part(0, a.rows, s.begin, s.count), b.part(weights_.size() == 1 ? s.begin : 0, s.count, 0, b.cols),
                  Matrix::of(made), s.group, 0, 0});
  }
}

/// A scale or an offset of weights as [parts of k, n].
Tensor GroupedMatmul::grid(const Tensors& list, int64_t group) const {
  Tensor t = of_group(list, group);
  if (t.rank() == 1 && t.defined()) t.shape.insert(0, 1), t.strides.insert(0, 0);
  return t;
}

void GroupedMatmul::finish(const Item& item, const cube::Tile& tile, float* c) const {
  const Tensor sum = item.group < 0 ? Tensor() : of_group(bias, item.group);
  if (sum.defined()) {
    const Scratch<float> line(tile.cols);
    read_part(sum, tile.col, tile.cols, line);
    for (int64_t r = 0; r < tile.rows; ++r) {
      for (int64_t i = 0; i < tile.cols; ++i) c[r * tile.cols + i] += line[i];
    }
  }
  write(c, item.out.part(tile.row, tile.rows, tile.col, tile.cols));
}

// Whole bias joins the exact sum, a floating one what the scales have made of it. One rounding at the end.
void GroupedMatmul::finish_whole(const Item& item, const cube::Tile& tile, const int32_t* c) const {
  const Matrix to = item.out.part(tile.row, tile.rows, tile.col, tile.cols);
  const Tensor sum = item.group < 0 ? Tensor() : of_group(bias, item.group);
  const Tensor factor = item.group < 0 ? Tensor() : of_group(scale, item.group);
  const bool whole_bias = sum.defined() && sum.dtype == DType::kInt32;
  const bool packed = factor.defined() && is_integer(factor.dtype);
  const Scratch<float> scales(tile.cols), moves(tile.cols), line(tile.cols);
  const Scratch<int32_t> added(tile.cols);
  std::fill_n(scales.data(), tile.cols, 1.0f);
  std::fill_n(moves.data(), tile.cols, 0.0f);
  std::fill_n(added.data(), tile.cols, 0);
  for (int64_t i = 0; whole_bias && i < tile.cols; ++i)
    added[i] = static_cast<int32_t>(load_element(sum, (tile.col + i) * sum.strides[0]));
  if (sum.defined() && !whole_bias) read_part(sum, tile.col, tile.cols, moves);
  if (factor.defined() && !packed) read_part(factor, tile.col, tile.cols, scales);
  for (int64_t i = 0; packed && i < tile.cols; ++i) {
    const PackedScale pair(factor.as<int64_t>()[(tile.col + i) * factor.strides[0]]);
    scales[i] = pair.scale, moves[i] = pair.offset;
  }
  const auto* tokens =
      per_token_scale.empty() || item.group < 0 ? nullptr : &per_token_scale[static_cast<size_t>(item.source)];
  for (int64_t r = 0; r < tile.rows; ++r) {
    const int32_t* from = c + r * tile.cols;
    if (to.dtype == DType::kInt32) {
      for (int64_t i = 0; i < tile.cols; ++i)
        *reinterpret_cast<int32_t*>(to.at(r, i)) =
            static_cast<int32_t>(static_cast<uint32_t>(from[i]) + static_cast<uint32_t>(added[i]));
      continue;
    }
    const float token = tokens == nullptr
                            ? 1.0f
                            : static_cast<float>(load_element(*tokens, (item.row + tile.row + r) * tokens->strides[0]));
    for (int64_t i = 0; i < tile.cols; ++i)
      line[i] = static_cast<float>(static_cast<int64_t>(from[i]) + added[i]) * scales[i] * token + moves[i];
    activate(act_type, line, tile.cols);
    if (to.dtype == DType::kInt8) {
      for (int64_t i = 0; i < tile.cols; ++i) line[i] = std::clamp(std::nearbyint(line[i]), -128.0f, 127.0f);
    }
    write(line, to.part(r, 1, 0, tile.cols));
  }
}

void GroupedMatmul::run() {
  std::deque<Scratch<std::byte>> room;
  const Tensors left = apart(x, room);
  const Tensors kept = std::exchange(weights_, plain_weights(room));
  weights_ = apart(weights_, room);
  GroupedProduct product;
  if (axis_ == kNone) add_lone(left, product.items);
  if (axis_ == kRows) add_rows(left, product.items);
  if (axis_ == kDepth) add_depth(left, product.items);
  if (few_bits_) {
    product.unpack = [this](const Item& item, const Matrix& b, int64_t col, float* to) {
      if (item.group >= 0)
        dequantise(b, col, grid(antiquant_scale, item.group), grid(antiquant_offset, item.group), to);
    };
  }
  if (whole_) {
    product.finish_whole = [this](const Item& i, const cube::Tile& t, const int32_t* c) { finish_whole(i, t, c); };
  } else {
    product.finish = [this](const Item& i, const cube::Tile& t, float* c) { finish(i, t, c); };
  }
  product.run();
  weights_ = kept;
}

NPU_OPERATOR(GroupedMatmul, "grouped_matmul", "moe", in<&GroupedMatmul::x>("x"), in<&GroupedMatmul::weight>("weight"),
             optional<&GroupedMatmul::bias>("bias"), optional<&GroupedMatmul::scale>("scale"),
             optional<&GroupedMatmul::offset>("offset"), optional<&GroupedMatmul::antiquant_scale>("antiquant_scale"),
             optional<&GroupedMatmul::antiquant_offset>("antiquant_offset"),
             optional<&GroupedMatmul::per_token_scale>("per_token_scale"),
             optional<&GroupedMatmul::group_list>("group_list"), attr<&GroupedMatmul::ends>("ends"),
             optional<&GroupedMatmul::activation_input>("activation_input"),
             optional<&GroupedMatmul::activation_quant_scale>("activation_quant_scale"),
             optional<&GroupedMatmul::activation_quant_offset>("activation_quant_offset"),
             attr<&GroupedMatmul::split_item>("split_item"), attr<&GroupedMatmul::group_type>("group_type"),
             attr<&GroupedMatmul::group_list_type>("group_list_type"), attr<&GroupedMatmul::act_type>("act_type"),
             attr<&GroupedMatmul::quant_group_size>("quant_group_size"), out<&GroupedMatmul::out>("out"),
             optional_out<&GroupedMatmul::act_out>("act_out"),
             optional_out<&GroupedMatmul::dynamic_quant_scale_out>("dynamic_quant_scale_out"));

}  // namespace npu::ops
