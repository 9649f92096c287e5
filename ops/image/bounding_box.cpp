// SPDX-License-Identifier: Apache-2.0
// Boxes [x1, y1, x2, y2] as distances from anchors, and back: the centres' distance in anchor sizes and the logarithm
// of the ratio of sizes, normalised by means and standard deviations. Sizes count both end pixels, as in the first
// versions of the published detectors. The device encodes in float16, also boxes of float32: the results of the
// vendor's page and test (13.3281 for 13.3333) come from rounding each step.
#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "ops/exact.h"
#include "ops/operator.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

constexpr size_t kNumbers = 4;

/// Centre and size.
struct Box {
  float x, y, width, height;
};

Box box_of(const float* edges) {
  return {(edges[0] + edges[2]) * 0.5f, (edges[1] + edges[3]) * 0.5f, edges[2] - edges[0] + 1, edges[3] - edges[1] + 1};
}

/// Two tensors [n, 4] and a result of the same shape, row by row in float32.
struct BoxOperator : Operator {
  std::vector<float> means{0, 0, 0, 0}, stds{1, 1, 1, 1};

  int64_t cost() const override { return 200 + 20 * rows_; }

 protected:
  void plan(std::string_view first_name, const Tensor& first, std::string_view second_name, const Tensor& second,
            const Tensor& out) {
    require(first.rank() == 2 && first.shape[1] == 4 && second.shape == first.shape && out.shape == first.shape,
            "{} is {}, {} is {}, out is {}; all must be [boxes, 4]", first_name, first, second_name, second, out);
    for (const Tensor* t : {&first, &second, &out})
      require(t->dtype == DType::kFloat || t->dtype == DType::kHalf, "a tensor is {}; boxes are float32 or float16",
              *t);
    require(means.size() == kNumbers && stds.size() == kNumbers, "there are {} means and {} stds; give four of each",
            means.size(), stds.size());
    first_ = OrderedTensor(first, DType::kFloat), second_ = OrderedTensor(second, DType::kFloat);
    out_ = OrderedTensor(out, DType::kFloat);
    rows_ = first.shape[0];
  }
  template <class F>
  void each(F&& body) const {
    // In order and in one thread: boxes are few, and a row is eight numbers.
    float a[kNumbers], b[kNumbers], made[kNumbers];  // NOLINT: filled below
    for (int64_t row = 0; row < rows_; ++row) {
      first_.load(row * 4, 4, a), second_.load(row * 4, 4, b);
      body(a, b, made);
      out_.store(row * 4, 4, made);
    }
  }

 private:
  OrderedTensor first_, second_, out_;
  int64_t rows_ = 0;
};

/// A float32 whose operations round to float16.
struct InHalf {
  float value = 0;
  InHalf() = default;
  InHalf(float x) : value(Half(x)) {}  // NOLINT: numbers take part as they are
};
InHalf operator+(InHalf a, InHalf b) { return a.value + b.value; }
InHalf operator-(InHalf a, InHalf b) { return a.value - b.value; }
InHalf operator*(InHalf a, InHalf b) { return a.value * b.value; }
InHalf operator/(InHalf a, InHalf b) { return a.value / b.value; }
float float_of(float x) { return x; }
float float_of(InHalf x) { return x.value; }

/// What makes `to` of `from` along one axis, where each step rounds to T: distance of centres, logarithm of sizes.
template <class T>
void encode(const float* from, const float* to, float* distance, float* log_ratio) {
  const T from_low = from[0], from_high = from[2], to_low = to[0], to_high = to[2];
  const T from_size = from_high - from_low + T(1), to_size = to_high - to_low + T(1);
  *distance = float_of(((to_low + to_high) * T(0.5f) - (from_low + from_high) * T(0.5f)) / from_size);
  *log_ratio = float_of(T(std::log(float_of(to_size / from_size))));
}

struct BoundingBoxEncode final : BoxOperator {
  Tensor anchor_box, ground_truth_box, out;

  void prepare() override { plan("anchor_box", anchor_box, "ground_truth_box", ground_truth_box, out); }
  void run() override { is_exact() ? run_in<float>() : run_in<InHalf>(); }

 private:
  template <class T>
  void run_in() const {
    each([&](const float* anchor, const float* truth, float* delta) {
      for (size_t axis = 0; axis < 2; ++axis) encode<T>(anchor + axis, truth + axis, delta + axis, delta + axis + 2);
      // The standard deviation stays float32: the documented results come out so.
      for (size_t i = 0; i < kNumbers; ++i) delta[i] = float_of(T(float_of(T(delta[i]) - T(means[i])) / stds[i]));
    });
  }
};

struct BoundingBoxDecode final : BoxOperator {
  Tensor rois, deltas, out;
  std::vector<int64_t> max_shape;
  double wh_ratio_clip = 0.016;

  void prepare() override {
    plan("rois", rois, "deltas", deltas, out);
    require(max_shape.size() == 2, "max_shape has {} numbers; give the image's height and width", max_shape.size());
    require(wh_ratio_clip > 0, "wh_ratio_clip is {}; it must be positive", wh_ratio_clip);
  }
  void run() override {
    // The ratio is clipped by its logarithm, on both sides, so that the exponential below cannot overflow.
    const auto most = static_cast<float>(std::abs(std::log(wh_ratio_clip)));
    const float right = static_cast<float>(max_shape[1]) - 1, bottom = static_cast<float>(max_shape[0]) - 1;
    each([&](const float* roi, const float* delta, float* box) {
      float d[kNumbers];  // NOLINT: filled below
      for (size_t i = 0; i < kNumbers; ++i) d[i] = delta[i] * stds[i] + means[i];
      const Box r = box_of(roi);
      const float width = r.width * std::exp(std::clamp(d[2], -most, most));
      const float height = r.height * std::exp(std::clamp(d[3], -most, most));
      const float x = r.x + r.width * d[0], y = r.y + r.height * d[1];
      // Half a pixel in at either end: sizes count both end pixels. Boxes end at the image's last pixels.
      box[0] = std::clamp(x - width * 0.5f + 0.5f, 0.0f, right);
      box[1] = std::clamp(y - height * 0.5f + 0.5f, 0.0f, bottom);
      box[2] = std::clamp(x + width * 0.5f - 0.5f, 0.0f, right);
      box[3] = std::clamp(y + height * 0.5f - 0.5f, 0.0f, bottom);
    });
  }
};

NPU_OPERATOR(BoundingBoxEncode, "bounding_box_encode", "image", in<&BoundingBoxEncode::anchor_box>("anchor_box"),
             in<&BoundingBoxEncode::ground_truth_box>("ground_truth_box"), attr<&BoundingBoxEncode::means>("means"),
             attr<&BoundingBoxEncode::stds>("stds"), out<&BoundingBoxEncode::out>("out"));
NPU_OPERATOR(BoundingBoxDecode, "bounding_box_decode", "image", in<&BoundingBoxDecode::rois>("rois"),
             in<&BoundingBoxDecode::deltas>("deltas"), attr<&BoundingBoxDecode::means>("means"),
             attr<&BoundingBoxDecode::stds>("stds"), attr<&BoundingBoxDecode::max_shape>("max_shape"),
             attr<&BoundingBoxDecode::wh_ratio_clip>("wh_ratio_clip"), out<&BoundingBoxDecode::out>("out"));

}  // namespace
}  // namespace npu::ops
