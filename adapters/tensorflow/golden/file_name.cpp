// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/file_name.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace npu::tensorflow::golden {

FileName file_name(std::string_view node, int64_t output, uint64_t microseconds) {
  constexpr std::string_view kNotInNames = "/\\. ", kEnding = ".npy";
  std::string name(node);
  std::ranges::replace_if(name, [&](char c) { return kNotInNames.find(c) != kNotInNames.npos; }, '_');
  const std::string time = std::to_string(microseconds);
  name += "." + std::to_string(output) + "." + time + std::string(kEnding);
  if (name.size() <= kLongestName) return {std::move(name), ""};
  std::string number = time + std::string(kEnding);  // no two have the same time
  std::string line = number + "," + name + "\n";
  return {std::move(number), std::move(line)};
}

uint64_t unique_now() {
  static std::atomic<uint64_t> last{0};
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto now = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
  uint64_t before = last.load(), next = 0;
  do next = std::max(now, before + 1);
  while (!last.compare_exchange_weak(before, next));
  return next;
}

}  // namespace npu::tensorflow::golden
