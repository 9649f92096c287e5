// SPDX-License-Identifier: Apache-2.0
// Resizing of [N, C, …] images with one to three image axes, and its gradient.
#include "ops/image/resample_bytes.h"
#include "ops/image/resample_kernel.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

struct Resample : Operator {
  std::vector<int64_t> output_size;
  bool align_corners = false;
  double scales_d = 0, scales_h = 0, scales_w = 0;
  std::string mode = "linear";
  int64_t spatial = 2;

  int64_t cost() const override { return 500 + 3 * large.parts() * (large.plane() + small.plane()); }

 protected:
  // What an image is computed in. Bytes are, in the modes that torch's CPU has for them: elements that are moved may be
  // float32, and weighted ones are what resample_bytes.h says.
  virtual DType slot_of(const Tensor& image) const { return pool_slot("the image", image); }
  // `input` and `output` have the sizes of an image before and after the resizing.
  // The gradient passes the same pair in the same roles: its output is `input`.
  void plan(const Tensor& input, const Tensor& output) {
    const auto count = static_cast<size_t>(spatial);
    require(output_size.size() == count, "output_size has {} numbers; give {}", output_size.size(), count);
    require(input.rank() == count + 2 && output.rank() == input.rank(), "{} and {}: resizing takes {} dimensions",
            input, output, count + 2);
    slot = slot_of(output);
    Dims expected = input.shape;
    for (size_t i = 0; i < count; ++i) {
      expected[2 + i] = output_size[i];
      require(output_size[i] > 0 && input.shape[2 + i] > 0, "the image is {}, output_size {}: sizes must be above 0",
              input, fmt::join(output_size, "x"));
    }
    require(output.shape == expected, "the resized image is {}, expected shape {}", output, expected);
    const double scales[3] = {scales_d, scales_h, scales_w};
    for (size_t i = 0; i < count; ++i) {
      const size_t axis = 3 - count + i;
      axes[axis] = resample_axis(input.shape[2 + i], expected[2 + i], scales[axis],
                                 {mode, align_corners, slot != DType::kDouble});
    }
    const int64_t lanes = plane_lanes(input, count);
    small = Planes(input, count, slot, lanes, false);
    large = Planes(output, count, slot, lanes, false);
  }
  template <class F>
  void each_part(F&& body) const {
    if (large.parts() == 0) return;  // no channel, no lane
    const int64_t large_at = small.buffer_bytes(), line_at = large_at + large.buffer_bytes();
    const int64_t line = axes[2].in * large.lanes(0) * static_cast<int64_t>(size_of(slot));
    // One part is some planes: no two parts write one element, forwards or backwards.
    for_planes(large, line_at + line, [&](int64_t part, std::byte* buffer) {
      body(part, ResamplePart{&axes, {}, {}, buffer + line_at, large.lanes(part)}, buffer, buffer + large_at);
    });
  }

  ResampleAxes axes;
  Planes small, large;
  DType slot = DType::kFloat;
};

struct Upsample final : Resample {
  Tensor self, out;

  void prepare() override {
    plan(self, out);
    require((self.dtype == DType::kUInt8) == (out.dtype == DType::kUInt8),
            "self is {}, out is {}: an image of uint8 stays one", self, out);
    if (slot == DType::kUInt8) height = byte_axis(axes[1]), width = byte_axis(axes[2]);
  }
  void run() override {
    if (slot == DType::kUInt8) return resize_in_bytes();
    each_part([this](int64_t part, ResamplePart p, std::byte* small_buffer, std::byte* large_buffer) {
      p.small = small.load(part, small_buffer);
      p.large = large.target(part, large_buffer);
      resample_kernel(slot).resize(p);
      large.store(part, large_buffer);
    });
  }

 private:
  bool moves() const { return mode.starts_with("nearest"); }
  DType slot_of(const Tensor& image) const override {
    if (image.dtype != DType::kUInt8) return Resample::slot_of(image);
    require(moves() || spatial == 2, "the image is {}: uint8 is resized by nearest, or along two axes", image);
    return moves() ? DType::kFloat : DType::kUInt8;
  }
  void resize_in_bytes() const {
    if (large.parts() == 0) return;
    const int64_t large_at = small.buffer_bytes(), room_at = large_at + large.buffer_bytes();
    const int64_t room = byte_room(height, width, large.lanes(0));
    for_planes(large, room_at + room, [&](int64_t part, std::byte* buffer) {
      resize_bytes({&height, &width, small.load(part, buffer), large.target(part, buffer + large_at), buffer + room_at,
                    large.lanes(part)});
      large.store(part, buffer + large_at);
    });
  }

  ByteAxis height, width;
};

struct UpsampleBackward final : Resample {
  Tensor grad_output, grad_input;
  std::vector<int64_t> input_size;

  void prepare() override {
    require(grad_input.shape == Dims(std::span<const int64_t>(input_size)),
            "grad_input is {}, input_size {}: they must agree", grad_input, fmt::join(input_size, "x"));
    plan(grad_input, grad_output);
  }
  void run() override {
    each_part([this](int64_t part, ResamplePart p, std::byte* small_buffer, std::byte* large_buffer) {
      p.small = small.target(part, small_buffer);
      p.large = large.load(part, large_buffer);
      resample_kernel(slot).spread(p);
      small.store(part, small_buffer);
    });
  }
};

NPU_OPERATOR(Upsample, "upsample", "image", in<&Upsample::self>("self"), attr<&Upsample::output_size>("output_size"),
             attr<&Upsample::align_corners>("align_corners"), attr<&Upsample::scales_d>("scales_d"),
             attr<&Upsample::scales_h>("scales_h"), attr<&Upsample::scales_w>("scales_w"),
             attr<&Upsample::mode>("mode"), attr<&Upsample::spatial>("spatial"), out<&Upsample::out>("out"));
NPU_OPERATOR(UpsampleBackward, "upsample_backward", "image", in<&UpsampleBackward::grad_output>("grad_output"),
             attr<&UpsampleBackward::output_size>("output_size"), attr<&UpsampleBackward::input_size>("input_size"),
             attr<&UpsampleBackward::align_corners>("align_corners"), attr<&UpsampleBackward::scales_d>("scales_d"),
             attr<&UpsampleBackward::scales_h>("scales_h"), attr<&UpsampleBackward::scales_w>("scales_w"),
             attr<&UpsampleBackward::mode>("mode"), attr<&UpsampleBackward::spatial>("spatial"),
             out<&UpsampleBackward::grad_input>("grad_input"));

}  // namespace
}  // namespace npu::ops
