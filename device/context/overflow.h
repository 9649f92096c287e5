// SPDX-License-Identifier: Apache-2.0
// What a device knows of overflows in saturation mode: a word that stays set until it is cleared, and of every overflow
// that set it, where it was first seen. Loss scaling reads and clears the word once a step.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"

namespace npu::device {

/// How many overflows a device remembers; the oldest goes first.
inline constexpr size_t kMostOverflows = 64;

/// What a client calls a task.
struct TaskName {
  std::string function;  ///< of the client, that the node is in; "" where there is none
  std::string node;      ///< the client's name for the call
  std::string type;      ///< the vendor's name of the operator
};

/// A result that left its type's range, as it was before it was saturated.
struct Overflow : TaskName {
  int device = 0;
  int64_t step = 0;    ///< how often the word had been cleared before: with loss scaling, the training step from 0
  std::string output;  ///< which result of it
  DType dtype = DType::kUndefined;
  Dims shape;
  double least = 0, most = 0;  ///< of its finite elements; 0 where there are none
  int64_t infinities = 0;      ///< elements that were +Inf or -Inf
  int64_t nans = 0;
  int64_t saturated = 0;  ///< elements at the ends of the type's range afterwards
};

/// The word: 0, or 1 after an overflow.
uint32_t overflow_word(int device);
/// Sets the word. True for the call that did; whoever gets it tells the overflow. Nothing and false where detection is
/// off.
bool raise_overflow(int device);
void clear_overflow(int device);
/// Whether overflows of `device` set its word, which is so until this is called; results saturate either way.
void detect_overflows(int device, bool on);
bool detects_overflows(int device);
/// How often the word of `device` was cleared.
int64_t overflow_step(int device);

/// Remembers it and hands it to the watcher; without one it is a warning in the log.
void tell_overflow(const Overflow& overflow);
/// What `device` remembers, oldest first.
std::vector<Overflow> overflows(int device);
/// From now on `watch` is called for each overflow told, on the thread that found it; it must not run operators. An
/// empty function ends it.
void watch_overflows(std::function<void(const Overflow&)> watch);
/// "Mul node 'model/scale' of train_step overflowed in step 3: output out float16[8x10], …": one line.
std::string to_string(const Overflow& overflow);

}  // namespace npu::device
