// SPDX-License-Identifier: Apache-2.0
// The state of one run of a plan: the arena, the operators with their addresses, the values brought late. Frames are
// kept and used again, one run at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/plan/plan.h"
#include "graph/run/environment.h"
#include "graph/value/value.h"
#include "ops/runner/observer.h"

namespace npu::graph {

class Frame {
 public:
  /// Raises 161002 naming the node whose operator refuses its arguments, 207001 when the device is full.
  Frame(std::shared_ptr<const Plan> plan, Environment& environment);

  /// Runs the plan; gives its results or, where it ends early, the arguments of its rest. Raises what a step raises,
  /// with the node's name in front.
  /// Results are brought to `places`, as Executable::run says.
  std::vector<Value> run(std::vector<Value> arguments, std::span<const Tensor> places = {});

  // For the bodies of steps.
  /// The tensor now; its memory is the frame's and is reused once nobody of the plan needs it.
  Tensor tensor(const Planned& planned) const;
  /// The value, for keeping: shared where it has an owner, a copy where the memory is the frame's.
  Value value(const Planned& planned) const;
  /// The same, for handing on: what nobody of the plan needs after this step is no longer held by the frame, so that
  /// whoever gets it may find itself the only holder.
  std::vector<Value> take(std::span<const Planned> planned);
  Value take(const Planned& planned) { return std::move(take(std::span(&planned, 1)).front()); }
  /// Brings a late value.
  void set(const Planned& planned, Value value);
  Environment& environment() const { return environment_; }
  int device() const { return device_; }

 private:
  void start(std::vector<Value> arguments, std::span<const Tensor> places);
  void put_results(std::span<const Tensor> places);
  std::vector<Value> finish();
  void run_steps();
  void run_alone(size_t step);
  void run_alone_limited(size_t step);
  void run_allocated(size_t step);
  void run_step(size_t step);
  class UnderWay;
  void run_steps_aside();
  const std::string& group_of(size_t step) const;
  void run_turn(size_t step);
  void meet(size_t step);
  void run_steps_observed();
  void run_node_observed(const PlannedNode& planned, uint64_t number);
  bool computes(const PlannedNode& planned) const;
  ops::Parameters parameters(const PlannedNode& planned) const;
  void release_after(const PlannedNode& planned);
  void run_node_written(const PlannedNode& planned, uint64_t number, ops::TaskWriter& writer);
  bool shows(const Planned& planned, Value& shown) const;
  template <class Visit>
  static void each_result(const PlannedNode& planned, Visit&& visit);  // frame_observed.cpp
  void read(const Planned& planned, ops::Reading::Use use, ops::Reading& reading) const;
  void see(const Planned& planned, std::vector<ops::Seen>& seen, std::vector<Value>& held) const;
  void see_results(const PlannedNode& planned, std::vector<ops::Seen>& seen, std::vector<Value>& held) const;
  ops::Parts parts_of(const PlannedNode& planned) const;
  void bind(size_t step);
  bool outdated(size_t step) const { return state_[step] != Bound::kNow; }
  std::byte* address(const Slot& slot, SlotId id) const;
  void allocate(SlotId slot);
  void release(SlotId slot);

  const std::shared_ptr<const Plan> plan_;
  Environment& environment_;
  const int device_;
  Value arena_;
  std::vector<std::unique_ptr<ops::Operator>> operators_;  ///< by step; null where the step has a body
  enum class Bound : uint8_t { kNever, kBefore, kNow };
  std::vector<Bound> state_;    ///< by step: whether the operator knows the addresses of now
  std::vector<Value> late_;     ///< by slot
  const Step* step_ = nullptr;  ///< whose body runs
  std::vector<void*> bound_;    ///< by slot: the address that prepared operators hold
};

}  // namespace npu::graph
