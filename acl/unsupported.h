// SPDX-License-Identifier: Apache-2.0
// Names that clients link but whose feature is not built: they stand in acl/unsupported.tsv, refuse with 207000 and a
// text, and are listed by `anynpu doctor`.
#pragma once

#include <span>

namespace npu::acl {

struct UnsupportedFeature {
  const char* name;     ///< the C function
  const char* feature;  ///< what it belongs to
  const char* text;     ///< why not, and what to do
};

/// All of them, sorted by name (generated).
std::span<const UnsupportedFeature> unsupported_features();

/// The body of such a function: keeps the text for aclGetRecentErrMsg and returns 207000. The first call for a feature
/// also tells it on stderr.
int refuse_unsupported(const UnsupportedFeature& feature) noexcept;

}  // namespace npu::acl
