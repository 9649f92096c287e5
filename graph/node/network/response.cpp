// SPDX-License-Identifier: Apache-2.0
// Local response normalisation: each element is divided by a power of the sum of squares of its neighbours among the
// channels, which stand last.
#include "graph/node/layout.h"

namespace npu::graph {
namespace {

struct Response {
  int64_t radius;
  double bias, alpha, beta;

  explicit Response(const Attributes& a)
      : radius(a.get_or<int64_t>("depth_radius", 5)),
        bias(a.get_or<double>("bias", 1)),
        alpha(a.get_or<double>("alpha", 1)),
        beta(a.get_or<double>("beta", 0.5)) {}
};

void check(const Lowering& l) {
  if (!is_floating(l.dtype(0))) l.decline(fmt::format("it normalises {}", l.dtype(0)));
  require(l.shape(0).size() == 4, "the input is {}; it must have 4 dimensions", l.shape(0));
}

/// The sum over the window around each channel: an average pooling that divides by 1.
Planned window_sum(Lowering& l, const Planned& x, int64_t radius) {
  const int64_t channels = x.shape().back();
  const Dims rows{x.view.count() / channels, 1, 1, channels};
  const Planned sum = l.scratch(x.dtype(), x.shape());
  l.call("avg_pool")
      .set("self", reshaped(x, rows))
      .set("kernel_size", std::vector<int64_t>{1, 2 * radius + 1})
      .set("stride", std::vector<int64_t>{1, 1})
      .set("padding", std::vector<int64_t>{0, radius})
      .set("divisor_override", int64_t{1})
      .set("out", reshaped(sum, rows));
  return sum;
}

Planned product(Lowering& l, const Planned& a, const Planned& b) {
  const Planned out = l.scratch(DType::kFloat, a.shape());
  l.call("mul").set("self", a).set("other", b).set("out", out);
  return out;
}

/// bias + alpha · sum of squares.
Planned norm_of(Lowering& l, const Planned& image, const Response& r) {
  const Planned norm = window_sum(l, product(l, image, image), r.radius);
  l.call("mul").set("self", norm).set("other", number(Scalar(r.alpha))).set("out", norm);
  l.call("add").set("self", norm).set("other", number(Scalar(r.bias))).set("out", norm);
  return norm;
}

Planned power(Lowering& l, const Planned& x, double exponent) {
  const Planned out = l.scratch(DType::kFloat, x.shape());
  l.call("pow").set("self", x).set("exponent", number(Scalar(exponent))).set("out", out);
  return out;
}

void forward(Lowering& l) {
  check(l);
  const Response r(l.attributes());
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  if (out.view.count() == 0) return;
  const Planned scale = power(l, norm_of(l, l.input(0), r), -r.beta);
  l.call("mul").set("self", l.input(0)).set("other", scale).set("out", out);
}

/// Inputs: the gradient of the result, the image, the result.
void gradient(Lowering& l) {
  check(l);
  const Response r(l.attributes());
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  if (out.view.count() == 0) return;
  const Planned norm = norm_of(l, l.input(1), r);
  const Planned direct = product(l, l.input(0), power(l, norm, -r.beta));
  const Planned share = product(l, l.input(0), l.input(2));
  l.call("div").set("self", share).set("other", norm).set("out", share);
  const Planned through = product(l, l.input(1), window_sum(l, share, r.radius));
  l.call("sub")
      .set("self", direct)
      .set("other", through)
      .set("alpha", number(Scalar(2 * r.alpha * r.beta)))
      .set("out", out);
}

NPU_NODE("LRN", forward);
NPU_NODE("LRNGrad", gradient);

}  // namespace
}  // namespace npu::graph
