// SPDX-License-Identifier: Apache-2.0
#include "ops/rnn/recurrent.h"

#include <algorithm>

#include "ops/scratch.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {

void RecurrentOp::check_sizes(const Tensor& state) {
  if (packed()) {
    require(input.rank() == 2, "input is {}; with batch_sizes it is packed: rows x features", input.shape);
    require(batch_sizes.rank() == 1 && is_integer(batch_sizes.dtype), "batch_sizes is {}; it is a line of integers",
            batch_sizes);
    require(!batch_first, "batch_first is true; packed sequences lie step by step");
    // Packed input has no batch axis: only a state says how many sequences there are.
    require(state.rank() == 3, "no state tells how many sequences are packed; pass hx");
    steps_ = batch_sizes.count();
    batch_ = state.shape[1];
    rows_ = input.shape[0];
  } else {
    require(input.rank() == 3, "input is {}; it must be steps x batch x features (batch first with batch_first)",
            input.shape);
    const Tensor sequence = steps_first(input);
    steps_ = sequence.shape[0];
    batch_ = sequence.shape[1];
    rows_ = steps_ * batch_;
  }
  input_ = input.shape.back();
}

void RecurrentOp::check(int64_t gates, const Tensor& state) {
  gates_ = gates;
  directions_ = bidirectional ? 2 : 1;
  require(input.dtype == DType::kFloat || input.dtype == DType::kHalf || input.dtype == DType::kBFloat16,
          "input is {}; recurrent layers take float32, float16 and bfloat16", input.dtype);
  require(!train || dropout == 0 || num_layers == 1,
          "dropout {} between layers is not supported; put nn.Dropout between single-layer modules", dropout);
  require(num_layers >= 1 && num_layers <= static_cast<int64_t>(params.size()),
          "num_layers is {}, params holds {} tensors; it must be at least 1, with tensors for each layer", num_layers,
          params.size());
  const int64_t each = has_biases ? 4 : 2;
  require(static_cast<int64_t>(params.size()) == each * cells(),
          "params holds {} tensors, {} layers x {} directions need {}", params.size(), num_layers, directions_,
          each * cells());
  check_sizes(state);
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
  // A client may pad what it packs: then the sequence has its full shape.
  if (packed() && padded() && t.shape == Dims{steps_, batch_, width} && is_floating(t.dtype)) return;
  const Dims expected = packed()      ? Dims{rows_, width}
                        : batch_first ? Dims{batch_, steps_, width}
                                      : Dims{steps_, batch_, width};
  require(t.shape == expected && is_floating(t.dtype), "{} is {}, expected {} of {}", name, t, input.dtype, expected);
}

void RecurrentOp::check_saved(std::initializer_list<std::pair<const std::vector<Tensor>*, const char*>> lists) const {
  for (const auto& [list, name] : lists) {
    require(static_cast<int64_t>(list->size()) == cells(), "{} holds {} tensors, expected one for each of {} cells",
            name, list->size(), cells());
    for (const Tensor& t : *list) {
      // Saved values may lie packed or padded; their number of elements says which.
      const bool fits = t.count() == steps_ * batch_ * hidden_ || t.count() == rows_ * hidden_;
      require(fits && is_floating(t.dtype), "{} holds {}, expected {}x{}x{}", name, t, steps_, batch_, hidden_);
    }
  }
}

void RecurrentOp::read_batch_sizes() {
  // Sizes are on the device, so they are read when the work runs, and refused before anything is computed.
  if (!packed()) return;
  running_.resize(static_cast<size_t>(steps_));
  OrderedTensor(batch_sizes, DType::kInt64).load(0, steps_, running_.data());
  int64_t rows = 0, most = batch_;
  for (int64_t t = 0; t < steps_; ++t) {
    const int64_t now = running(t);
    require(now > 0 && now <= most && (t > 0 || now == batch_),
            "batch_sizes[{}] is {}; it begins with the batch, {}, and never grows", t, now, batch_);
    most = now;
    rows += now;
  }
  require(rows == rows_ || padded(),
          "batch_sizes add up to {}, but input has {} rows; give as many, or {}x{} with padding", rows, rows_, steps_,
          batch_);
}

// What stands in the padding is nobody's.
const float* RecurrentOp::read_padded(const Tensor& t, int64_t width, float* buffer) const {
  // Copied even where it could be read in place: the padding is the client's, and must be read as 0.
  const float* from = read_floats(t, buffer);
  if (from != buffer) std::copy_n(from, t.count(), buffer);
  for (int64_t step = 0; step < steps_; ++step)
    std::fill_n(buffer + (step * batch_ + running(step)) * width, (batch_ - running(step)) * width, 0.0f);
  return buffer;
}

const float* RecurrentOp::read_steps(const Tensor& t, int64_t width, float* buffer) const {
  if (packed() && padded()) return read_padded(t, width, buffer);
  if (!lies_packed(t, width)) return read_floats(t, buffer);
  // Rows of a step lie together, the next step's behind them: each is given room for the whole batch.
  const Scratch<float> rows(t.count());
  const float* from = read_floats(t, rows);
  for (int64_t step = 0; step < steps_; ++step) {
    const int64_t here = running(step) * width;
    std::fill_n(std::copy_n(from, here, buffer + step * batch_ * width), batch_ * width - here, 0.0f);
    from += here;
  }
  return buffer;
}

void RecurrentOp::write_steps(const Tensor& t, int64_t width, const float* from) const {
  if (!lies_packed(t, width)) return write_floats(t, from);
  const Scratch<float> rows(t.count());
  float* to = rows;
  for (int64_t step = 0; step < steps_; ++step)
    to = std::copy_n(from + step * batch_ * width, running(step) * width, to);
  write_floats(t, rows);
}

}  // namespace npu::ops
