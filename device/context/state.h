// SPDX-License-Identifier: Apache-2.0
// Small switches of devices and of the process.
#pragma once

#include <cstdint>

namespace npu::device {

/// How float overflow behaves; the numbers are those of aclrtSetDeviceSatMode.
enum class OverflowMode : int32_t { kSaturate = 0, kInfNan = 1 };

/// Mode of `device`; kInfNan unless the SoC cannot.
OverflowMode overflow_mode(int device);
/// Raises 107000 for other numbers, 207000 when the SoC only saturates.
void set_overflow_mode(int device, int32_t mode);

/// Whether results on `device`, one that exists, are brought into their type's range now; asked for every operator.
bool saturates(int device);

/// Options of aclrtSetSysParamOpt: determinism 0, debug kernel 1, strong consistency 2.
inline constexpr int kSystemOptions = 16;
/// Value in force for the calling thread: that of its context when set there, else of the process, else 0.
/// Raises 107000 for options outside [0, kSystemOptions).
int64_t system_option(int option);
void set_system_option(int option, int64_t value);          ///< for the process
void set_context_system_option(int option, int64_t value);  ///< for the current context's device

/// Microseconds one operator may run. Kept and given back: kernels of a software device are not interrupted.
uint64_t op_execute_timeout_us();
void set_op_execute_timeout_us(uint64_t microseconds);

}  // namespace npu::device
