// SPDX-License-Identifier: Apache-2.0
// Tuning of a whole process, asked for beside the program by AOE_MODE.
#pragma once

namespace npu::acl {

/// A device is used from now on: begins what AOE_MODE asks for, once, unless the program has begun tuning itself.
void tune_as_asked();

/// Raises 100000 for what is no job of tuning, and 207000 for one that is not built.
void check_job(int job);

}  // namespace npu::acl
