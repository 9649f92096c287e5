// SPDX-License-Identifier: Apache-2.0
// How many cores this process may take for its kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu {

/// Cores that this process may run on.
size_t usable_cores();

/// Those it should take: all of them, or its part where torchrun or mpirun has started several ranks on this host and
/// has bound none of them to cores of its own.
size_t core_share();

namespace detail {
/// `usable` of the `all` cores that nobody has been bound to, of `ranks` (0: not known) on this host.
size_t core_share(size_t usable, size_t all, int64_t ranks);
}  // namespace detail

}  // namespace npu
