// SPDX-License-Identifier: Apache-2.0
// The session of tuning that is under way in this process, if any.
#pragma once

#include <filesystem>
#include <memory>

#include "ops/tuner/session.h"

namespace npu::ops::tuning {

/// Begins a session. Raises 100000 where one is under way, or the work path is no folder that can be written.
void begin(Job job, Scope scope, std::filesystem::path work_path);
/// Ends it; also done when the process ends. Without one nothing happens.
void end();
/// The one under way; null without.
std::shared_ptr<Session> session();
/// The same if it is of this job.
std::shared_ptr<Session> session(Job job);

}  // namespace npu::ops::tuning
