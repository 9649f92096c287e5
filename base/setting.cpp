// SPDX-License-Identifier: Apache-2.0
#include "base/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

namespace npu {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string_view, SettingInfo> by_variable;
};

// Filled by static initialisers of every room; never destroyed.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

std::string_view type_name(int64_t) { return "integer"; }
std::string_view type_name(double) { return "number"; }
std::string_view type_name(bool) { return "switch"; }
std::string_view type_name(const std::string&) { return "text"; }

std::string text_of(bool value) { return value ? "1" : "0"; }
std::string text_of(const std::string& value) { return value; }
template <class T>
std::string text_of(T value) {
  return fmt::format("{}", value);
}

template <class T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}
template <>
std::optional<bool> parse(std::string_view text) {
  if (text == "1" || text == "true" || text == "on") return true;
  if (text == "0" || text == "false" || text == "off") return false;
  return std::nullopt;
}
template <>
std::optional<std::string> parse(std::string_view text) {
  return std::string(text);
}

std::mutex& read_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

}  // namespace

template <class T>
Setting<T>::Setting(std::string_view variable, T default_value, std::string_view sentence)
    : variable_(variable), default_(std::move(default_value)) {
  const SettingInfo info{variable, type_name(default_), text_of(default_), sentence};
  std::lock_guard lock(registry().mutex);
  if (registry().by_variable.emplace(variable, info).second) return;
  fmt::print(stderr, "setting {} is declared twice\n", variable);
  std::abort();
}

template <class T>
const T& Setting<T>::operator()() const {
  if (__atomic_load_n(&state_, __ATOMIC_ACQUIRE) != 0) return value_;
  std::lock_guard lock(read_mutex());
  if (state_ != 0) return value_;
  value_ = default_;
  const char* text = std::getenv(std::string(variable_).c_str());
  if (text != nullptr && *text != '\0') {
    if (const auto parsed = parse<T>(text)) {
      value_ = *parsed;
    } else {
      fmt::print(stderr, "anynpu: {}={} is not a valid {}; using the default {}\n", variable_, text,
                 type_name(default_), text_of(default_));
    }
  }
  __atomic_store_n(&state_, 1, __ATOMIC_RELEASE);
  return value_;
}

template <class T>
void Setting<T>::override(T value) {
  std::lock_guard lock(read_mutex());
  value_ = std::move(value);
  __atomic_store_n(&state_, 1, __ATOMIC_RELEASE);
}

template class Setting<int64_t>;
template class Setting<double>;
template class Setting<bool>;
template class Setting<std::string>;

std::vector<SettingInfo> settings() {
  std::lock_guard lock(registry().mutex);
  std::vector<SettingInfo> out;
  for (const auto& [variable, info] : registry().by_variable) out.push_back(info);
  return out;
}

std::string setting_text(std::string_view variable) {
  const char* text = std::getenv(std::string(variable).c_str());
  if (text != nullptr && *text != '\0') return text;
  std::lock_guard lock(registry().mutex);
  const auto at = registry().by_variable.find(variable);
  return at == registry().by_variable.end() ? std::string() : at->second.default_text;
}

}  // namespace npu
