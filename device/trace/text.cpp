// SPDX-License-Identifier: Apache-2.0
#include "device/trace/text.h"

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

namespace npu::device::trace {
namespace {

struct Texts {
  std::mutex mutex;
  std::deque<std::string> all;  // elements stay where they are
  std::unordered_map<std::string_view, uint32_t> numbers;
};
// Never destroyed: streams may run tasks until the process is gone.
Texts& texts() {
  static Texts& instance = *new Texts;
  return instance;
}

}  // namespace

Text number_of_text(std::string_view text) {
  if (text.empty()) return {};
  const std::lock_guard lock(texts().mutex);
  if (const auto found = texts().numbers.find(text); found != texts().numbers.end()) return {found->second, false};
  const std::string& kept = texts().all.emplace_back(text);
  return {texts().numbers.emplace(kept, static_cast<uint32_t>(texts().all.size())).first->second, true};
}

const char* text_of(uint32_t number) {
  const std::lock_guard lock(texts().mutex);
  return number == 0 || number > texts().all.size() ? "" : texts().all[number - 1].c_str();
}

void for_each_text(const std::function<void(std::string_view)>& each) {
  const std::lock_guard lock(texts().mutex);
  for (const std::string& text : texts().all) each(text);
}

}  // namespace npu::device::trace
