// SPDX-License-Identifier: Apache-2.0
#include "device/context/state.h"

#include <array>
#include <atomic>

#include "base/error.h"
#include "device/context/context.h"
#include "device/process/soc.h"

namespace npu::device {
namespace {

struct DeviceState {
  std::atomic<int32_t> overflow_mode{-1};  // -1: as the SoC does by default
  std::array<std::atomic<int64_t>, kSystemOptions> options{};
  std::atomic<uint32_t> options_set{0};  // bit per option
};

constinit std::array<DeviceState, kMaxDevices> device_states{};
constinit std::array<std::atomic<int64_t>, kSystemOptions> process_options{};
constinit std::atomic<uint64_t> execute_timeout{0};

DeviceState& state_of(int device) {
  check_device(device);
  return device_states[static_cast<size_t>(device)];
}

size_t checked_option(int option) {
  if (option < 0 || option >= kSystemOptions) {
    fail(Code::kRtParamInvalid,
         "system option {} does not exist; the options are 0 (deterministic), 1 (debug kernel) "
         "and 2 (strong consistency)",
         option);
  }
  return static_cast<size_t>(option);
}

}  // namespace

OverflowMode overflow_mode(int device) {
  const int32_t mode = state_of(device).overflow_mode.load(std::memory_order_relaxed);
  if (mode >= 0) return static_cast<OverflowMode>(mode);
  return soc().inf_nan ? OverflowMode::kInfNan : OverflowMode::kSaturate;
}

void set_overflow_mode(int device, int32_t mode) {
  DeviceState& state = state_of(device);
  if (mode != 0 && mode != 1) {
    fail(Code::kRtParamInvalid, "overflow mode {} does not exist; use 0 (saturation) or 1 (infinities and NaN)", mode);
  }
  if (mode == 1 && !soc().inf_nan) {
    fail(Code::kFeatureUnsupported, "{} only saturates on overflow; INF/NAN mode needs an Ascend910B", soc().name);
  }
  state.overflow_mode.store(mode, std::memory_order_relaxed);
}

bool saturates(int device) {
  const int32_t mode = device_states[static_cast<size_t>(device)].overflow_mode.load(std::memory_order_relaxed);
  if (mode >= 0) [[likely]]
    return static_cast<OverflowMode>(mode) == OverflowMode::kSaturate;
  return !soc().inf_nan;
}

int64_t system_option(int option) {
  const size_t index = checked_option(option);
  if (const int device = bound_device(); device >= 0) {
    const DeviceState& state = device_states[static_cast<size_t>(device)];
    if (state.options_set.load(std::memory_order_acquire) >> index & 1u) {
      return state.options[index].load(std::memory_order_relaxed);
    }
  }
  return process_options[index].load(std::memory_order_relaxed);
}

void set_system_option(int option, int64_t value) {
  process_options[checked_option(option)].store(value, std::memory_order_relaxed);
}

void set_context_system_option(int option, int64_t value) {
  const size_t index = checked_option(option);
  DeviceState& state = device_states[static_cast<size_t>(current_device())];
  state.options[index].store(value, std::memory_order_relaxed);
  state.options_set.fetch_or(1u << index, std::memory_order_release);
}

uint64_t op_execute_timeout_us() { return execute_timeout.load(std::memory_order_relaxed); }
void set_op_execute_timeout_us(uint64_t microseconds) {
  execute_timeout.store(microseconds, std::memory_order_relaxed);
}

}  // namespace npu::device
