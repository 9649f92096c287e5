// SPDX-License-Identifier: Apache-2.0
// What LSTM and GRU, forward and backward, share: arguments, checks and the walk over layers, directions and steps.
//
// Layer l, direction d has index l * directions + d everywhere: in params (2 or 4 tensors each: weight_ih [G*H, in],
// weight_hh [G*H, H], bias_ih, bias_hh), in hx and in the lists of saved values. Computed in float32.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "ops/operator.h"
#include "ops/rnn/floats.h"

namespace npu::ops {

struct RecurrentOp : Operator {
  Tensor input;  ///< [T, B, in], or [B, T, in] with batch_first; packed: [rows, in], where rows of padding may stand
  std::vector<Tensor> params;
  Tensor batch_sizes;  ///< given for packed sequences: how many of them run at each step, never more than at the last
  bool has_biases = true;
  int64_t num_layers = 1;
  double dropout = 0;
  bool train = true;
  bool bidirectional = false;
  bool batch_first = false;

  int64_t cost() const override { return 1 << 24; }

 protected:
  /// `gates`: 4 for LSTM, 3 for GRU. `state` is one of the states [cells, B, H], which tells the batch where the input
  /// is packed.
  void check(int64_t gates, const Tensor& state);
  /// Raises 161002 unless `t` is undefined or has shape [directions * layers, B, H].
  void check_state(const Tensor& t, const char* name) const;
  /// Raises 161002 unless `t` is the sequence shape with `width` in the last axis.
  void check_sequence(const Tensor& t, int64_t width, const char* name) const;
  /// Raises 161002 unless each list (with its name) holds a tensor of T * B * H elements for every cell; of packed
  /// sequences also rows * H.
  void check_saved(std::initializer_list<std::pair<const std::vector<Tensor>*, const char*>> lists) const;

  /// Before anything is computed: reads batch_sizes. Raises when they do not describe the rows of the input.
  void read_batch_sizes();
  bool packed() const { return batch_sizes.defined() && batch_sizes.count() > 0; }
  bool padded() const { return rows_ == steps_ * batch_; }
  /// Sequences that run at time t: the first ones of the batch.
  int64_t running(int64_t t) const { return packed() ? running_[static_cast<size_t>(t)] : batch_; }
  /// All steps of `t` as [T, B, width] floats, in place where they lie so, else in `buffer`. What a packed tensor
  /// leaves out is 0.
  const float* read_steps(const Tensor& t, int64_t width, float* buffer) const;
  void write_steps(const Tensor& t, int64_t width, const float* from) const;

  Tensor steps_first(const Tensor& t) const { return batch_first ? t.transposed(0, 1) : t; }
  int64_t cells() const { return num_layers * directions_; }
  int64_t input_width(int64_t layer) const { return layer == 0 ? input_ : directions_ * hidden_; }
  const Tensor& param(int64_t cell, int64_t which) const {
    return params[static_cast<size_t>(cell * (has_biases ? 4 : 2) + which)];
  }
  /// Row t of a [T, B, H] array in processing order: direction 1 runs backwards.
  int64_t time_of(int64_t step, int64_t direction) const { return direction == 0 ? step : steps_ - 1 - step; }

  int64_t gates_ = 0, steps_ = 0, batch_ = 0, input_ = 0, hidden_ = 0, directions_ = 1;
  int64_t rows_ = 0;  ///< of the input: T * B, or fewer when it is packed

 private:
  void check_sizes(const Tensor& state);
  const float* read_padded(const Tensor& t, int64_t width, float* buffer) const;
  bool lies_packed(const Tensor& t, int64_t width) const { return packed() && t.count() != steps_ * batch_ * width; }
  std::vector<int64_t> running_;
};

/// Fields all four operators have, and behind them its own.
template <class Op>
std::vector<Field> recurrent_fields(std::initializer_list<Field> own) {
  std::vector<Field> fields{in<&Op::input>("input"),
                            in<&Op::params>("params"),
                            optional<&Op::batch_sizes>("batch_sizes"),
                            attr<&Op::has_biases>("has_biases"),
                            attr<&Op::num_layers>("num_layers"),
                            attr<&Op::dropout>("dropout"),
                            attr<&Op::train>("train"),
                            attr<&Op::bidirectional>("bidirectional"),
                            attr<&Op::batch_first>("batch_first")};
  fields.insert(fields.end(), own);
  return fields;
}

}  // namespace npu::ops
