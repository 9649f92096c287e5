// SPDX-License-Identifier: Apache-2.0
#include "ops/rnn/recurrent.h"

#include <algorithm>

#include "ops/cube/gemm.h"
#include "ops/vector/ordered_tensor.h"

namespace npu::ops {

const float* read_floats(const Tensor& t, float* buffer) {
  if (t.dtype == DType::kFloat && t.contiguous()) return t.as<const float>();
  OrderedTensor(t, DType::kFloat).load(0, t.count(), buffer);
  return buffer;
}

void write_floats(const Tensor& t, const float* from) { OrderedTensor(t, DType::kFloat).store(0, t.count(), from); }

void RecurrentOp::check(int64_t gates) {
  gates_ = gates;
  directions_ = bidirectional ? 2 : 1;
  require(input.dtype == DType::kFloat || input.dtype == DType::kHalf || input.dtype == DType::kBFloat16,
          "input is {}; recurrent layers take float32, float16 and bfloat16", input.dtype);
  require(input.rank() == 3, "input is {}; it must be steps x batch x features (batch first with batch_first)",
          input.shape);
  require(!batch_sizes.defined() || batch_sizes.count() == 0,
          "batch_sizes is given: packed sequences are not supported; pad them to one length");
  require(!train || dropout == 0 || num_layers == 1,
          "dropout {} between layers is not supported; put nn.Dropout between single-layer modules", dropout);
  require(num_layers >= 1 && num_layers <= static_cast<int64_t>(params.size()),
          "num_layers is {}, params holds {} tensors; it must be at least 1, with tensors for each layer", num_layers,
          params.size());
  const int64_t each = has_biases ? 4 : 2;
  require(static_cast<int64_t>(params.size()) == each * cells(),
          "params holds {} tensors, {} layers x {} directions need {}", params.size(), num_layers, directions_,
          each * cells());
  const Tensor sequence = steps_first(input);
  steps_ = sequence.shape[0];
  batch_ = sequence.shape[1];
  input_ = sequence.shape[2];
  require(params[1].rank() == 2, "params[1] (weight_hh) is {}; it must be {}*hidden x hidden", params[1].shape, gates);
  hidden_ = params[1].shape[1];
  for (int64_t cell = 0; cell < cells(); ++cell) {
    const Dims shapes[4] = {{gates * hidden_, input_width(cell / directions_)},
                            {gates * hidden_, hidden_},
                            {gates * hidden_},
                            {gates * hidden_}};
    for (int64_t i = 0; i < each; ++i) {
      require(param(cell, i).shape == shapes[i], "params[{}] is {}, expected {}", cell * each + i, param(cell, i).shape,
              shapes[i]);
      require(is_floating(param(cell, i).dtype) && param(cell, i).dtype != DType::kDouble, "params[{}] is {}; use {}",
              cell * each + i, param(cell, i).dtype, input.dtype);
    }
  }
}

void RecurrentOp::check_state(const Tensor& t, const char* name) const {
  if (!t.defined()) return;
  const Dims expected{cells(), batch_, hidden_};
  require(t.shape == expected && is_floating(t.dtype), "{} is {}, expected {} of {}", name, t, input.dtype, expected);
}

void RecurrentOp::check_sequence(const Tensor& t, int64_t width, const char* name) const {
  const Dims expected = batch_first ? Dims{batch_, steps_, width} : Dims{steps_, batch_, width};
  require(t.shape == expected && is_floating(t.dtype), "{} is {}, expected {} of {}", name, t, input.dtype, expected);
}

void RecurrentOp::check_saved(std::initializer_list<std::pair<const std::vector<Tensor>*, const char*>> lists) const {
  for (const auto& [list, name] : lists) {
    require(static_cast<int64_t>(list->size()) == cells(), "{} holds {} tensors, expected one for each of {} cells",
            name, list->size(), cells());
    for (const Tensor& t : *list) {
      require(t.count() == steps_ * batch_ * hidden_ && is_floating(t.dtype), "{} holds {}, expected {}x{}x{}", name, t,
              steps_, batch_, hidden_);
    }
  }
}

void affine(const float* x, const float* w, const float* bias, int64_t rows, int64_t n, int64_t k, float* y) {
  for (int64_t r = 0; bias != nullptr && r < rows; ++r) std::copy_n(bias, n, y + r * n);
  cube::gemm(cube::GemmArgs<float>{false, true, rows, n, k, 1.0f, x, k, w, k, bias != nullptr ? 1.0f : 0.0f, y, n});
}

}  // namespace npu::ops
