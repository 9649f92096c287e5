// SPDX-License-Identifier: Apache-2.0
// Memory for what is on its way in a collective. A thread keeps what its collectives have used, for the next ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace npu::comm {

class Scratch {
 public:
  Scratch() = default;
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  /// Aligned to 64 bytes, of undefined content, there as long as this.
  std::byte* take(uint64_t bytes);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  struct Block {
    uint64_t bytes = 0;
    std::unique_ptr<std::byte, Free> memory;
  };
  static std::vector<Block>& kept();
  std::vector<Block> used_;
};

}  // namespace npu::comm
