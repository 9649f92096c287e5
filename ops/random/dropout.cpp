// SPDX-License-Identifier: Apache-2.0
// Dropout with a bit mask: bit i % 8 (least significant first) of byte i / 8 is 1 where element i, in row-major order,
// is kept. p is the probability to drop. dropout_mask makes a mask, dropout_apply uses one, dropout does both.
#include <cmath>

#include "ops/random/distribution.h"
#include "ops/random/random_fill.h"
#include "ops/vector/elementwise/move.h"

namespace npu::ops {
namespace {

void check_probability(double p) {
  require(p >= 0 && p <= 1, "p is {}; a dropout probability lies between 0 and 1", p);
}

void check_mask(const Tensor& mask, int64_t elements) {
  require(size_of(mask.dtype) == 1 && mask.contiguous(), "mask is {}; a bit mask is a contiguous uint8 tensor", mask);
  // The text names the size that torch-npu's own masks have: a multiple of 16 bytes.
  require(mask.count() * 8 >= elements, "mask holds {} bits, {} elements need as many; make it {} bytes long",
          mask.count() * 8, elements, elements / 128 * 16 + (elements % 128 == 0 ? 0 : 16));
}

// Of the last 24 bits of a word: what is kept is what bernoulli(1 - p) draws from the same words. A client's dropout in
// place draws that, and has the mask of its dropout elsewhere.
uint32_t limit_of(double p) { return static_cast<uint32_t>(std::ceil(std::ldexp(static_cast<float>(1 - p), 24))); }

void make_mask(RandomState state, int64_t elements, double p, const Tensor& mask) {
  auto* bytes = mask.as<uint8_t>();
  // Eight elements a byte, so the last one may be made for elements that are not there: they get words all the same.
  const int64_t whole = (elements + 7) / 8 * 8;
  random_blocks(state, whole, 1, [&](int64_t first, int64_t n, const uint32_t* words) {
    keep_bits(words, n, limit_of(p), bytes + first / 8);
  });
  // What follows the last element is 0, whatever stood there.
  std::memset(bytes + whole / 8, 0, static_cast<size_t>(mask.count() - whole / 8));
}

struct MaskOfShape : RandomOperator {
  std::vector<int64_t> shape;
  double p = 0.5;
  Tensor mask;
  int64_t elements = 1;

  void prepare() override {
    prepare_state();
    check_probability(p);
    for (const int64_t size : shape) require(size >= 0, "shape has the size {}; it must not be negative", size);
    elements = count_of(Dims(shape));
    check();
  }
  int64_t cost() const override { return 200 + elements; }

 protected:
  virtual void check() const = 0;
};

struct DropoutMask final : MaskOfShape {
  void check() const override { check_mask(mask, elements); }
  void run() override { make_mask(state(), elements, p, mask); }
};

// One byte for each element, 1 where it is kept.
struct DropoutByteMask final : MaskOfShape {
  void check() const override {
    require(mask.dtype == DType::kUInt8 && mask.contiguous() && mask.count() >= elements,
            "mask is {}; a mask of {} elements is a contiguous uint8 tensor of as many", mask, elements);
  }
  void run() override {
    // The same words as the bit mask's: both forms keep the same elements.
    const uint32_t limit = limit_of(p);
    random_blocks(state(), elements, 1, [&](int64_t first, int64_t n, const uint32_t* words) {
      for (int64_t i = 0; i < n; ++i) mask.as<uint8_t>()[first + i] = (words[i] & 0xFFFFFFU) < limit ? 1 : 0;
    });
  }
};

// Multiplies what is kept by 1 / (1 - p).
class MaskedScale {
 public:
  // With p = 1 nothing is kept, and no infinite factor meets a 0.
  void plan(const Tensor& self, const Tensor& out, double p) { plan_factor(self, out, p < 1 ? 1.0 / (1.0 - p) : 0.0); }
  void plan_factor(const Tensor& self, const Tensor& out, double factor) {
    require(out.shape == self.shape, "self is {}, out is {}; both have the same shape", self, out);
    const DType slot = random_slot(self.dtype);
    in_ = OrderedTensor(self, slot);
    out_ = OrderedTensor(out, slot);
    wide_ = slot == DType::kDouble;
    scale_ = factor;
  }
  void run(const uint8_t* mask) const {
    if (wide_)
      apply<double>(mask);
    else
      apply<float>(mask);
  }
  int64_t cost() const { return 200 + 2 * in_.count(); }

 private:
  template <class T>
  void apply(const uint8_t* mask) const {
    const auto scale = static_cast<T>(scale_);
    parallel_for(in_.count(), kRandomGrain, [&](int64_t begin, int64_t end) {
      T values[kRandomBlock], factors[kRandomBlock];  // NOLINT: filled below
      for (int64_t at = begin; at < end; at += kRandomBlock) {
        const int64_t n = std::min(kRandomBlock, end - at);
        in_.load(at, n, values);
        for (int64_t i = 0; i < n; ++i) factors[i] = (mask[(at + i) >> 3] >> (i & 7) & 1) != 0 ? scale : T(0);
        // A product and not a choice, as in torch: a NaN or an infinity that is dropped leaves NaN.
        for (int64_t i = 0; i < n; ++i) values[i] *= factors[i];
        out_.store(at, n, values);
      }
    });
  }
  OrderedTensor in_, out_;
  double scale_ = 1;
  bool wide_ = false;
};

struct DropoutApply final : Operator {
  Tensor self, mask, out;
  double p = 0.5;
  MaskedScale scale;

  void prepare() override {
    check_probability(p);
    check_mask(mask, self.count());
    scale.plan(self, out, p);
  }
  void run() override { scale.run(mask.as<uint8_t>()); }
  int64_t cost() const override { return scale.cost(); }
};

/// The gradient: what was kept, times the factor that the forward pass applied. A factor of 0 gives zeros; of 1,
/// nothing was dropped and the mask is not read.
struct DropoutScale final : Operator {
  Tensor self, mask, out;
  double factor = 1;
  MaskedScale scale;
  Move whole;

  void prepare() override {
    require(factor == 0 || factor >= 1, "scale is {}; it is 1 / (1 - p), or 0 where p is 1", factor);
    check_mask(mask, self.count());
    scale.plan_factor(self, out, factor);
    if (factor == 1) whole.plan(self, out);
    if (factor == 0) whole.plan(Operand{.tensor = {}, .scalar = Scalar(0.0)}, out);
  }
  void run() override { factor <= 1 ? whole.run() : scale.run(mask.as<uint8_t>()); }
  int64_t cost() const override { return scale.cost(); }
};

struct Dropout final : RandomOperator {
  Tensor self, noise_shape, out, mask;
  double p = 0.5;
  bool train = true;
  MaskedScale scale;

  void prepare() override {
    prepare_state();
    check_probability(p);
    require(!noise_shape.defined() || noise_shape.count() == 0,
            "optionalNoiseShape is {}; only dropout of single elements is built, pass null", noise_shape);
    check_mask(mask, self.count());
    scale.plan(self, out, train ? p : 0.0);
  }
  void run() override {
    // Without training everything is kept: a probability of 0 to drop.
    // The mask first, then what is applied is the mask: the backward pass does the same with the same bits.
    make_mask(state(), self.count(), train ? p : 0.0, mask);
    scale.run(mask.as<uint8_t>());
  }
  int64_t cost() const override { return 2 * scale.cost(); }
};

NPU_OPERATOR(DropoutMask, "dropout_mask", "random", attr<&DropoutMask::shape>("shape"), attr<&DropoutMask::p>("p"),
             out<&DropoutMask::mask>("mask"), NPU_RANDOM_FIELDS(DropoutMask));
NPU_OPERATOR(DropoutByteMask, "dropout_byte_mask", "random", attr<&DropoutByteMask::shape>("shape"),
             attr<&DropoutByteMask::p>("p"), out<&DropoutByteMask::mask>("mask"), NPU_RANDOM_FIELDS(DropoutByteMask));
NPU_OPERATOR(DropoutApply, "dropout_apply", "random", in<&DropoutApply::self>("self"), in<&DropoutApply::mask>("mask"),
             attr<&DropoutApply::p>("p"), out<&DropoutApply::out>("out"));
NPU_OPERATOR(DropoutScale, "dropout_scale", "random", in<&DropoutScale::self>("self"), in<&DropoutScale::mask>("mask"),
             attr<&DropoutScale::factor>("factor"), out<&DropoutScale::out>("out"));
NPU_OPERATOR(Dropout, "dropout", "random", in<&Dropout::self>("self"), optional<&Dropout::noise_shape>("noise_shape"),
             attr<&Dropout::p>("p"), attr<&Dropout::train>("train"), out<&Dropout::out>("out"),
             out<&Dropout::mask>("mask"), NPU_RANDOM_FIELDS(Dropout));

}  // namespace
}  // namespace npu::ops
