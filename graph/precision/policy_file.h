// SPDX-License-Identifier: Apache-2.0
// The lists of mixed precision that a user edits in the installed files of operator information, as the vendor's guides
// describe: <opp>/built-in/op_impl/ai_core/tbe/config/<soc>/aic-<soc>-ops-info.json, of the SoC in force and of its
// family.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "device/process/soc.h"
#include "graph/precision/list.h"

namespace npu::graph {

struct EditedLists {
  std::map<std::string_view, List> lists;  ///< of operators of TensorFlow that precision.tsv has on another list
  std::string file;                        ///< the last file that has such
};

/// The files' differences from precision.tsv; where both differ, the SoC's own decides. Raises 161002 for a file that
/// is no such JSON.
EditedLists edited_lists();

namespace detail {
/// Of the files below `config` for an SoC.
EditedLists edited_lists(const std::string& config, const device::Soc& soc);
}  // namespace detail

}  // namespace npu::graph
