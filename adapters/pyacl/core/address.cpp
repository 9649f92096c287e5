// SPDX-License-Identifier: Apache-2.0
#include "adapters/pyacl/core/address.h"

#include <sys/mman.h>
#include <sys/uio.h>
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

bool readable(const void* address, size_t bytes) {
  if (!mapped(address, bytes)) return false;
  static const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kPages = 512;  // asked for at a time, a byte of each
  iovec pages[kPages];
  char taken[kPages];
  const auto first = reinterpret_cast<uintptr_t>(address);
  for (uintptr_t at = first; bytes > 0 && at < first + bytes;) {
    size_t count = 0;
    for (; count < kPages && at < first + bytes; ++count, at = at / page * page + page) {
      pages[count] = {reinterpret_cast<void*>(at), 1};
    }
    const iovec into = {taken, count};
    const ssize_t read = process_vm_readv(getpid(), &into, 1, pages, count, 0);
    if (read < 0 && errno != EFAULT) return true;  // not allowed here; what is mapped is mostly readable
    if (read != static_cast<ssize_t>(count)) return false;
  }
  return true;
}

}  // namespace npu::pyacl
