// SPDX-License-Identifier: Apache-2.0
#include "base/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <deque>
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

// A home for a value that is never destroyed; the address stays good.
template <class T>
const T* keep(T value) {
  static std::mutex& mutex = *new std::mutex;
  static std::deque<T>& values = *new std::deque<T>;
  std::lock_guard lock(mutex);
  return &values.emplace_back(std::move(value));
}

}  // namespace

template <class T>
Setting<T>::Setting(std::string_view variable, T default_value, std::string_view sentence)
    : variable_(variable), default_(keep(std::move(default_value))) {
  const SettingInfo info{variable, type_name(*default_), text_of(*default_), sentence};
  std::lock_guard lock(registry().mutex);
  if (registry().by_variable.emplace(variable, info).second) return;
  fmt::print(stderr, "setting {} is declared twice\n", variable);
  std::abort();
}

template <class T>
const T& Setting<T>::operator()() const {
  if (const T* value = value_.load(std::memory_order_acquire)) [[likely]]
    return *value;
  std::lock_guard lock(read_mutex());
  if (value_.load() == nullptr) value_.store(read(), std::memory_order_release);
  return *value_.load();
}

template <class T>
const T* Setting<T>::read() const {
  const char* text = std::getenv(std::string(variable_).c_str());
  if (text == nullptr || *text == '\0') return default_;
  if (const auto parsed = parse<T>(text)) return keep(*parsed);
  fmt::print(stderr, "anynpu: {}={} is not a valid {}; using the default {}\n", variable_, text, type_name(*default_),
             text_of(*default_));
  return default_;
}

template <class T>
void Setting<T>::override(T value) {
  value_.store(keep(std::move(value)), std::memory_order_release);
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

const SettingInfo* find_setting(std::string_view variable) {
  std::lock_guard lock(registry().mutex);
  const auto at = registry().by_variable.find(variable);
  return at == registry().by_variable.end() ? nullptr : &at->second;
}

std::string setting_text(std::string_view variable) {
  const char* text = std::getenv(std::string(variable).c_str());
  if (text != nullptr && *text != '\0') return text;
  const SettingInfo* setting = find_setting(variable);
  return setting == nullptr ? std::string() : setting->default_text;
}

}  // namespace npu
