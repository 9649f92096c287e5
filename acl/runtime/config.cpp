// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/config.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "acl/notice.h"
#include "acl/profiling/option.h"
#include "acl/runtime/dump_words.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_text.h"

namespace npu::acl {
namespace {

constexpr int kMaxDepth = 10;
constexpr size_t kMaxBytes = 10 << 20;

// Before parsing, because the parser recurses. Brackets inside strings count too; nobody writes eleven of them.
void check_depth(std::string_view text, const std::string& name) {
  int depth = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMaxDepth)
      fail(Code::kParseFile, "configPath {}: brackets are nested deeper than {}; flatten the file", name, kMaxDepth);
  }
}

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

int default_device(const Json& config, const std::string& name) {
  const Json* section = member(config, "defaultDevice");
  const Json* value = section == nullptr ? nullptr : member(*section, "default_device");
  if (value == nullptr) return -1;
  if (value->is_number_unsigned() && value->get<uint64_t>() <= INT32_MAX) return value->get<int>();
  int number = -1;
  if (value->is_string()) {
    const auto& text = value->as_string();
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && number >= 0) return number;
  }
  fail(Code::kInvalidParam, "configPath {}: default_device is {}; write a device number such as \"0\"", name,
       value->dump());
}

/// The program computes the same without it, so it runs.
void tell_unbuilt(const Json& config, const std::string& name) {
  const Json* section = member(config, "op_debug_config");
  const Json* value = section == nullptr ? nullptr : member(*section, "enable_debug_kernel");
  if (value == nullptr || *value != "on") return;
  tell_once(
      fmt::format("configPath {}: op_debug_config.enable_debug_kernel changes nothing, the memory given to a "
                  "function is always checked; ANYNPU_GUARD=1 also stops host code that touches device memory",
                  name));
}

}  // namespace

Config parse_config(const std::string& text, const std::string& name) {
  check_depth(text, name);
  const Json config = Json::try_parse(strict_json(text)).value_or(nullptr);
  if (!config.is_object())
    fail(Code::kParseFile, "configPath {} is not a JSON object; it must at least hold {{}}", name);
  tell_unbuilt(config, name);
  if (const Json* profiler = member(config, "profiler")) keep_profiler_section(*profiler, name);
  Config read{default_device(config, name)};
  if (const Json* dump = member(config, "dump")) {
    read.dump = parse_dump(*dump, name);
    read.dump_failures = parse_exception_dump(*dump, name);
  }
  return read;
}

Config read_config(const char* path) {
  const std::optional<std::string> text = whole_file(path);
  if (!text && errno == EISDIR)
    fail(Code::kInvalidFile, "configPath {} is a folder; pass a readable JSON file or null", path);
  if (!text)
    fail(Code::kInvalidFile, "configPath {}: {}; pass a readable JSON file or null", path, std::strerror(errno));
  if (text->size() > kMaxBytes)
    fail(Code::kInvalidFile, "configPath {} is no file of at most 10 MiB; pass a readable JSON file or null", path);
  return parse_config(*text, path);
}

}  // namespace npu::acl
