// SPDX-License-Identifier: Apache-2.0
#include "comm/operator/rank_operator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace npu::comm {

void RankOperator::find_ranks() {
  require(reduce_op == "sum", "reduce_op is '{}'; it is 'sum', the only reduction of this function", reduce_op);
  require(comm_turn == 0, "comm_turn is {}; it is 0, the device divides the work as it sees fit", comm_turn);
  require(stream_mode == 1, "stream_mode is {}; it is 1, stop on failure (ACL_STOP_ON_FAILURE)", stream_mode);
  require(comm_mode.empty() || comm_mode == "ai_cpu" || comm_mode == "aiv",
          "comm_mode is '{}'; it is 'ai_cpu' or 'aiv'", comm_mode);
  // Of any device of the process: all ranks see the same number of them, and the stream tells the device.
  const auto found = communicator_named(hcom);
  require(
      found != nullptr,
      "hcom is '{}': no communicator of this process has that name; pass what HcclGetCommName gives (there are: {})",
      hcom, fmt::join(communicator_names(), ", "));
  ranks_ = found->size();
}

std::shared_ptr<Communicator> RankOperator::of_device(int device) {
  auto found = communicator_named(hcom, device);
  if (found == nullptr)
    fault(Result::kParameter, "EI0003: hcom is '{}': device {}, which runs it, is in no communicator of that name",
          hcom, device);
  require(found->size() == ranks_, "communicator '{}' has {} ranks, and had {} when the call was prepared", hcom,
          found->size(), ranks_);
  communicator_ = found.get();
  return found;
}

void RankOperator::queue(device::Stream& stream, const char* name, std::function<void()> run) {
  if (!takes_a_turn()) fail(Code::kInternal, "{} is for graphs, which run it in their own thread", name);
  of_device(stream.device())->launch_in_order(stream, name, std::move(run));
}

void RankOperator::run_here(int device, const char* name, const std::function<void()>& run) {
  const std::shared_ptr<Communicator> ranks = of_device(device);
  if (takes_a_turn()) return ranks->launch_in_order(Lane::calling_thread(), name, run);
  run();
}

void QuantisableRankOperator::refuse_quantised(const char* instead) const {
  const std::pair<bool, const char*> given[] = {
      {x1_scale.defined(), "x1_scale"}, {x2_scale.defined(), "x2_scale"}, {quant_scale.defined(), "quant_scale"},
      {amax_out.defined(), "amax_out"}, {block_size != 0, "block_size"},  {group_size != 0, "group_size"},
  };
  for (const auto& [is, argument] : given)
    require(!is, "{} is given: quantised products are not built into this function; leave it out and {}", argument,
            instead);
}

Communicator& RankOperator::communicator() const {
  if (communicator_ == nullptr) fail(Code::kInternal, "{} runs in a turn of a communicator only", def->name);
  return *communicator_;
}

}  // namespace npu::comm
