// SPDX-License-Identifier: Apache-2.0
// Parts of lists, sizes of tensors, and the numbers that words and numbers stand for.
#include <algorithm>
#include <cmath>
#include <limits>

#include "acl/singleop/function.h"
#include "base/error.h"

namespace npu::acl {
namespace {

Value part(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  const int64_t begin = number_of(a[1]), end = number_of(a[2]);
  if (static_cast<int64_t>(list.size()) < end)
    fail(Code::kInvalidParam, "{} is [{}]; it needs {} members", a[0].name, fmt::join(list, ", "), end);
  return list_value(std::vector<int64_t>(list.begin() + begin, list.begin() + end));
}

Value ends(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  std::vector<int64_t> first;
  for (size_t i = 0; i < list.size(); i += 2) {
    first.push_back(list[i]);
    if (i + 1 < list.size() && list[i] != list[i + 1])
      fail(Code::kInvalidParam, "{} is [{}]; other paddings before an axis than after it are not built", a[0].name,
           fmt::join(list, ", "));
  }
  return list_value(std::move(first));
}

Value behind(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  const int64_t first = number_of(a[1]);
  if (static_cast<int64_t>(list.size()) <= first)
    fail(Code::kInvalidParam, "{} is [{}]; it needs more than {} members", a[0].name, fmt::join(list, ", "), first);
  return list_value({list.begin() + first, list.end()});
}

Value paired(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  const size_t axes = list.size() / 2;
  if (list.size() % 2 != 0)
    fail(Code::kInvalidParam, "{} is [{}]; it needs two numbers for each axis", a[0].name, fmt::join(list, ", "));
  std::vector<int64_t> pairs;
  for (size_t i = 0; i < axes; ++i) pairs.insert(pairs.end(), {list[i], list[axes + i]});
  return list_value(std::move(pairs));
}

/// A window's sizes along the spatial axes of x, [n, c, spatial…]: all of x, or ksize behind its first two.
std::vector<int64_t> window_sizes(const NamedValue& ksize, const NamedValue& global, const Tensor& x) {
  if (x.rank() < 3) fail(Code::kInvalidParam, "{} needs images with batch and channels, got {}", ksize.name, x);
  if (global.value.given() && truth_of(global.value, global.name)) return {x.shape.begin() + 2, x.shape.end()};
  const std::vector<int64_t> list = list_of(ksize);
  if (list.size() != x.rank())
    fail(Code::kInvalidParam, "{} is [{}]; it needs one member for each axis of {}", ksize.name, fmt::join(list, ", "),
         x);
  return {list.begin() + 2, list.end()};
}

Value window(const Arguments& a) { return list_value(window_sizes(a[0], a[1], tensor_of(a[2]))); }

/// Pads for as many windows as x has strides, the odd one behind.
std::vector<int64_t> same_pads(const Tensor& x, const std::vector<int64_t>& sizes, const NamedValue& strides) {
  const std::vector<int64_t> steps = list_of(strides);
  std::vector<int64_t> pads;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t in = x.shape[i + 2], step = i + 2 < steps.size() ? steps[i + 2] : 0;
    if (step < 1)
      fail(Code::kInvalidParam, "{} is [{}]; it needs a number above 0 for each axis of {}", strides.name,
           fmt::join(steps, ", "), x);
    const int64_t windows = (in + step - 1) / step, over = std::max<int64_t>((windows - 1) * step + sizes[i] - in, 0);
    pads.insert(pads.end(), {over / 2, over - over / 2});
  }
  return pads;
}

// padding_mode, global_pooling, pads, x, ksize, strides
Value window_pads(const Arguments& a) {
  const std::string mode = word_of(a[0].value, a[0].name);
  if (mode != "CALCULATED" && mode != "SAME" && mode != "VALID")
    fail(Code::kInvalidParam, "{} is '{}'; it is one of CALCULATED, SAME, VALID", a[0].name, mode);
  const Tensor& x = tensor_of(a[3]);
  const std::vector<int64_t> sizes = window_sizes(a[4], a[1], x);
  const bool global = a[1].value.given() && truth_of(a[1].value, a[1].name);
  if (global || mode == "VALID") return list_value(std::vector<int64_t>(2 * sizes.size(), 0));
  return list_value(mode == "SAME" ? same_pads(x, sizes, a[5]) : list_of(a[2]));
}

Value outermost_last(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  if (list.size() % 2 != 0)
    fail(Code::kInvalidParam, "{} is [{}]; it needs two numbers for each axis", a[0].name, fmt::join(list, ", "));
  std::vector<int64_t> turned;
  for (size_t i = list.size(); i >= 2; i -= 2) turned.insert(turned.end(), {list[i - 2], list[i - 1]});
  return list_value(std::move(turned));
}

Value item(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  const auto at = static_cast<size_t>(number_of(a[1]));
  if (at >= list.size())
    fail(Code::kInvalidParam, "{} is [{}]; it needs {} members", a[0].name, fmt::join(list, ", "), at + 1);
  return list_value(std::vector<int64_t>{list[at]});
}

Value switched(const Arguments& a) { return {.content = aclopAttr::Value(!truth_of(a[0].value, a[0].name))}; }

Value unset(const Arguments& a) {
  if (truth_of(a[0].value, a[0].name))
    fail(Code::kInvalidParam, "{} is true, which is not built; set it to false", a[0].name);
  return {.content = aclopAttr::Value(false)};
}

Value complement(const Arguments& a) { return real_value(static_cast<float>(1 - real_of(a[0].value, a[0].name))); }

Value inverse(const Arguments& a) {
  const double value = real_of(a[0].value, a[0].name);
  return real_value(static_cast<float>(value == 0 ? 0 : 1 / value));
}

/// The number of a word among `words`.
Value numbered(const NamedValue& argument, std::initializer_list<std::string_view> words) {
  const std::string word = word_of(argument.value, argument.name);
  const auto* const found = std::find(words.begin(), words.end(), word);
  if (found == words.end())
    fail(Code::kInvalidParam, "{} is '{}'; it is one of {}", argument.name, word, fmt::join(words, ", "));
  return {.content = aclopAttr::Value(int64_t{found - words.begin()})};
}

Value mode(const Arguments& a) { return numbered(a[0], {"none", "mean", "sum"}); }
Value writing(const Arguments& a) { return numbered(a[0], {"none", "add", "mul"}); }

Value interpolation(const Arguments& a) { return numbered(a[0], {"bilinear", "nearest", "bicubic"}); }
Value border(const Arguments& a) { return numbered(a[0], {"zeros", "border", "reflection"}); }
Value bag(const Arguments& a) { return numbered(a[0], {"sum", "mean", "max"}); }

Value last(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  const int64_t wanted = number_of(a[1]), size = static_cast<int64_t>(list.size());
  if (size < wanted)
    fail(Code::kInvalidParam, "{} is [{}]; it needs {} members", a[0].name, fmt::join(list, ", "), wanted);
  return list_value({list.end() - wanted, list.end()});
}

Value sizes(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  const int64_t rank = static_cast<int64_t>(x.rank());
  const int64_t begin = std::min(number_of(a[1]), rank), end = std::min(number_of(a[2]), rank);
  return list_value({x.shape.begin() + begin, x.shape.begin() + end});
}

Value shares(const Arguments& a) {
  constexpr int64_t kMost = 1 << 16;  // as many outputs would be needed
  const Tensor& x = tensor_of(a[0]);
  const int64_t size = x.shape[axis_of(a[1], x)], n = number_of(a[2]);
  if (n < 1 || n > kMost || size % n != 0)
    fail(Code::kInvalidParam, "{} is {}; it must divide size {} of {}", a[2].name, n, size, x);
  return list_value(std::vector<int64_t>(static_cast<size_t>(n), size / n));
}

Value completed(const Arguments& a) {
  std::vector<int64_t> list = list_of(a[0]);
  const Tensor& x = tensor_of(a[1]);
  const int64_t size = x.shape[axis_of(a[2], x)];
  int64_t rest = size, open = 0;
  for (const int64_t part : list) {
    const bool fits = part == -1 || (part >= 0 && part <= rest);
    if (!fits || (open += part == -1) > 1)
      fail(Code::kInvalidParam, "{} is [{}]; it takes sizes up to {} together, and -1 once", a[0].name,
           fmt::join(list, ", "), size);
    if (part >= 0) rest -= part;
  }
  std::ranges::replace(list, int64_t{-1}, rest);
  return list_value(std::move(list));
}

Value axes_but(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < x.rank(); ++i)
    if (i != axis_of(a[1], x)) axes.push_back(static_cast<int64_t>(i));
  return list_value(std::move(axes));
}

Value within(const Arguments& a) {
  const Tensor& x = tensor_of(a[1]);
  return list_value({number_of(a[0]) % std::max<int64_t>(x.shape[axis_of(a[2], x)], 1)});
}

// What the client's sizes say, whatever it calls the padding: one description of it leaves it 0 and gives larger sizes.
Value left_over(const Arguments& a) {
  const Tensor &y = tensor_of(a[0]), &x = tensor_of(a[1]), &filter = tensor_of(a[2]);
  const std::vector<int64_t> strides = list_of(a[3]), pads = list_of(a[4]), dilations = list_of(a[5]);
  const size_t spatial = pads.size() / 2;
  if (y.rank() != spatial + 2 || x.rank() != y.rank() || filter.rank() != y.rank() || strides.size() != y.rank() ||
      dilations.size() != y.rank())
    fail(Code::kInvalidParam, "{} is {}, {} is {}, {} is {}; with {} of {} numbers all have {} axes", a[0].name, y,
         a[1].name, x, a[2].name, filter, a[4].name, pads.size(), spatial + 2);
  std::vector<int64_t> rest;
  for (size_t i = 0; i < spatial; ++i) {
    const size_t axis = i + 2;
    const int64_t reach = (x.shape[axis] - 1) * strides[axis] + dilations[axis] * (filter.shape[axis] - 1) + 1;
    rest.push_back(y.shape[axis] - reach + pads[2 * i] + pads[2 * i + 1]);
  }
  return list_value(std::move(rest));
}

Value freedom(const Arguments& a) {
  const bool biased = a[0].value.given() && !truth_of(a[0].value, a[0].name);
  return list_value({biased ? 0 : number_of(a[1])});
}

// Infinity comes as the largest whole number of 32 bits, and minus infinity as the smallest.
Value order(const Arguments& a) {
  const double p = real_of(a[0].value, a[0].name), limit = 2147483647.0;
  const float infinity = std::numeric_limits<float>::infinity();
  return real_value(std::abs(p) < limit ? static_cast<float>(p) : (p > 0 ? infinity : -infinity));
}

Value root(const Arguments& a) {
  const double p = real_of(a[0].value, a[0].name);
  return real_value(p == 0 || std::abs(p) >= 2147483647.0 ? 1.0F : static_cast<float>(1 / p));
}

constexpr Function kParts[] = {
    {"part", 3, part},
    {"item", 2, item},
    {"ends", 1, ends},
    {"last", 2, last},
    {"outermost_last", 1, outermost_last},
    {"switched", 1, switched},
    {"complement", 1, complement},
    {"inverse", 1, inverse},
    {"mode", 1, mode},
    {"writing", 1, writing},
    {"interpolation", 1, interpolation},
    {"border", 1, border},
    {"bag", 1, bag},
    {"sizes", 3, sizes, true},
    {"axes_but", 2, axes_but, true},
    {"shares", 3, shares, true},
    {"completed", 3, completed, true},
    {"within", 3, within, true},
    {"left_over", 6, left_over, true},
    {"freedom", 2, freedom},
    {"order", 1, order},
    {"root", 1, root},
    {"behind", 2, behind},
    {"paired", 1, paired},
    {"window", 3, window, true},
    {"unset", 1, unset},
    {"window_pads", 6, window_pads, true},
};

}  // namespace

std::span<const Function> part_functions() { return kParts; }

}  // namespace npu::acl
