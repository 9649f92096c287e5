// SPDX-License-Identifier: Apache-2.0
// The part of tuning that looks at operators as they run and measures their kernels in all ways.
#pragma once

#include <memory>

#include "ops/operator.h"

namespace npu::ops::tuning {

class Session;

/// From now on operators that run are tuned for `session`, each when it has run for the first time, by the thread that
/// ran it; null ends it.
void watch_kernels(std::shared_ptr<Session> session);

/// Tunes one operator, which is prepared and of which nothing is changed: each question that its planning asks and that
/// `session` has not met. `name` and `type` are for reports.
void tune_kernels(Operator& op, Session& session, std::string_view name, std::string_view type);

}  // namespace npu::ops::tuning
