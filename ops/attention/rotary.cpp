// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: out = first(x) * cos + second(x) * sin, where both are permutations of the elements along
// the last dimension and second() changes some signs; and its gradient. cos and sin broadcast to x.
#include <vector>

#include "base/dims.h"
#include "ops/cube/gemm.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

// Which elements turn together: i and i + size / 2 (half), neighbours (interleave), i and i + size / 4 within each half
// (quarter), and neighbours whose results go to both halves (interleave-half).
enum Mode : int64_t { kHalf, kInterleave, kQuarter, kInterleaveHalf };

// Element i of first() is x[first[i]]; element i of second() is sign[i] * x[second[i]].
// The four layouts differ only in which elements make a pair: tables made once spare the loop every case.
struct Rotation {
  std::vector<int64_t> first, second;
  std::vector<float> sign;

  Rotation() = default;
  Rotation(int64_t mode, int64_t size) {
    require(mode >= kHalf && mode <= kInterleaveHalf,
            "mode is {}; it is 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half)", mode);
    const int64_t step = mode == kQuarter ? 4 : 2;
    require(size % step == 0, "the last dimension of x has {} elements; mode {} needs a multiple of {}", size, mode,
            step);
    for (int64_t i = 0; i < size; ++i) add(mode, size, i);
  }

 private:
  void add(int64_t mode, int64_t size, int64_t i) {
    if (mode == kInterleaveHalf) {  // pairs lie side by side in x and half a row apart in the result
      const int64_t half = size / 2, pair = i % half;
      first.push_back(2 * pair + i / half);
      second.push_back(2 * pair + 1 - i / half);
      sign.push_back(i < half ? -1.0f : 1.0f);
      return;
    }
    const int64_t distance = mode == kInterleave ? 1 : mode == kQuarter ? size / 4 : size / 2;
    const bool low = i / distance % 2 == 0;
    first.push_back(i);
    second.push_back(low ? i + distance : i - distance);
    sign.push_back(low ? -1.0f : 1.0f);
  }
};

// `t` with leading axes of size 1 up to `rank`.
Tensor padded(const Tensor& t, size_t rank) {
  Tensor view = t;
  while (view.rank() < rank) {
    view.shape.insert(0, 1);
    view.strides.insert(0, 0);
  }
  return view;
}

// Tensors of x's shape as groups of rows that share one row of cos and sin.
struct Groups {
  Rotation rotation;
  std::vector<size_t> axes;  ///< along which cos and sin repeat, then the last
  Rows cos, sin;
  int64_t size = 0;

  Groups() = default;
  Groups(const Tensor& x, const Tensor& cos_tensor, const Tensor& sin_tensor, int64_t mode) {
    require(x.rank() >= 1 && is_floating(x.dtype), "x is {}; it must be floating point with 1 dimension or more", x);
    size = x.shape.back();
    rotation = Rotation(mode, size);
    require(cos_tensor.shape == sin_tensor.shape && cos_tensor.rank() <= x.rank() && cos_tensor.rank() >= 1 &&
                cos_tensor.shape.back() == size && broadcast(cos_tensor.shape, x.shape) == x.shape,
            "x is {}, cos is {}, sin is {}: cos and sin must broadcast to x and have its last dimension", x, cos_tensor,
            sin_tensor);
    const Tensor c = padded(cos_tensor, x.rank()), s = padded(sin_tensor, x.rank());
    for (size_t axis = 0; axis + 1 < x.rank(); ++axis) {
      // One load of cos and sin serves every row of the group; and a group has the sums of their gradients to itself.
      if (c.shape[axis] == 1) axes.push_back(axis);
    }
    axes.push_back(x.rank() - 1);
    cos = Rows(c, x.rank() - 1, DType::kFloat);
    sin = Rows(s, x.rank() - 1, DType::kFloat);
  }
  Rows of(const Tensor& t) const { return Rows(t, axes, DType::kFloat); }
};

struct Rotary final : Operator {
  Tensor x, cos, sin, rotate, out;
  int64_t mode = kHalf;
  Groups groups;
  Rows from, to;
  std::vector<float> matrix;  ///< of a client that gives second(x) as x times a matrix

  void prepare() override {
    groups = Groups(x, cos, sin, mode);
    matrix.clear();
    if (rotate.defined()) {
      require(is_floating(rotate.dtype) && rotate.shape == Dims({groups.size, groups.size}),
              "rotate is {}; it must be floating point [{}, {}]: what x is multiplied with to turn it", rotate,
              groups.size, groups.size);
      matrix.resize(static_cast<size_t>(rotate.count()));
    }
    check_shape(out, "out", x.shape);
    from = groups.of(x);
    to = groups.of(out);
  }
  void run() override {
    if (!matrix.empty()) OrderedTensor(rotate, DType::kFloat).load(0, rotate.count(), matrix.data());
    for_rows(from, [this](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) run_group(group);
    });
  }
  int64_t cost() const override { return 500 + 2 * x.count(); }

 private:
  void run_group(int64_t group) const {
    const int64_t size = groups.size, length = from.length();
    const Scratch<float> x_buffer(length), c_buffer(size), s_buffer(size), made(length), out_buffer(length);
    const auto* values = static_cast<const float*>(from.load(group, x_buffer));
    const auto* c = static_cast<const float*>(groups.cos.load(group, c_buffer));
    const auto* s = static_cast<const float*>(groups.sin.load(group, s_buffer));
    const Rotation& r = groups.rotation;
    if (!matrix.empty()) turn(values, c, s, length / size, made.data());
    for (int64_t row = 0; matrix.empty() && row < length; row += size) {
      for (int64_t i = 0; i < size; ++i) {
        const auto k = static_cast<size_t>(i);
        made[row + i] = values[row + r.first[k]] * c[i] + r.sign[k] * values[row + r.second[k]] * s[i];
      }
    }
    auto* target = static_cast<float*>(to.target(group, out_buffer));  // may be where x lies
    std::copy_n(made.data(), length, target);
    to.store(group, target);
  }
  void turn(const float* values, const float* c, const float* s, int64_t rows, float* made) const {
    const int64_t size = groups.size;
    cube::GemmArgs<float> product;
    product.m = rows;
    product.n = product.k = size;
    product.a = values;
    product.lda = size;
    product.b = matrix.data();
    product.ldb = size;
    product.c = made;
    product.ldc = size;
    cube::gemm_serial(product);
    for (int64_t row = 0; row < rows * size; row += size) {
      for (int64_t i = 0; i < size; ++i) made[row + i] = values[row + i] * c[i] + made[row + i] * s[i];
    }
  }
};

// Query and key rotated in place by the same angles.
struct RotaryPair final : Operator {
  Tensor query, key, cos, sin;
  std::string rotary_mode = "half";
  Rotary parts[2];

  void prepare() override {
    const std::string_view names[] = {"half", "interleave", "quarter"};
    const auto* found = std::find(std::begin(names), std::end(names), rotary_mode);
    require(found != std::end(names), "rotary_mode is '{}'; it is half, interleave or quarter", rotary_mode);
    for (Rotary& part : parts) {
      part.x = part.out = &part == parts ? query : key;
      part.cos = cos;
      part.sin = sin;
      part.mode = found - std::begin(names);
      part.prepare();
    }
  }
  void run() override {
    for (Rotary& part : parts) part.run();
  }
  int64_t cost() const override { return parts[0].cost() + parts[1].cost(); }
};

struct RotaryGrad final : Operator {
  Tensor grad, cos, sin, x, grad_x, grad_cos, grad_sin;
  int64_t mode = kHalf;
  Groups groups;
  Rows upper, from, lower, lower_cos, lower_sin;

  void prepare() override {
    groups = Groups(grad, cos, sin, mode);
    check_shape(grad_x, "grad_x", grad.shape);
    upper = groups.of(grad);
    lower = groups.of(grad_x);
    if (!angles()) return;
    require(grad_cos.defined() && grad_sin.defined(), "x is given; grad_cos and grad_sin must be given, too");
    check_shape(x, "x", grad.shape);
    check_shape(grad_cos, "grad_cos", cos.shape);
    check_shape(grad_sin, "grad_sin", sin.shape);
    from = groups.of(x);
    lower_cos = Rows(padded(grad_cos, grad.rank()), grad.rank() - 1, DType::kFloat);
    lower_sin = Rows(padded(grad_sin, grad.rank()), grad.rank() - 1, DType::kFloat);
  }
  void run() override {
    for_rows(upper, [this](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) {
        if (angles())
          run_with_angles(group);
        else
          run_values(group);
      }
    });
  }
  int64_t cost() const override { return 500 + 4 * grad.count(); }

 private:
  bool angles() const { return x.defined(); }
  void run_values(int64_t group) const {
    const int64_t size = groups.size, length = upper.length();
    const Scratch<float> g_buffer(length), c_buffer(size), s_buffer(size), made(length), out_buffer(length);
    const auto* g = static_cast<const float*>(upper.load(group, g_buffer));
    const auto* c = static_cast<const float*>(groups.cos.load(group, c_buffer));
    const auto* s = static_cast<const float*>(groups.sin.load(group, s_buffer));
    const Rotation& r = groups.rotation;
    std::fill(made.data(), made.data() + length, 0.0f);
    for (int64_t row = 0; row < length; row += size) {
      for (int64_t i = 0; i < size; ++i) {
        const auto k = static_cast<size_t>(i);
        // The transposed permutations: what an element gave to the result comes back to it from there.
        made[row + r.first[k]] += g[row + i] * c[i];
        made[row + r.second[k]] += r.sign[k] * g[row + i] * s[i];
      }
    }
    auto* target = static_cast<float*>(lower.target(group, out_buffer));
    std::copy_n(made.data(), length, target);
    lower.store(group, target);
  }
  /// grad_x may lie where grad does, and grad_cos and grad_sin where cos and sin do: all is read before it is written.
  void run_with_angles(int64_t group) const {
    const Scratch<double> dc(groups.size), ds(groups.size);
    sum_angles(group, dc, ds);
    run_values(group);
    const Scratch<float> buffer(groups.size);
    write(lower_cos, group, dc, buffer);
    write(lower_sin, group, ds, buffer);
  }
  void sum_angles(int64_t group, double* dc, double* ds) const {
    const int64_t size = groups.size, length = upper.length();
    const Scratch<float> g_buffer(length), x_buffer(length);
    const auto* g = static_cast<const float*>(upper.load(group, g_buffer));
    const auto* values = static_cast<const float*>(from.load(group, x_buffer));
    // Summed over all rows of the group by one thread, in order: in double, as they may be thousands.
    std::fill_n(dc, size, 0.0);
    std::fill_n(ds, size, 0.0);
    const Rotation& r = groups.rotation;
    for (int64_t row = 0; row < length; row += size) {
      for (int64_t i = 0; i < size; ++i) {
        const auto k = static_cast<size_t>(i);
        dc[i] += static_cast<double>(g[row + i]) * values[row + r.first[k]];
        ds[i] += static_cast<double>(g[row + i]) * values[row + r.second[k]] * r.sign[k];
      }
    }
  }
  void write(const Rows& rows, int64_t group, const double* sums, float* buffer) const {
    auto* target = static_cast<float*>(rows.target(group, buffer));
    for (int64_t i = 0; i < groups.size; ++i) target[i] = static_cast<float>(sums[i]);
    rows.store(group, target);
  }
};

NPU_OPERATOR(Rotary, "rotary", "attention", in<&Rotary::x>("x"), in<&Rotary::cos>("cos"), in<&Rotary::sin>("sin"),
             optional<&Rotary::rotate>("rotate"), attr<&Rotary::mode>("mode"), out<&Rotary::out>("out"));
NPU_OPERATOR(RotaryPair, "rotary_pair", "attention", inout<&RotaryPair::query>("query"), inout<&RotaryPair::key>("key"),
             in<&RotaryPair::cos>("cos"), in<&RotaryPair::sin>("sin"), attr<&RotaryPair::rotary_mode>("rotary_mode"));
NPU_OPERATOR(RotaryGrad, "rotary_grad", "attention", in<&RotaryGrad::grad>("grad"), in<&RotaryGrad::cos>("cos"),
             in<&RotaryGrad::sin>("sin"), optional<&RotaryGrad::x>("x"), attr<&RotaryGrad::mode>("mode"),
             out<&RotaryGrad::grad_x>("grad_x"), optional_out<&RotaryGrad::grad_cos>("grad_cos"),
             optional_out<&RotaryGrad::grad_sin>("grad_sin"));

}  // namespace
}  // namespace npu::ops
