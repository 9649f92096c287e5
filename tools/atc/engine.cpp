// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/engine.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "anynpu/model.h"
#include "base/error.h"

namespace npu::atc {
namespace {

/// Hears the two callbacks of a call.
struct Ear {
  std::string text;
  const std::function<void(std::string)>* line = nullptr;
};

void take_text(const void* bytes, size_t size, void* context) {
  static_cast<Ear*>(context)->text.assign(static_cast<const char*>(bytes), size);
}

void take_line(const void* bytes, size_t size, void* context) {
  const Ear& ear = *static_cast<const Ear*>(context);
  if (ear.line != nullptr && *ear.line) (*ear.line)({static_cast<const char*>(bytes), size});
}

/// Raises what the library refused, without the name of its function in front.
void check_code(aclError code) {
  if (code == ACL_SUCCESS) return;
  const char* reported = aclGetRecentErrMsg();
  std::string text = reported == nullptr ? "" : reported;
  if (text.starts_with('['))
    if (const size_t end = text.find("] "); end != text.npos) text.erase(0, end + 2);
  throw Error(static_cast<Code>(code), std::move(text));
}

std::vector<const char*> pointers(const Flags& flags) {
  std::vector<const char*> out;
  for (const auto& [name, value] : flags) out.insert(out.end(), {name.c_str(), value.c_str()});
  return out;
}

std::string folder_of(const std::string& path) {
  if (std::filesystem::is_directory(path)) return path;
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

}  // namespace

std::string convert(const Source& source, const Flags& flags, const std::function<void(std::string)>& line) {
  Ear ear{{}, &line};
  const std::vector<const char*> texts = pointers(flags);
  check_code(anynpu_model_convert(static_cast<anynpu_framework>(source.framework), source.bytes.data(),
                                  source.bytes.size(), source.name.c_str(), folder_of(source.path).c_str(),
                                  texts.data(), flags.size(), take_line, take_text, &ear));
  return std::move(ear.text);
}

std::string check(const Source& source, const Flags& flags) {
  Ear ear;
  const std::vector<const char*> texts = pointers(flags);
  check_code(anynpu_model_check(static_cast<anynpu_framework>(source.framework), source.bytes.data(),
                                source.bytes.size(), folder_of(source.path).c_str(), texts.data(), flags.size(),
                                take_text, &ear));
  return std::move(ear.text);
}

void convert_operators(const std::string& json,
                       const std::function<void(const std::string& name, std::string_view bytes)>& file) {
  // Exceptions do not cross the C interface: files are taken first, written afterwards.
  std::vector<std::pair<std::string, std::string>> files;
  const auto take = [](const char* name, const void* bytes, size_t size, void* context) {
    static_cast<decltype(files)*>(context)->emplace_back(name, std::string(static_cast<const char*>(bytes), size));
  };
  check_code(anynpu_singleop_convert(json.data(), json.size(), take, &files));
  for (const auto& [name, bytes] : files) file(name, bytes);
}

std::string json_of_om(const std::string& om, bool after_passes) {
  Ear ear;
  check_code(anynpu_model_json(om.data(), om.size(), after_passes ? 1 : 0, take_text, &ear));
  return std::move(ear.text);
}

std::string facts_of_om(const std::string& om) {
  Ear ear;
  check_code(anynpu_model_facts(om.data(), om.size(), take_text, &ear));
  return std::move(ear.text);
}

}  // namespace npu::atc
