// SPDX-License-Identifier: Apache-2.0
#include "adapters/pyacl/core/address.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace npu::pyacl {

bool mapped(const void* address, size_t bytes) {
  if (bytes == 0) return true;
  static const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kPages = 4096;  // asked for at a time
  unsigned char resident[kPages];
  const auto first = reinterpret_cast<uintptr_t>(address);
  if (first + bytes < first) return false;
  for (uintptr_t at = first / page * page; at < first + bytes; at += kPages * page) {
    const size_t length = std::min<size_t>(kPages * page, first + bytes - at);
    // ENOMEM is its word for "nothing there"; any other refusal says nothing about the address.
    if (mincore(reinterpret_cast<void*>(at), length, resident) != 0 && errno == ENOMEM) return false;
    if (at + kPages * page < at) break;
  }
  return true;
}

}  // namespace npu::pyacl
