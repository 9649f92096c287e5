// SPDX-License-Identifier: Apache-2.0
// Every knob is declared once, where it is used: type, environment variable, default, one sentence. The declaration
// makes a reader function; `anynpu settings` and docs/settings.md list the registry. A variable declared twice fails
// the house tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npu {

struct SettingInfo {
  std::string_view variable;  ///< environment variable
  std::string_view type;      ///< "integer", "number", "switch", "text"
  std::string default_text;
  std::string_view sentence;  ///< what it does, units included
};

/// All settings of the process, sorted by variable.
std::vector<SettingInfo> settings();
/// The setting of this variable, kept for ever; null when none is declared.
const SettingInfo* find_setting(std::string_view variable);
/// The text in force: the environment's, else the default.
std::string setting_text(std::string_view variable);

/// A setting, read from the environment at its first use. A value that does not parse is reported once on stderr
/// (variable, text, what is expected) and the default is used.
template <class T>
class Setting {
 public:
  Setting(std::string_view variable, T default_value, std::string_view sentence);
  const T& operator()() const;
  /// For tests: overrides the value for the rest of the process.
  void override(T value);
  /// For tests: the next use reads the environment again.
  void reload() { value_.store(nullptr); }

 private:
  const T* read() const;

  // The values live for ever, elsewhere: threads may still ask while the process exits.
  std::string_view variable_;
  const T* default_;
  mutable std::atomic<const T*> value_{nullptr};
};

extern template class Setting<int64_t>;
extern template class Setting<double>;
extern template class Setting<bool>;
extern template class Setting<std::string>;

}  // namespace npu

#define NPU_SETTING(type, name, variable, default_value, sentence) \
  ::npu::Setting<type> name(variable, default_value, sentence)
