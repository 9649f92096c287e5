// SPDX-License-Identifier: Apache-2.0
// torch keeps the names of all devices' allocator options in one set and ends the process when a name comes twice. Its
// CUDA build enters its own, and torch-npu from 2.13.0 the same ones. tools/anynpu/library/cuda_build.py opens this
// library for everybody just before torch-npu is, whose names then go into a set of their own.
#include <string>
#include <unordered_set>

namespace c10::CachingAllocator {

struct AcceleratorAllocatorConfig {
  [[gnu::visibility("default")]] static std::unordered_set<std::string>& getMutableKeys();
};

std::unordered_set<std::string>& AcceleratorAllocatorConfig::getMutableKeys() {
  static auto* const keys = new std::unordered_set<std::string>;  // torch's, too, outlives the process's libraries
  return *keys;
}

}  // namespace c10::CachingAllocator
