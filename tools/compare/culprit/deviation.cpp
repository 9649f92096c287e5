// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/culprit/deviation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

constexpr size_t kBlock = 2048;

/// Both tensors in the golden's order.
class Pair {
 public:
  Pair(const Port& mine, const Port& golden) : mine_(mine), golden_(golden), match_(made()) {
    if (match_.mine.count != match_.golden.count)
      throw Refusal(Exit::kShape, fmt::format("shapes {} and {}", shape_text(mine_.tensor().facts.shape),
                                              shape_text(golden_.tensor().facts.shape)));
  }
  const View& mine() const { return match_.mine; }
  const View& golden() const { return match_.golden; }
  uint64_t count() const { return match_.golden.count; }
  bool identical() const {
    return mine().type == golden().type && !mine().layout && !golden().layout &&
           std::ranges::equal(mine().bytes, golden().bytes);
  }

 private:
  Match made() const {
    const Tensor &m = mine_.tensor(), &g = golden_.tensor();
    if (m.facts.format == g.facts.format || m.facts.shape == g.facts.shape) return {plain_view(m), plain_view(g)};
    return match(m, g, "", g.facts.shape);
  }
  Elements mine_, golden_;
  Match match_;
};

template <class Each>
void each_element(const Pair& pair, Each&& each) {
  alignas(64) std::array<float, kBlock> a, b;
  for (uint64_t first = 0; first < pair.count(); first += kBlock) {
    const size_t n = std::min<uint64_t>(kBlock, pair.count() - first);
    pair.mine().read(first, n, a.data()), pair.golden().read(first, n, b.data());
    for (size_t i = 0; i < n; ++i) each(a[i], b[i], first + i);
  }
}

bool same_not_finite(float a, float b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

void add(Deviation& d, double& squares, float a, float b, uint64_t at) {
  const bool finite_a = std::isfinite(a), finite_b = std::isfinite(b);
  if (finite_b) {
    d.largest = std::max<double>(d.largest, std::fabs(b));
    squares += static_cast<double>(b) * b;
  }
  if (finite_a && finite_b) {
    const double apart = std::fabs(static_cast<double>(a) - b);
    if (d.not_finite_apart == 0 && apart > d.absolute) d.worst = at, d.mine = a, d.golden = b;
    d.absolute = std::max(d.absolute, apart);
    return;
  }
  d.not_finite_mine += !finite_a, d.not_finite_golden += !finite_b;
  if (!same_not_finite(a, b) && d.not_finite_apart++ == 0) d.worst = at, d.mine = a, d.golden = b;
}

double steps(double apart, double at, double epsilon) {
  if (epsilon == 0 || apart == 0) return 0;
  return apart / std::ldexp(epsilon, std::ilogb(std::max(std::fabs(at), 1e-30)));
}

/// Of dumps that hold no elements.
Deviation of_statistics(const Port& mine, const Port& golden) {
  Deviation d;
  if (mine.shape != golden.shape) {
    d.reason = fmt::format("shapes {} and {}", shape_text(mine.shape), shape_text(golden.shape));
    return d;
  }
  d.known = true, d.shape = golden.shape;
  d.count = elements(golden.shape).value_or(0);
  d.epsilon_mine = epsilon_of(mine.type), d.epsilon_golden = epsilon_of(golden.type);
  const Statistics &a = *mine.statistics, &b = *golden.statistics;
  double squares = 0;
  for (const auto& [x, y] : {std::pair{a.most, b.most}, {a.least, b.least}, {a.mean, b.mean}})
    add(d, squares, static_cast<float>(x), static_cast<float>(y), 0);
  const double n = std::max<double>(1, static_cast<double>(d.count));
  d.absolute = std::max(d.absolute, std::fabs(a.norm - b.norm) / std::sqrt(n));
  d.root_mean_square = b.norm / std::sqrt(n);
  d.identical = a.most == b.most && a.least == b.least && a.mean == b.mean && a.norm == b.norm;
  return d;
}

Deviation of_elements(const Port& mine, const Port& golden) {
  const Pair pair(mine, golden);
  Deviation d;
  d.known = true, d.count = pair.count(), d.shape = pair.golden().shape;
  d.epsilon_mine = epsilon_of(pair.mine().type->number), d.epsilon_golden = epsilon_of(pair.golden().type->number);
  d.identical = pair.identical();
  double squares = 0;
  each_element(pair, [&](float a, float b, uint64_t at) { add(d, squares, a, b, at); });
  d.root_mean_square = std::sqrt(squares / std::max<double>(1, static_cast<double>(d.count)));
  d.ulp =
      steps(std::fabs(static_cast<double>(d.mine) - d.golden), d.golden, std::max(d.epsilon_mine, d.epsilon_golden));
  return d;
}

}  // namespace

double Deviation::relative() const {
  if (not_finite_apart > 0) return INFINITY;
  if (absolute == 0) return 0;
  return largest == 0 ? INFINITY : absolute / largest;
}

double epsilon_of(int32_t type) {
  switch (type) {
    case 1:
    case 16:
    case 12:  // compared as float
    case 17: return 0x1p-23;
    case 2:
    case 32: return 0x1p-10;
    case 27: return 0x1p-7;
    case 33:
    case 35: return 0x1p-3;
    case 34: return 0x1p-2;
    default: return 0;
  }
}

Deviation deviation(const Port& mine, const Port& golden) {
  try {
    if (mine.source && golden.source) return of_elements(mine, golden);
    if (mine.statistics && golden.statistics) return of_statistics(mine, golden);
    return {};
  } catch (const Error& reason) {
    Deviation d;
    d.reason = reason.message();
    return d;
  } catch (const std::exception& reason) {
    Deviation d;
    d.reason = reason.what();
    return d;
  }
}

uint64_t count_apart(const Port& mine, const Port& golden, double allowed) {
  uint64_t count = 0;
  each_pair(mine, golden, [&](float a, float b, uint64_t) {
    if (!same_not_finite(a, b) && !(std::fabs(static_cast<double>(a) - b) <= allowed)) ++count;
  });
  return count;
}

void each_pair(const Port& mine, const Port& golden, const Visit& visit) {
  if (!mine.source || !golden.source) return;
  const Pair pair(mine, golden);
  each_element(pair, visit);
}

std::vector<std::pair<std::string, std::string>> metrics_of(const Port& mine, const Port& golden) {
  std::vector<std::pair<std::string, std::string>> found;
  if (!mine.source || !golden.source) return found;
  const Pair pair(mine, golden);
  const Measured measured = measure(pair.mine(), pair.golden(), pair.count(), true);
  const bool boolean = pair.mine().type->number == 11 && pair.golden().type->number == 11;
  const Circumstances about{is_scalar(pair.golden().shape), boolean, mine.source->path, golden.source->path};
  for (const Metric metric : all_metrics()) found.emplace_back(name_of(metric), cell(metric, measured, about).text);
  return found;
}

std::string place_text(uint64_t at, const Shape& shape) {
  Shape index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; at /= std::max<uint64_t>(1, shape[axis]))
    index[axis] = at % std::max<uint64_t>(1, shape[axis]);
  return fmt::format("[{}]", fmt::join(index, ", "));
}

}  // namespace npu::compare
