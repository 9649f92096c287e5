// SPDX-License-Identifier: Apache-2.0
// A row is loaded, summed with its residual, normalised and stored before the next one: whatever is added around a norm
// costs no pass over memory. Rows are shared among threads; sums over rows, which only gradients have, go by fixed
// parts.
#include "ops/norm/norm_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/thread_pool.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

constexpr int64_t kPart = 1 << 15;  // elements worth a parallel part
constexpr int64_t kMaxParts = 64;   // of a gradient: each keeps two rows of doubles
constexpr int64_t kFlush = 64;      // rows added in the compute dtype before they go to double

Rows last_axes(const Tensor& t, int64_t axes, DType slot) {
  std::vector<size_t> which(static_cast<size_t>(axes));
  std::iota(which.begin(), which.end(), t.rank() - which.size());
  return Rows(t, which, slot);
}

void check_axes(const Tensor& self, int64_t axes) {
  require(axes >= 1 && axes <= static_cast<int64_t>(self.rank()),
          "self is {}, {} dimensions are to be normalised: name at least one and no more than it has", self, axes);
}

void check_same(const char* name, const Tensor& t, const Tensor& self) {
  require(!t.defined() || t.shape == self.shape, "{} is {}, self is {}: the shapes must be the same", name, t, self);
}

// A row of offset weights: the kernel multiplies by what it gets.
void offset_row(std::vector<std::byte>& keep, const void** row, int64_t n, DType slot, double offset) {
  if (*row == nullptr || offset == 0) return;
  const auto bytes = static_cast<size_t>(n) * size_of(slot);
  // A row that lies in the client's memory is copied first: its weight stays as it is.
  if (*row != keep.data()) {
    keep.resize(bytes);
    std::memcpy(keep.data(), *row, bytes);
    *row = keep.data();
  }
  for (int64_t i = 0; i < n; ++i) {
    if (slot == DType::kDouble)
      reinterpret_cast<double*>(keep.data())[i] += offset;
    else
      reinterpret_cast<float*>(keep.data())[i] += static_cast<float>(offset);
  }
}

}  // namespace

// Rows a part is working on, where the tensors do not hold them in the compute dtype.
struct RowBuffers {
  explicit RowBuffers(int64_t bytes) : x(bytes), other(bytes), sum(bytes), out(bytes) {}
  const Scratch<std::byte> x, other, sum, out;
};

// --- WholeRow -----------------------------------------------------------------------------------------------------

void WholeRow::plan(const Tensor& t, DType slot) {
  present_ = t.defined();
  if (!present_) return;
  std::vector<size_t> all(t.rank());
  std::iota(all.begin(), all.end(), size_t{0});
  rows_ = Rows(t, all, slot);
}

const void* WholeRow::load(std::vector<std::byte>& keep) const {
  if (!present_) return nullptr;
  keep.resize(static_cast<size_t>(rows_.row_bytes()));
  return rows_.load(0, keep.data());
}

void WholeRow::store(const void* row) const {
  if (!present_) return;
  if (rows_.direct())
    std::memcpy(rows_.target(0, nullptr), row, static_cast<size_t>(rows_.row_bytes()));
  else
    rows_.store(0, row);
}

// --- forward ------------------------------------------------------------------------------------------------------

void RowNorm::plan(const RowNormArguments& arguments) {
  a_ = arguments;
  slot_ = norm_slot(a_.self);
  kernel_ = &row_kernel(slot_);
  check_axes(a_.self, a_.axes);
  check_same("out", a_.out, a_.self);
  check_same("x2", a_.residual, a_.self);
  check_same("the sum", a_.sum, a_.self);
  x_ = last_axes(a_.self, a_.axes, slot_);
  out_ = last_axes(a_.out, a_.axes, slot_);
  if (a_.residual.defined()) residual_ = last_axes(a_.residual, a_.axes, slot_);
  if (a_.sum.defined()) sum_ = last_axes(a_.sum, a_.axes, slot_);
  check_parameter("weight", a_.weight, x_.length());
  check_parameter("bias", a_.bias, x_.length());
  check_parameter("bias of the sum", a_.residual_bias, x_.length());
  check_parameter("mean", a_.mean, x_.count());
  check_parameter("rstd", a_.rstd, x_.count());
  mean_ = RowNumbers(a_.mean);
  rstd_ = RowNumbers(a_.rstd);
  weight_.plan(a_.weight, slot_);
  bias_.plan(a_.bias, slot_);
  residual_bias_.plan(a_.residual_bias, slot_);
}

const void* RowNorm::load(int64_t row, const void* residual_bias, const RowBuffers& buffers) const {
  const int64_t n = x_.length();
  const void* x = x_.load(row, buffers.x);
  if (!a_.residual.defined()) return x;
  std::byte* sum = buffers.sum;
  // In the compute dtype: the sum of two halves is not rounded before it is normalised.
  kernel_->add(x, residual_.load(row, buffers.other), sum, n);
  if (residual_bias != nullptr) kernel_->add(sum, residual_bias, sum, n);
  return sum;
}

void RowNorm::run_rows(int64_t begin, int64_t end, const void* weight, const void* bias,
                       const void* residual_bias) const {
  const int64_t n = x_.length();
  const RowBuffers buffers(x_.row_bytes());
  for (int64_t row = begin; row < end; ++row) {
    const void* x = load(row, residual_bias, buffers);
    const RowMoments m = a_.rms ? kernel_->rms_moments(x, n, a_.eps) : kernel_->layer_moments(x, n, a_.eps);
    if (a_.sum.defined()) {
      // The sum may share memory with an input of this row, which has been read by now.
      if (sum_.direct())
        std::memcpy(sum_.target(row, nullptr), x, static_cast<size_t>(x_.row_bytes()));
      else
        sum_.store(row, x);
    }
    void* out = out_.target(row, buffers.out);
    kernel_->normalise(x, weight, bias, out, n, m);
    out_.store(row, out);
    mean_.set(row, m.mean);
    rstd_.set(row, m.rstd);
  }
}

void RowNorm::run() const {
  if (x_.count() == 0 || x_.length() == 0) return;
  std::vector<std::byte> keep[3];
  const void* weight = weight_.load(keep[0]);
  offset_row(keep[0], &weight, x_.length(), slot_, a_.weight_offset);
  const void* bias = bias_.load(keep[1]);
  const void* residual_bias = residual_bias_.load(keep[2]);
  parallel_for(x_.count(), std::max<int64_t>(1, kPart / x_.length()),
               [&](int64_t begin, int64_t end) { run_rows(begin, end, weight, bias, residual_bias); });
}

// --- gradient -----------------------------------------------------------------------------------------------------

void RowNormGradient::plan(const RowNormGradientArguments& arguments) {
  a_ = arguments;
  slot_ = norm_slot(a_.self);
  kernel_ = &row_kernel(slot_);
  check_axes(a_.self, a_.axes);
  check_same("grad_output", a_.grad_output, a_.self);
  check_same("x2", a_.residual, a_.self);
  check_same("the sum's gradient", a_.extra, a_.self);
  check_same("grad_input", a_.grad_self, a_.self);
  g_ = last_axes(a_.grad_output, a_.axes, slot_);
  x_ = last_axes(a_.self, a_.axes, slot_);
  if (a_.residual.defined()) residual_ = last_axes(a_.residual, a_.axes, slot_);
  if (a_.extra.defined()) extra_ = last_axes(a_.extra, a_.axes, slot_);
  if (a_.grad_self.defined()) out_ = last_axes(a_.grad_self, a_.axes, slot_);
  check_parameter("mean", a_.mean, x_.count());
  check_parameter("rstd", a_.rstd, x_.count());
  mean_ = RowNumbers(a_.mean);
  rstd_ = RowNumbers(a_.rstd);
  for (const auto& [name, t] :
       {std::pair{"weight", &a_.weight}, {"grad_weight", &a_.grad_weight}, {"grad_bias", &a_.grad_bias}}) {
    check_parameter(name, *t, x_.length());
  }
  weight_.plan(a_.weight, slot_);
  // Totals go from double straight into the client's type.
  grad_weight_.plan(a_.grad_weight, DType::kDouble);
  grad_bias_.plan(a_.grad_bias, DType::kDouble);
  const int64_t rows = std::max<int64_t>(1, x_.count());
  // At least 32 rows a part: each part costs two rows of doubles, and their sum at the end.
  const int64_t wanted = std::min(rows * x_.length() / kPart, (rows + 31) / 32);
  rows_per_part_ = (rows + std::clamp<int64_t>(wanted, 1, kMaxParts) - 1) / std::clamp<int64_t>(wanted, 1, kMaxParts);
  parts_ = (rows + rows_per_part_ - 1) / rows_per_part_;
}

RowMoments RowNormGradient::moments(int64_t row, const void* x) const {
  // What forward has saved; an RMS norm has saved no mean, and 0 stands for it.
  if (a_.rstd.defined()) return {mean_.get(row, 0), rstd_.get(row, 1)};
  return a_.rms ? kernel_->rms_moments(x, x_.length(), a_.eps) : kernel_->layer_moments(x, x_.length(), a_.eps);
}

void RowNormGradient::run_part(int64_t part, const void* weight) {
  const int64_t n = x_.length();
  const int64_t begin = part * rows_per_part_;
  const int64_t end = std::min(begin + rows_per_part_, x_.count());
  const RowBuffers buffers(x_.row_bytes());
  Scratch<std::byte> weight_sums, bias_sums;
  std::byte* sums[2] = {};
  double* totals = totals_.data() + part * 2 * n;
  if (grad_weight_.present()) sums[0] = weight_sums.at_least(x_.row_bytes());
  if (grad_bias_.present()) sums[1] = bias_sums.at_least(x_.row_bytes());
  for (std::byte* s : sums) {
    if (s != nullptr) std::memset(s, 0, static_cast<size_t>(x_.row_bytes()));
  }
  for (int64_t row = begin; row < end; ++row) {
    const void* x = x_.load(row, buffers.x);
    if (a_.residual.defined()) {
      kernel_->add(x, residual_.load(row, buffers.other), buffers.sum, n);
      x = buffers.sum;
    }
    const void* g = g_.load(row, buffers.other);
    // Null tells the kernel that only the sums are wanted.
    void* const target = a_.grad_self.defined() ? out_.target(row, buffers.out) : nullptr;
    // What is added may lie where the result goes: it is read before that is written.
    void* const out = target != nullptr && a_.extra.defined() ? static_cast<void*>(buffers.out) : target;
    const RowMoments m = moments(row, x);
    const RowGradient gradient{g, x, weight, out, sums[0], sums[1], n};
    if (a_.rms)
      kernel_->rms_gradient(gradient, m);
    else
      kernel_->layer_gradient(gradient, m);
    if (out != nullptr && a_.extra.defined()) kernel_->add(out, extra_.load(row, buffers.other), target, n);
    if (target != nullptr) out_.store(row, target);
    if ((row - begin) % kFlush != kFlush - 1 && row + 1 < end) continue;
    for (int64_t k = 0; k < 2; ++k) {
      if (sums[k] != nullptr) kernel_->flush(sums[k], n, totals + k * n);
    }
  }
}

void RowNormGradient::join_parts() {
  const int64_t n = 2 * x_.length();
  // Shared out along the row: each element is joined by one thread, part by part.
  parallel_for(n, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t part = 1; part < parts_; ++part) {
      const double* from = totals_.data() + part * n;
      for (int64_t i = begin; i < end; ++i) totals_[static_cast<size_t>(i)] += from[i];
    }
  });
  grad_weight_.store(totals_.data());
  grad_bias_.store(totals_.data() + x_.length());
}

void RowNormGradient::run() {
  const bool sums = grad_weight_.present() || grad_bias_.present();
  totals_.assign(sums ? static_cast<size_t>(2 * x_.length() * parts_) : 0, 0.0);
  std::vector<std::byte> keep;
  const void* weight = weight_.load(keep);
  offset_row(keep, &weight, x_.length(), slot_, a_.weight_offset);
  if (x_.count() > 0 && x_.length() > 0) parallel_parts(parts_, [&](int64_t part) { run_part(part, weight); });
  if (sums) join_parts();
}

}  // namespace npu::ops
