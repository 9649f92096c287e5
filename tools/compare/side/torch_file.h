// SPDX-License-Identifier: Apache-2.0
// Files that torch.save writes of one tensor: an archive without compression, the elements in its entry "data/0".
#pragma once

#include <string_view>

#include "tools/compare/element/decode.h"

namespace npu::compare {

/// The elements, one after another: a part of `file`. Raises a Refusal that names the file for what is none.
Bytes torch_elements(Bytes file, std::string_view name);

}  // namespace npu::compare
