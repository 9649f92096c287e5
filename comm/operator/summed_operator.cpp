// SPDX-License-Identifier: Apache-2.0
#include "comm/operator/summed_operator.h"

#include "comm/operator/local_product.h"
#include "comm/operator/reachable.h"

namespace npu::comm {

void SummedOperator::run() {
  Communicator& ranks = communicator();
  Reachable sum(out, ranks.device());
  multiply(sum.dense());
  saturate_partial(sum.dense());
  all_reduce(ranks, Lane::own_turn(), sum.data(), sum.data(), static_cast<uint64_t>(out.count()),
             element_of(out.dtype, out.shape.back()), ReduceOp::kSum);
  sum.store();
}

}  // namespace npu::comm
