// SPDX-License-Identifier: Apache-2.0
// How much memory a device may offer on this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/setting.h"

namespace npu::device {

/// "256M", "4G", "1.5GiB", "4096": bytes; K, M, G and T are powers of 1024. Nothing for other texts.
std::optional<size_t> parse_size(std::string_view text);

/// Bytes of memory the machine has, or the cgroup of this process is limited to.
uint64_t machine_memory();

/// What one device offers: ANYNPU_MEMORY, else min(profile, 80 % of machine_memory()). Raises 100000 for a setting that
/// is no size.
size_t device_capacity();
/// What all devices of the process together may use: 80 % of machine_memory(), without limit under ANYNPU_MEMORY.
size_t process_capacity();

namespace detail {
extern Setting<std::string> memory_setting;  // ANYNPU_MEMORY; read when a device is first used
}

}  // namespace npu::device
