// SPDX-License-Identifier: Apache-2.0
// Operators whose result a chain takes up: it goes over each piece of the result as soon as that is written, while it
// is in the cache of the thread that wrote it. Results are those of the operator and the chain one after the other.
#pragma once

#include <memory>
#include <vector>

#include "ops/vector/chain/chain.h"

namespace npu::ops {

struct ChainAfter : Operator {
  /// Of the chain. The operator's own result is one of the inputs; it may be an output as well, and then is lost.
  std::vector<Tensor> chain_inputs, chain_outputs;
  std::shared_ptr<const ChainProgram> chain;  ///< null: nothing follows

 protected:
  /// Raises 161002 when the tensors do not fit the program.
  void prepare_chain() {
    bound_.reset();
    if (chain == nullptr) return;
    bound_ = std::make_unique<Chain>(chain);
    bound_->bind(chain_inputs, chain_outputs);
  }
  void move_chain() {
    if (bound_ != nullptr) bound_->move(chain_inputs, chain_outputs);
  }
  /// Null where nothing follows.
  const Chain* after() const { return bound_.get(); }
  int64_t chain_cost() const { return bound_ == nullptr ? 0 : bound_->cost(); }

 private:
  std::unique_ptr<Chain> bound_;
};

/// `fields` and those of ChainAfter.
template <class Op>
std::vector<Field> with_chain(std::vector<Field> fields) {
  for (const Field& field : {optional<&Op::chain_inputs>("chain_inputs"),
                             optional_out<&Op::chain_outputs>("chain_outputs"), attr<&Op::chain>("chain")})
    fields.push_back(field);
  return fields;
}

}  // namespace npu::ops
