// SPDX-License-Identifier: Apache-2.0
// HistogramFixedWidth: how many numbers lie in each of some bins of one width. Those outside of the range count in the
// first or the last one.
#include <algorithm>
#include <cmath>

#include "graph/node/rows.h"
#include "graph/value/value.h"

namespace npu::graph {
namespace {

/// a - b as TensorFlow's kernel subtracts numbers of the type: halves are rounded, integers wrap.
template <class T>
T difference(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) - static_cast<std::make_unsigned_t<T>>(b));
  else
    return static_cast<T>(a - b);
}

/// The width of all bins. Short integers do not wrap here: they are subtracted as int.
template <class T>
double width_of(T low, T high) {
  if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(int))
    return static_cast<double>(high - low);
  else
    return static_cast<double>(difference(high, low));
}

template <class T>
std::vector<int64_t> counts_of(const Tensor& values, const Tensor& range, int64_t bins) {
  const T *x = values.as<T>(), low = range.as<T>()[0], high = range.as<T>()[1];
  require(low < high, "value_range should satisfy value_range[0] < value_range[1], but got '[{}, {}]'",
          static_cast<double>(low), static_cast<double>(high));
  const double step = width_of(low, high) / static_cast<double>(bins), last = static_cast<double>(bins - 1);
  std::vector<int64_t> out(static_cast<size_t>(bins));
  for (int64_t i = 0; i < values.count(); ++i) {
    require(!std::isnan(static_cast<double>(x[i])), "Histogram values must not contain NaN");
    const T above = difference(x[i] < low ? low : x[i], low);
    const double bin = std::min(static_cast<double>(above) / step, last);
    require(bin >= 0, "value {} has no bin in a range from {} to {}", static_cast<double>(x[i]),
            static_cast<double>(low), static_cast<double>(high));
    ++out[static_cast<size_t>(bin)];
  }
  return out;
}

void histogram(Lowering& l) {
  require(l.shape(1).size() == 1, "value_range should be a vector.");
  require(l.shape(1)[0] == 2, "value_range should be a vector of 2 elements.");
  require(l.shape(2).empty(), "nbins should be a scalar.");
  const int64_t bins = integer(l, 2);
  require(bins > 0, "nbins should be a positive number, but got '{}'", bins);
  const DType dtype = l.dtype(0);
  if (is_complex(dtype) || dtype == DType::kBool) l.decline("numbers of this type have no order");
  const Planned values = rows_of(l, l.input(0), dtype), range = rows_of(l, l.input(1), dtype);
  const Planned out = l.make(0, out_type(l), {bins});
  const Planned counts = out.dtype() == DType::kInt64 ? out : l.scratch(DType::kInt64, {bins});
  l.run({values, range}, {counts}, [=](Frame& frame) {
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_convertible_v<T, double> && !std::is_same_v<T, bool>)
        std::ranges::copy(counts_of<T>(frame.tensor(values), frame.tensor(range), bins),
                          frame.tensor(counts).as<int64_t>());
    });
  });
  if (counts.slot != out.slot) copy(l, counts, out);
}

NPU_NODE("HistogramFixedWidth", histogram);

}  // namespace
}  // namespace npu::graph
