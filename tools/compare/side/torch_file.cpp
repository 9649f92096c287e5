// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/side/torch_file.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

constexpr uint32_t kDirectory = 0x02014b50, kEntry = 0x04034b50;  // signatures of the archive's format
constexpr size_t kDirectorySize = 46, kEntrySize = 30;
constexpr std::string_view kData = "/data/0";

template <class T>
T number(Bytes file, size_t at) {
  T value{};
  if (at + sizeof value <= file.size()) std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

/// The place of the directory's entry for the elements, from the end of the file.
std::optional<size_t> directory_entry(Bytes file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (size_t at = text.rfind(kData); at != text.npos && at > 0; at = text.rfind(kData, at - 1)) {
    for (size_t begin = at; begin + 300 > at && begin-- > kDirectorySize - 1;) {  // names are shorter
      const size_t entry = begin + 1 - kDirectorySize;
      if (number<uint32_t>(file, entry) == kDirectory &&
          number<uint16_t>(file, entry + 28) == at + kData.size() - begin - 1)
        return entry;
    }
  }
  return std::nullopt;
}

}  // namespace

Bytes torch_elements(Bytes file, std::string_view name) {
  const auto entry = directory_entry(file);
  if (!entry) throw Refusal(Exit::kDamaged, fmt::format("{} holds no tensor of torch.save.", name));
  if (number<uint16_t>(file, *entry + 10) != 0)
    throw Refusal(Exit::kDamaged, fmt::format("{} is compressed, which torch.save does not do.", name));
  const uint64_t size = number<uint32_t>(file, *entry + 24), at = number<uint32_t>(file, *entry + 42);
  const uint64_t begin = at + kEntrySize + number<uint16_t>(file, at + 26) + number<uint16_t>(file, at + 28);
  if (number<uint32_t>(file, at) != kEntry || begin + size > file.size())
    throw Refusal(Exit::kDamaged, fmt::format("{} was not written to its end.", name));
  return file.subspan(begin, size);
}

}  // namespace npu::compare
