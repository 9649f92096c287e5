// SPDX-License-Identifier: Apache-2.0
// What clients mark in their time lines: moments and ranges of their threads, and of streams, whose marks are made when
// the stream comes to them. Nothing is kept while nobody records.
#pragma once

#include <cstdint>
#include <string_view>

#include "acl/include/acl/acl_base.h"
#include "device/trace/module.h"
#include "device/trace/record.h"

namespace npu::acl {

struct MarkedText {
  std::string_view text, domain = {};
  device::trace::Mark kind = device::trace::Mark::kRange;
};

/// `stream` null: on the host alone. Raises 107003 for what is no stream.
void mark_moment(const MarkedText& marked, aclrtStream stream);
/// The number of a range that begins; never 0. Raises 107003 for what is no stream.
uint64_t begin_range(const MarkedText& marked, aclrtStream stream);
/// False for a number of no open range: it was ended before, never given out, or began while nobody recorded.
bool end_range(uint64_t number);

/// A step of training, of which only the stream's time counts. Raises 107003 for what is no stream.
void mark_step(bool ends, uint64_t step, aclrtStream stream);

/// From now on this thread works for `path` (device/trace/module.h).
void mark_module(std::string_view path, device::trace::Phase phase);

}  // namespace npu::acl
