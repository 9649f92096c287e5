// SPDX-License-Identifier: Apache-2.0
// ListDiff: the elements of a list that another one does not have, in their order, and where they were.
#include <algorithm>
#include <unordered_set>

#include "graph/node/rows.h"
#include "graph/value/value.h"

namespace npu::graph {
namespace {

/// What elements of a type are compared as: halves by their value, so that -0 is 0 and what is no number equals
/// nothing.
template <class T>
struct Compared {
  using Type = T;
};
template <>
struct Compared<Half> {
  using Type = float;
};
template <>
struct Compared<BFloat16> {
  using Type = float;
};

template <class T>
std::vector<int64_t> places_of_others(const Tensor& x, const Tensor& y) {
  using C = typename Compared<T>::Type;
  std::unordered_set<C> known;
  known.reserve(static_cast<size_t>(y.count()));
  for (int64_t i = 0; i < y.count(); ++i) known.insert(static_cast<C>(y.as<T>()[i]));
  std::vector<int64_t> out;
  for (int64_t i = 0; i < x.count(); ++i)
    if (!known.contains(static_cast<C>(x.as<T>()[i]))) out.push_back(i);
  return out;
}

template <class Index>
Value indices_of(const Frame& frame, DType dtype, const std::vector<int64_t>& places) {
  Value out = make_value(frame.device(), dtype, {static_cast<int64_t>(places.size())});
  std::ranges::transform(places, out.tensor.as<Index>(), [](int64_t place) { return static_cast<Index>(place); });
  return out;
}

void list_diff(Lowering& l) {
  const DType dtype = l.dtype(0), index = out_type(l, 1);
  require(l.shape(0).size() == 1, "x should be a 1D vector.");
  require(l.shape(1).size() == 1, "y should be a 1D vector.");
  if (is_complex(dtype)) l.decline("different complex numbers are left to the client");
  const Planned x = rows_of(l, l.input(0), dtype), y = rows_of(l, l.input(1), dtype);
  const std::vector<Planned> out{l.dynamic(0, dtype), l.dynamic(1, index)};
  l.run({x, y}, out, [=](Frame& frame) {
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_convertible_v<T, double>) {
        const Tensor from = frame.tensor(x);
        const std::vector<int64_t> places = places_of_others<T>(from, frame.tensor(y));
        Value elements = make_value(frame.device(), dtype, {static_cast<int64_t>(places.size())});
        std::ranges::transform(places, elements.tensor.as<T>(), [&](int64_t i) { return from.as<T>()[i]; });
        frame.set(out[0], std::move(elements));
        frame.set(out[1], index == DType::kInt64 ? indices_of<int64_t>(frame, index, places)
                                                 : indices_of<int32_t>(frame, index, places));
      }
    });
  });
}

NPU_NODE("ListDiff", list_diff);

}  // namespace
}  // namespace npu::graph
