// SPDX-License-Identifier: Apache-2.0
// What other processes may know about this one (`anynpu smi`): a page of counters in a file under $XDG_RUNTIME_DIR,
// else in a 0700 folder of the temp directory. Made at the first use of a device, removed at exit; readers drop dead
// ones.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace npu::device {

/// Live counters of one device, shared with readers. Writers use relaxed operations.
struct DeviceCounters {
  std::atomic<uint64_t> capacity{0};
  std::atomic<uint64_t> used{0};
  std::atomic<uint64_t> high_water{0};
  std::atomic<uint64_t> tasks{0};
  std::atomic<uint64_t> busy_ns{0};  ///< time spent in tasks; short ones are sampled
};

/// This process' counters of `device`. They exist even where no page can be published.
DeviceCounters& counters(int device);

struct DeviceStatus {
  int device = 0;
  uint64_t capacity = 0, used = 0, high_water = 0, tasks = 0, busy_ns = 0;
};
struct ProcessStatus {
  pid_t pid = 0;
  std::string name;  ///< of the program
  std::string soc;
  int device_count = 0;
  std::vector<DeviceStatus> devices;  ///< those the process has used
};

/// Pages of all living processes of this user, by pid. Pages of dead ones are removed on the way.
std::vector<ProcessStatus> read_status_pages();

/// The folder of this user's running processes, closed to others: $XDG_RUNTIME_DIR/anynpu, else one in the temp
/// directory. Empty where none can be made.
std::string runtime_folder();

namespace detail {
void publish_status_page();
void remove_status_page();
}  // namespace detail

}  // namespace npu::device
