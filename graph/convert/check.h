// SPDX-License-Identifier: Apache-2.0
// What stands in the way of a conversion, operator by operator: atc --mode=3.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "graph/convert/request.h"
#include "graph/import/imported.h"

namespace npu::graph::convert {

/// The report as JSON (acl/include/anynpu/model.h). Raises E10001 for a framework that there is not.
std::string check(int framework, std::string_view bytes, const Request& request, const std::filesystem::path& folder);
/// The same of what an importer read.
std::string check(Imported imported, const Request& request);

}  // namespace npu::graph::convert
