// SPDX-License-Identifier: Apache-2.0
// The vendor's HCCL_* variables: each has values that make sense, also where nothing comes of it here. A typing error
// is told when a communicator is made, not after a run on cards.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace npu::comm {

/// Looks at variables through `get`, "" for one that is not set. Raises kParameter, "EI0001: <variable> is …; it is …",
/// for a value outside of its range. `strict`: the vendor's own ranges, on SoCs of `generation`, where ours are wider.
void check_variables(const std::function<std::string(std::string_view)>& get, bool strict, int generation);

/// The same for this process's environment and SoC; ANYNPU_HCCL_STRICT sets `strict`.
void check_variables();

/// Whether the list of HCCL_WHITELIST_FILE, where it is in force, has that address; this machine's own may always come.
bool may_take_part(const std::string& address);

}  // namespace npu::comm
