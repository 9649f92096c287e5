// SPDX-License-Identifier: Apache-2.0
// TensorFlow's operators of dataflow control, which stand for loops (frames) and branches before they are functional.
#pragma once

#include <string_view>

namespace npu::graph::tensorflow {

inline bool is_switch(std::string_view op) { return op == "Switch" || op == "RefSwitch"; }
inline bool is_merge(std::string_view op) { return op == "Merge" || op == "RefMerge"; }
inline bool is_enter(std::string_view op) { return op == "Enter" || op == "RefEnter"; }
inline bool is_exit(std::string_view op) { return op == "Exit" || op == "RefExit"; }
inline bool is_next_iteration(std::string_view op) { return op == "NextIteration" || op == "RefNextIteration"; }
inline bool is_loop_condition(std::string_view op) { return op == "LoopCond"; }

/// A node of ours: the value of a branch that was not taken, where somebody outside wants it.
inline constexpr std::string_view kMissing = "_Missing";
/// Those of loops only.
inline bool is_frame_word(std::string_view op) {
  return is_enter(op) || is_exit(op) || is_next_iteration(op) || is_loop_condition(op);
}

}  // namespace npu::graph::tensorflow
