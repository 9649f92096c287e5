// SPDX-License-Identifier: Apache-2.0
// Native sparse attention's compressed keys: out of each `block` tokens of a sequence, every `stride` tokens, comes
// one,
//   out[j] = sum over i of weight[i] * input[j * stride + i],   head by head
// and the gradients. Blocks do not reach from one sequence into the next; a tail too short for one gives nothing.
#include <vector>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

struct Compress : Operator {
  Tensor input, weight;
  std::vector<int64_t> actual_seq_len;
  std::string layout = "TND";
  int64_t block = 1, stride = 1, actual_seq_len_type = 0;

  int64_t cost() const override { return 1000 + static_cast<int64_t>(begins_.size()) * block * heads_ * size_ / 8; }

 protected:
  void plan(const char* name, const Tensor& compressed) {
    require(input.rank() == 3 && weight.rank() == 2 && weight.shape[0] == block && weight.shape[1] == input.shape[1],
            "input is {}, weight is {}; they must be [tokens, heads, size] and [{}, heads]", input, weight, block);
    require(layout == "TND", "layout is '{}'; it must be 'TND'", layout);
    require(actual_seq_len_type == 0, "actual_seq_len_type is {}; it must be 0: the ends of the sequences",
            actual_seq_len_type);
    require(block > 0 && stride > 0 && stride <= block,
            "compress_block_size is {}, compress_stride {}; use 0 < stride <= block size", block, stride);
    heads_ = input.shape[1], size_ = input.shape[2];
    find_begins();
    require(compressed.shape == Dims({static_cast<int64_t>(begins_.size()), heads_, size_}),
            "{} is {}; the sequences give [{}, {}, {}]", name, compressed, begins_.size(), heads_, size_);
    input_ = Rows(input, 2, DType::kFloat);
    weights_ = OrderedTensor(weight, DType::kFloat);
  }
  std::vector<float> weights() const {
    std::vector<float> values(static_cast<size_t>(weights_.count()));
    weights_.load(0, weights_.count(), values.data());
    return values;
  }

  std::vector<int64_t> begins_;  ///< of each block, in tokens
  int64_t heads_ = 1, size_ = 0;
  Rows input_;
  OrderedTensor weights_;

 private:
  void find_begins() {
    begins_.clear();
    int64_t begin = 0;
    for (const int64_t end : actual_seq_len) {
      require(end >= begin && end <= input.shape[0],
              "actual_seq_len names {} behind {}; it has the ends of the sequences in {} tokens", end, begin,
              input.shape[0]);
      for (int64_t at = begin; at + block <= end; at += stride) begins_.push_back(at);
      begin = end;
    }
  }
};

struct CompressBlocks final : Compress {
  Tensor out;

  void prepare() override {
    plan("out", out);
    out_ = Rows(out, 2, DType::kFloat);
  }
  void run() override {
    const std::vector<float> w = weights();
    parallel_for(out_.count(), std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, block * size_)),
                 [&](int64_t begin, int64_t end) {
                   const Scratch<float> given(size_), made(size_);
                   for (int64_t row = begin; row < end; ++row) {
                     auto* y = static_cast<float*>(out_.target(row, made));
                     const int64_t head = row % heads_, first = begins_[static_cast<size_t>(row / heads_)];
                     std::fill_n(y, size_, 0.0f);
                     for (int64_t i = 0; i < block; ++i) {
                       const auto* x = static_cast<const float*>(input_.load((first + i) * heads_ + head, given));
                       const float factor = w[static_cast<size_t>(i * heads_ + head)];
                       for (int64_t d = 0; d < size_; ++d) y[d] += factor * x[d];
                     }
                     out_.store(row, y);
                   }
                 });
  }

 private:
  Rows out_;
};

struct CompressBlocksGrad final : Compress {
  Tensor grad, input_grad, weight_grad;

  void prepare() override {
    plan("grad", grad);
    check_shape(input_grad, "input_grad", input.shape), check_shape(weight_grad, "weight_grad", weight.shape);
    grad_ = Rows(grad, 2, DType::kFloat), input_grad_ = Rows(input_grad, 2, DType::kFloat);
    weight_grad_ = OrderedTensor(weight_grad, DType::kFloat);
  }
  // A head is one part: what blocks share adds up in the blocks' order.
  void run() override {
    const std::vector<float> w = weights();
    std::vector<float> sums(w.size());
    parallel_parts(heads_, [&](int64_t head) { run_head(head, w, sums); });
    weight_grad_.store(0, weight_grad_.count(), sums.data());
  }

 private:
  void run_head(int64_t head, const std::vector<float>& w, std::vector<float>& sums) const {
    const Scratch<float> total(input.shape[0] * size_), given(size_), upper(size_);
    std::fill_n(total.data(), input.shape[0] * size_, 0.0f);
    std::vector<double> by_weight(static_cast<size_t>(block));
    for (size_t j = 0; j < begins_.size(); ++j) {
      const auto* g = static_cast<const float*>(grad_.load(static_cast<int64_t>(j) * heads_ + head, upper));
      for (int64_t i = 0; i < block; ++i) {
        const auto* x = static_cast<const float*>(input_.load((begins_[j] + i) * heads_ + head, given));
        float* to = total.data() + (begins_[j] + i) * size_;
        const float factor = w[static_cast<size_t>(i * heads_ + head)];
        double sum = 0;
        for (int64_t d = 0; d < size_; ++d) {
          to[d] += factor * g[d];
          sum += static_cast<double>(g[d]) * x[d];
        }
        by_weight[static_cast<size_t>(i)] += sum;
      }
    }
    for (int64_t i = 0; i < block; ++i)
      sums[static_cast<size_t>(i * heads_ + head)] = static_cast<float>(by_weight[static_cast<size_t>(i)]);
    for (int64_t t = 0; t < input.shape[0]; ++t) {
      const int64_t row = t * heads_ + head;
      auto* to = static_cast<float*>(input_grad_.target(row, given));
      std::copy_n(total.data() + t * size_, size_, to);
      input_grad_.store(row, to);
    }
  }

  Rows grad_, input_grad_;
  OrderedTensor weight_grad_;
};

#define NPU_COMPRESS(type)                                                                               \
  in<&type::input>("input"), in<&type::weight>("weight"), attr<&type::actual_seq_len>("actual_seq_len"), \
      attr<&type::layout>("layout"), attr<&type::block>("block"), attr<&type::stride>("stride"),         \
      attr<&type::actual_seq_len_type>("actual_seq_len_type")
NPU_OPERATOR(CompressBlocks, "compress_blocks", "attention", NPU_COMPRESS(CompressBlocks),
             out<&CompressBlocks::out>("out"));
NPU_OPERATOR(CompressBlocksGrad, "compress_blocks_grad", "attention", in<&CompressBlocksGrad::grad>("grad"),
             NPU_COMPRESS(CompressBlocksGrad), out<&CompressBlocksGrad::input_grad>("input_grad"),
             out<&CompressBlocksGrad::weight_grad>("weight_grad"));

}  // namespace
}  // namespace npu::ops
