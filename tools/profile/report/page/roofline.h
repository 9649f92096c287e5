// SPDX-License-Identifier: Apache-2.0
// Operators under the roofs of a chip, as a picture: operations a byte to the right, operations a second upwards, both
// by powers of ten.
#pragma once

#include "tools/profile/report/model/modelled.h"

namespace npu::profile {

/// One picture a chip, of types that compute; "" where none does.
std::string rooflines_of(const Modelled& model);

}  // namespace npu::profile
