// SPDX-License-Identifier: Apache-2.0
// Who hears of records while they are made, in the thread that makes them; beside the files, or without any. Its texts
// are asked for by trace::text_of.
#pragma once

#include <array>
#include <cstdint>

#include "device/trace/record.h"

namespace npu::device::trace {

/// For whom a thread works: numbers that a client of the listener pushed, one for each kind of its; 0: none.
using Owners = std::array<uint64_t, 4>;

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void heard(const TaskRecord& record) = 0;
  virtual void heard(const CallRecord& record) = 0;
  virtual void heard(const MarkRecord& record) = 0;
  virtual void heard(const MemoryRecord& record) = 0;
  virtual void heard(const GraphRecord& /*record*/) {}
  /// A mark that begins: `record` has no end yet.
  virtual void begun(const MarkRecord& record) = 0;
  /// A call of this thread begins: `call` is its number.
  virtual void began(const char* /*name*/, Level /*level*/, uint32_t /*call*/) {}
  /// A call of this thread is for `owners`, of which one is not 0.
  virtual void entered(uint32_t call, const Owners& owners) = 0;
};

/// From now on, null for nobody. It may still hear of what is just being written, so it must live on.
void listen(Listener* listener);

/// Of this thread, while somebody listens.
Owners& owners_here();

}  // namespace npu::device::trace
