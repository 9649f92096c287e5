// SPDX-License-Identifier: Apache-2.0
// Diagonals and bands of matrices: a diagonal is a view, one step down and one to the right at a time.
#include <algorithm>
#include <limits>

#include "graph/node/array.h"

namespace npu::graph {
namespace {

/// A band of diagonals, numbered from `low` (below the main one: negative) to `high`, of matrices of a given size; and
/// how its rows lie in the compact form, the highest diagonal first.
struct Band {
  int64_t low = 0, high = 0, rows = 0, columns = 0;
  bool super_left = true, sub_left = true;  ///< shorter diagonals begin at the left of their row, or end at the right

  int64_t count() const { return high - low + 1; }
  int64_t length(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0));
  }
  int64_t longest() const { return std::min(rows + std::min<int64_t>(high, 0), columns - std::max<int64_t>(low, 0)); }
  bool left(int64_t d) const { return (d >= 0 && super_left) || (d <= 0 && sub_left); }
};

/// The numbers in input `i` (one, or low and high) and the alignment.
Band band_of(const Lowering& l, size_t i) {
  const std::vector<int64_t> k = l.integers(i);
  require(k.size() == 1 || k.size() == 2, "diag_index must have one or two elements, received {}", k.size());
  require(k.front() <= k.back(), "lower_diag_index must not be larger than upper_diag_index: {} > {}", k.front(),
          k.back());
  Band band;
  band.low = k.front(), band.high = k.back();
  const auto align = l.attributes().get_or<std::string>("align", "LEFT_LEFT");
  band.super_left = align.starts_with("LEFT"), band.sub_left = align.ends_with("LEFT");
  return band;
}

void set_size(Band& band, int64_t rows, int64_t columns) {
  band.rows = rows, band.columns = columns;
  const bool fits = (-rows < band.low && band.low < columns) || band.low == 0;
  require(fits && ((-rows < band.high && band.high < columns) || band.high == 0),
          "diagonals {} to {} are out of bound of matrices of {} rows and {} columns", band.low, band.high, rows,
          columns);
}

/// Diagonal `d` of matrices in the last two axes.
Planned diagonal_of(const Planned& matrices, const Band& band, int64_t d) {
  Planned view = matrices;
  view.literal = nullptr;
  Tensor& t = view.view;
  const size_t rank = t.rank();
  const int64_t down = t.strides[rank - 2], right = t.strides[rank - 1];
  if (band.length(d) > 0) t.offset += d >= 0 ? d * right : -d * down;
  t.shape.pop_back(), t.strides.pop_back();
  t.shape.back() = band.length(d), t.strides.back() = down + right;
  return view;
}

/// The part of the compact form that holds diagonal `d`.
Planned row_of(const Planned& compact, const Band& band, int64_t d) {
  Planned row = compact;
  const size_t rank = compact.shape().size();
  if (band.count() > 1) row = without_axis(row, rank - 2, band.high - d);
  const size_t last = row.shape().size() - 1;
  return narrowed(row, last, band.left(d) ? 0 : row.shape()[last] - band.length(d), band.length(d));
}

void fill_with(Lowering& l, const Planned& to, size_t padding) {
  if (padding < l.input_count())
    copy(l, expanded(restrided(l.input(padding), {}, {}), to.shape()), to);
  else
    fill(l, to, Scalar(0));
}

/// Matrices of the given band, the other elements from input `padding`.
void diagonals_to_matrices(Lowering& l, Band band, int64_t rows, int64_t columns, size_t padding) {
  decline_objects(l);
  const Planned compact = l.input(0);
  Dims shape = compact.shape();
  require(!shape.empty(), "diagonal must be at least 1-dim, received shape: {}", shape);
  const int64_t longest = shape.back();
  const int64_t least_rows = longest - std::min<int64_t>(band.high, 0);
  const int64_t least_columns = longest + std::max<int64_t>(band.low, 0);
  if (rows == -1 && columns == -1) rows = columns = std::max(least_rows, least_columns);
  if (rows == -1) rows = least_rows;
  if (columns == -1) columns = least_columns;
  require(rows >= least_rows && columns >= least_columns && (rows == least_rows || columns == least_columns),
          "{} rows and {} columns do not fit diagonals of {}", rows, columns, longest);
  set_size(band, rows, columns);
  shape.pop_back();
  if (band.count() > 1) {
    require(!shape.empty() && shape.back() == band.count(), "the diagonal is {}, for {} diagonals", compact.shape(),
            band.count());
    shape.pop_back();
  }
  shape.push_back(rows), shape.push_back(columns);
  const Planned out = l.make(0, compact.dtype(), shape);
  fill_with(l, out, padding);
  for (int64_t d = band.low; d <= band.high; ++d) copy(l, row_of(compact, band, d), diagonal_of(out, band, d));
}

void matrix_diag(Lowering& l) { diagonals_to_matrices(l, {}, -1, -1, 1); }
void matrix_diag_v3(Lowering& l) { diagonals_to_matrices(l, band_of(l, 1), integer(l, 2), integer(l, 3), 4); }

void check_matrices(const Lowering& l) {
  decline_objects(l);
  require(l.shape(0).size() >= 2, "input must be at least 2-dim, received shape: {}", l.shape(0));
}

void matrices_to_diagonals(Lowering& l, Band band, size_t padding) {
  check_matrices(l);
  const Planned in = l.input(0);
  Dims shape = in.shape();
  set_size(band, shape[shape.size() - 2], shape.back());
  shape.pop_back(), shape.pop_back();
  if (band.count() == 1) return give(l, 0, diagonal_of(in, band, band.low));
  shape.push_back(band.count()), shape.push_back(band.longest());
  const Planned out = l.make(0, in.dtype(), shape);
  fill_with(l, out, padding);
  for (int64_t d = band.low; d <= band.high; ++d) copy(l, diagonal_of(in, band, d), row_of(out, band, d));
}

void matrix_diag_part(Lowering& l) { matrices_to_diagonals(l, {}, 1); }
void matrix_diag_part_v3(Lowering& l) { matrices_to_diagonals(l, band_of(l, 1), 2); }

void set_diagonals(Lowering& l, Band band) {
  check_matrices(l);
  const Planned in = l.input(0), out = l.make(0, in.dtype(), in.shape());
  const size_t rank = in.shape().size();
  set_size(band, in.shape()[rank - 2], in.shape()[rank - 1]);
  Dims expected(std::span(in.shape().data(), rank - 2));
  if (band.count() > 1) expected.push_back(band.count());
  expected.push_back(band.longest());
  require(l.shape(1) == expected, "the diagonal is {}; for {} it must be {}", l.shape(1), in.shape(), expected);
  copy(l, in, out);
  for (int64_t d = band.low; d <= band.high; ++d) copy(l, row_of(l.input(1), band, d), diagonal_of(out, band, d));
}

void matrix_set_diag(Lowering& l) { set_diagonals(l, {}); }
void matrix_set_diag_v3(Lowering& l) { set_diagonals(l, band_of(l, 2)); }

/// Negative numbers of diagonals keep all on their side.
void band_part(Lowering& l) {
  check_matrices(l);
  const int64_t below = integer(l, 1), above = integer(l, 2);
  const Dims& shape = l.shape(0);
  require(below <= shape[shape.size() - 2] && above <= shape.back(),
          "num_lower ({}) and num_upper ({}) must not exceed the size of {}", below, above, shape);
  const Planned in = l.input(0), out = l.make(0, in.dtype(), shape);
  constexpr int64_t kAll = std::numeric_limits<int32_t>::max();
  l.call("triu").set("self", in).set("diagonal", below < 0 ? -kAll : -below).set("out", out);
  l.call("tril").set("self", out).set("diagonal", above < 0 ? kAll : above).set("out", out);
}

/// A tensor of any rank on the diagonal of one of twice the rank.
void diag(Lowering& l) {
  decline_objects(l);
  const Planned in = in_rows(l, l.input(0));
  Dims shape = in.shape();
  for (const int64_t size : in.shape()) shape.push_back(size);
  const int64_t n = in.view.count();
  const Planned out = l.make(0, in.dtype(), shape);
  fill(l, out, Scalar(0));
  copy(l, reshaped(in, {n}), restrided(out, {n}, {n + 1}));
}

void diag_part(Lowering& l) {
  decline_objects(l);
  const Planned in = in_rows(l, l.input(0));
  const Dims& shape = in.shape();
  const size_t half = shape.size() / 2;
  require(shape.size() % 2 == 0 && half > 0 && std::equal(shape.begin(), shape.begin() + half, shape.begin() + half),
          "the input is {}; its second half of dimensions must be as its first", shape);
  const Dims part(std::span(shape.data(), half));
  const int64_t n = count_of(part);
  const Planned out = l.make(0, in.dtype(), part);
  copy(l, restrided(in, {n}, {n + 1}), reshaped(out, {n}));
}

NPU_NODE("MatrixDiag", matrix_diag);
NPU_NODE("MatrixDiagV2", matrix_diag_v3);
NPU_NODE("MatrixDiagV3", matrix_diag_v3);
NPU_NODE("MatrixDiagPart", matrix_diag_part);
NPU_NODE("MatrixDiagPartV2", matrix_diag_part_v3);
NPU_NODE("MatrixDiagPartV3", matrix_diag_part_v3);
NPU_NODE("MatrixSetDiag", matrix_set_diag);
NPU_NODE("MatrixSetDiagV2", matrix_set_diag_v3);
NPU_NODE("MatrixSetDiagV3", matrix_set_diag_v3);
NPU_NODE("MatrixBandPart", band_part);
NPU_NODE("Diag", diag);
NPU_NODE("DiagPart", diag_part);

}  // namespace
}  // namespace npu::graph
