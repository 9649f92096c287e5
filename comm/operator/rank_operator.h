// SPDX-License-Identifier: Apache-2.0
// Operators that meet the other ranks of a communicator, which the client names: a product and a collective in one
// call. prepare() finds the communicator and knows the number of ranks; run() stands in a turn of that communicator,
// where it may make one collective on Lane::own_turn().
#pragma once

#include <memory>
#include <string>

#include "comm/communicator/communicator.h"
#include "ops/runner/turn.h"

namespace npu::comm {

class RankOperator : public ops::Operator, public ops::TakesTurns {
 public:
  std::string hcom;  ///< as HcclGetCommName tells it
  // What a device of the vendor's leaves to its client. Here they choose nothing; their only values are checked.
  std::string reduce_op = "sum", comm_mode;
  int64_t comm_turn = 0, stream_mode = 1;

  void queue(device::Stream& stream, const char* name, std::function<void()> run) final;
  void run_here(int device, const char* name, const std::function<void()>& run) final;

 protected:
  /// A message between two ranks has no turn among the group's calls: it follows the order of its pair.
  virtual bool takes_a_turn() const { return true; }
  /// For prepare: refuses values of the fields above that are not built, and names that no communicator has.
  void find_ranks();
  int64_t ranks() const { return ranks_; }
  /// Within run.
  Communicator& communicator() const;

 private:
  std::shared_ptr<Communicator> of_device(int device);

  int64_t ranks_ = 0;
  Communicator* communicator_ = nullptr;  // which waits at its end for what is queued
};

/// With the arguments of the vendor's quantised form, which is not built.
struct QuantisableRankOperator : RankOperator {
  Tensor x1_scale, x2_scale, quant_scale, amax_out;
  int64_t block_size = 0, group_size = 0;

 protected:
  /// For prepare: 161002 where one is given; `instead` says what to call.
  void refuse_quantised(const char* instead) const;
};

}  // namespace npu::comm
