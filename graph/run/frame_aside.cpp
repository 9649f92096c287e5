// SPDX-License-Identifier: Apache-2.0
// A run whose collectives run beside its other steps.
#include "base/error.h"
#include "comm/core/order.h"
#include "graph/ir/node_error.h"
#include "graph/run/aside.h"
#include "graph/run/deadline.h"
#include "graph/run/frame.h"
#include "graph/run/saturation.h"

namespace npu::graph {

/// What of a run is under way. It is over before the frame's memory goes, also where a step fails meanwhile.
class Frame::UnderWay {
 public:
  explicit UnderWay(Frame& frame) : frame_(frame), all_(frame.plan_->steps.size()) {}
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() {
    for (const auto& one : all_)
      if (one) one->wait();
  }

  void hand_over(size_t i) {
    const Step& step = frame_.plan_->steps[i];
    for (const SlotId slot : step.fresh) frame_.allocate(slot);
    if (frame_.outdated(i)) at_node(*step.node, [&] { frame_.bind(i); });
    all_[i] = graph::hand_over(frame_.group_of(i), [this, i] {
      const comm::Announcement::Elsewhere elsewhere(announcement_);
      frame_.run_turn(i);
    });
  }
  void join(size_t i) {
    at_node(*frame_.plan_->steps[i].node, [&] { all_[i]->join(); });
  }
  void join_all() {
    for (size_t i = 0; i < all_.size(); ++i)
      if (all_[i]) join(i);
  }
  Overlap overlap() const {
    Overlap out;
    for (const auto& one : all_)
      if (one) ++out.collectives, out.busy_ms += ms(one->busy_ns()), out.waited_ms += ms(one->waited_ns());
    return out;
  }

 private:
  static double ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

  Frame& frame_;
  comm::Announcement* const announcement_ = comm::Announcement::current();
  std::vector<std::shared_ptr<Aside>> all_;  ///< by step
};

const std::string& Frame::group_of(size_t step) const {
  return plan_->steps[step].def->field("hcom")->of<std::string>(*operators_[step]);
}

void Frame::run_turn(size_t i) {
  const Step& step = plan_->steps[i];
  const StepPlace place{*plan_, step};
  ops::run_on(device_, operators_[i].get(), {StepPlace::describe, &place}, [&] { meet(i); });
}

void Frame::run_steps_aside() {
  UnderWay under_way(*this);
  const Deadline* const deadline = Deadline::current();
  for (size_t i = 0; i < operators_.size(); ++i) {
    const Step& step = plan_->steps[i];
    for (const int32_t before : step.awaits) under_way.join(static_cast<size_t>(before));
    if (step.aside)
      under_way.hand_over(i);
    else
      run_alone(i);
    if (deadline != nullptr) deadline->check(device_, step);
  }
  under_way.join_all();
  environment_.listener().overlapped(plan_->function, under_way.overlap());
}

}  // namespace npu::graph
