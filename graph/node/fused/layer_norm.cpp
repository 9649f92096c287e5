// SPDX-License-Identifier: Apache-2.0
// Layer normalisation and its gradient, as the pass layer_norm makes them. What the graph says in shapes is checked
// here; where it says something else, the parts are run instead.
#include <algorithm>

#include "graph/node/array.h"
#include "graph/node/fused/fused.h"
#include "graph/plan/refusal.h"

namespace npu::graph {
namespace {

/// How x is normalised.
struct Rows {
  Dims squeezed;     ///< [1, count, length, 1]
  Dims shape;        ///< of the result, whose last axes are a row
  Dims row = {};     ///< the last axes
  Dims matrix = {};  ///< [count, length]
  size_t lead() const { return shape.size() - row.size(); }
};

Dims known_shape(const Lowering& l, size_t input) {
  const std::vector<int64_t> sizes = l.integers(input);
  return Dims(std::span<const int64_t>(sizes));
}

/// `shape` is the result's.
Rows rows_of(const Lowering& l, Dims shape) {
  Rows out{.squeezed = known_shape(l, place_of(l, "rows")), .shape = std::move(shape)};
  const Dims& s = out.squeezed;
  if (s.size() != 4 || s[0] != 1 || s[3] != 1 || s[1] <= 0 || s[2] <= 1) throw Unfused{"x is not taken in rows"};
  out.matrix = {s[1], s[2]};
  int64_t length = 1;
  for (size_t d = out.shape.size(); d-- > 0 && length < s[2];) {
    length *= out.shape[d];
    out.row.insert(0, out.shape[d]);
  }
  const bool fits =
      length == s[2] && count_of(out.shape) == s[1] * s[2] && count_of(l.shape(place_of(l, "x"))) == s[1] * s[2];
  if (!fits) throw Unfused{"its rows are not the last axes"};
  return out;
}

/// A parameter as one row: its axes are those of a row, ones before them aside.
Planned parameter(Lowering& l, const char* name, const Rows& rows) {
  const std::optional<size_t> at = role(l, name);
  if (!at) return {};
  Dims shape = l.shape(*at);
  if (shape.size() > rows.shape.size()) throw Unfused{"gamma or beta has more axes than x"};
  while (shape.size() > rows.row.size() && shape[0] == 1) shape.erase(0);
  if (!(shape == rows.row)) throw Unfused{"gamma or beta is no row"};
  return reshaped(in_rows(l, l.input(*at)), {rows.matrix[1]});
}

Planned as_matrix(Lowering& l, const char* name, const Rows& rows) {
  return reshaped(in_rows(l, l.input(place_of(l, name))), rows.matrix);
}

double epsilon(const Lowering& l) { return l.attributes().get<double>("epsilon"); }

/// The last axes of x, as the graph names them.
Rows rows_along_axes(const Lowering& l) {
  Rows out{.squeezed = {}, .shape = l.shape(place_of(l, "x"))};
  std::vector<int64_t> axes = l.integers(place_of(l, "axes"));
  for (int64_t& axis : axes) axis = static_cast<int64_t>(checked_axis(axis, out.shape.size()));
  std::sort(axes.begin(), axes.end());
  const auto lead = out.shape.size() - std::min(axes.size(), out.shape.size());
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<int64_t>(lead + i)) throw Unfused{"its rows are not the last axes"};
  for (size_t d = lead; d < out.shape.size(); ++d) out.row.push_back(out.shape[d]);
  const int64_t length = count_of(out.row), count = count_of(out.shape);
  if (length < 1 || count < 1) throw Unfused{"its rows are empty"};
  out.matrix = {count / length, length};
  return out;
}

void forward(Lowering& l) {
  const Rows rows = role(l, "axes") ? rows_along_axes(l) : rows_of(l, known_shape(l, place_of(l, "shape")));
  const Planned gamma = parameter(l, "gamma", rows), beta = parameter(l, "beta", rows), x = as_matrix(l, "x", rows);
  const Planned y = l.make(0, l.node().outputs[0].type.dtype, rows.shape);
  OperatorCall call = l.call("layer_norm");
  call.set("self", x).set("normalized_shape", std::vector<int64_t>{rows.matrix[1]}).set("eps", epsilon(l));
  if (gamma.slot >= 0) call.set("weight", gamma);
  if (beta.slot >= 0) call.set("bias", beta);
  call.set("out", reshaped(y, rows.matrix));
}

/// Output `name` as one row of sums, if it is wanted.
Planned sums(Lowering& l, const char* name, const char* keeps, const Rows& rows) {
  const std::optional<size_t> at = role(l, name);
  if (!at) return {};
  std::vector<int64_t> axes = l.integers(place_of(l, "axes"));
  for (int64_t& axis : axes) axis = static_cast<int64_t>(checked_axis(axis, rows.shape.size()));
  std::sort(axes.begin(), axes.end());
  bool leading = axes.size() == rows.lead();
  for (size_t d = 0; leading && d < axes.size(); ++d) leading = axes[d] == static_cast<int64_t>(d);
  if (!leading) throw Unfused{"gamma's or beta's gradient is no sum over the rows"};
  Dims shape = rows.row;
  if (l.attributes().get<bool>(keeps))
    for (size_t d = 0; d < rows.lead(); ++d) shape.insert(0, 1);
  return reshaped(l.make(*at, l.node().outputs[*at].type.dtype, shape), {rows.matrix[1]});
}

void gradient(Lowering& l) {
  const Rows rows = rows_of(l, l.shape(place_of(l, "dy")));
  const Planned gamma = parameter(l, "gamma", rows);
  const Planned dy = as_matrix(l, "dy", rows), x = as_matrix(l, "x", rows);
  const Planned dgamma = sums(l, "dgamma", "dgamma_keeps", rows), dbeta = sums(l, "dbeta", "dbeta_keeps", rows);
  const std::optional<size_t> dx = role(l, "dx");
  const Planned out = dx ? l.make(*dx, l.node().outputs[*dx].type.dtype, rows.squeezed) : Planned{};
  OperatorCall call = l.call("layer_norm_gradient");
  call.set("grad_output", dy).set("self", x).set("eps", epsilon(l));
  call.set("normalized_shape", std::vector<int64_t>{rows.matrix[1]});
  if (gamma.slot >= 0) call.set("weight", gamma);
  if (dx) call.set("grad_input", reshaped(out, rows.matrix));
  if (dgamma.slot >= 0) call.set("grad_weight", dgamma);
  if (dbeta.slot >= 0) call.set("grad_bias", dbeta);
}

NPU_NODE(Kind::kLayerNorm, forward);
NPU_NODE(Kind::kLayerNormGrad, gradient);

}  // namespace
}  // namespace npu::graph
