// SPDX-License-Identifier: Apache-2.0
// The importer of each framework, by the number that atc gives it.
#pragma once

#include <filesystem>
#include <string_view>

#include "graph/convert/request.h"
#include "graph/import/imported.h"

namespace npu::graph::convert {

/// Reads a model. Raises E10001 for a number of no framework, 207000 with the way out for those that are not built.
Imported import_model(int framework, std::string_view bytes, const Request& request,
                      const std::filesystem::path& folder);

}  // namespace npu::graph::convert
