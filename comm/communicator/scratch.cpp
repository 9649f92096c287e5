// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator/scratch.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "comm/core/fault.h"

namespace npu::comm {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kMostKept = uint64_t{64} << 20;  // bytes of a thread

}  // namespace

void Scratch::Free::operator()(std::byte* memory) const { std::free(memory); }

std::vector<Scratch::Block>& Scratch::kept() {
  thread_local std::vector<Block> blocks;
  return blocks;
}

std::byte* Scratch::take(uint64_t bytes) {
  const uint64_t asked = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  // One that is much larger is left for whom it fits.
  const auto found =
      std::ranges::find_if(kept(), [&](const Block& each) { return each.bytes >= asked && each.bytes <= 2 * asked; });
  if (found != kept().end()) {
    used_.push_back(std::move(*found));
    kept().erase(found);
  } else {
    Block made{asked, nullptr};
    made.memory.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, std::max(asked, kAlignment))));
    if (made.memory == nullptr)
      fault(Result::kMemory, "EI0007: there is no memory for {} bytes that come from other hosts", bytes);
    used_.push_back(std::move(made));
  }
  return used_.back().memory.get();
}

Scratch::~Scratch() {
  std::vector<Block>& all = kept();
  all.insert(all.end(), std::make_move_iterator(used_.begin()), std::make_move_iterator(used_.end()));
  uint64_t bytes = 0;
  for (const Block& each : all) bytes += each.bytes;
  while (bytes > kMostKept) {
    bytes -= all.front().bytes;
    all.erase(all.begin());
  }
}

}  // namespace npu::comm
