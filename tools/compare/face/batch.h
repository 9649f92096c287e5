// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/compare/face/network_request.h"

namespace npu::compare {

/// Compares each model that a folder of graphs knows: my dump is the folder of a time, below it
/// device/model name/model id/step, of which the last step is taken.
int compare_batch(const NetworkRequest& request);

}  // namespace npu::compare
