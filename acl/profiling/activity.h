// SPDX-License-Identifier: Apache-2.0
// Records as the activities of mspti.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "acl/include/mspti/mspti.h"
#include "acl/profiling/activity_buffer.h"
#include "acl/profiling/task_recorder.h"
#include "device/trace/listener.h"

namespace npu::acl {

class Activities final : public device::trace::Listener {
 public:
  /// Listens while one kind is enabled, or a callback.
  void enable(msptiActivityKind kind, bool enabled);
  bool is_enabled(msptiActivityKind kind) const { return enabled_[static_cast<size_t>(kind)]; }
  void enable_domain(const std::string& domain, bool enabled);
  /// After callbacks were enabled or disabled.
  void listen_as_needed();
  ActivityBuffers& buffers() { return buffers_; }

  void heard(const device::trace::TaskRecord& record) override;
  void heard(const device::trace::CallRecord& record) override;
  void heard(const device::trace::MarkRecord& record) override;
  void heard(const device::trace::MemoryRecord& record) override;
  void begun(const device::trace::MarkRecord& record) override;
  void entered(uint32_t call, const device::trace::Owners& owners) override;
  void began(const char* name, device::trace::Level level, uint32_t call) override;

  /// Of the clock of records, as activities tell it.
  uint64_t time(int64_t monotonic) const { return static_cast<uint64_t>(monotonic + offset_); }

 private:
  template <class Activity>
  void add(const Activity& activity);
  void listen_with_lock();
  void add_kernel(const device::trace::TaskRecord& record);
  void add_collective(const device::trace::TaskRecord& record);
  void add_move(const device::trace::TaskRecord& record);
  void add_marker(const device::trace::MarkRecord& record, int64_t time, msptiActivityFlag flag);
  bool wants_domain(uint32_t domain);

  std::array<std::atomic<bool>, MSPTI_ACTIVITY_KIND_COUNT> enabled_{};
  std::atomic<int64_t> offset_{0};  ///< from the clock of records to that of people
  ActivityBuffers buffers_;
  std::mutex mutex_;
  std::unique_ptr<TaskLease> lease_;
  std::set<std::string, std::less<>> refused_;
};

/// The one of the process, never destroyed.
Activities& activities();

}  // namespace npu::acl
