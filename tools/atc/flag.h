// SPDX-License-Identifier: Apache-2.0
// The flags of atc: all that the vendor's has, and one of ours for SavedModels; each acting, or accepted with a line
// that says what it does here.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace npu::atc {

/// What a value may be.
enum class Value : unsigned char {
  kText,
  kTruth,   ///< true or false
  kSwitch,  ///< 0 or 1
  kNumber,
};

struct Flag {
  std::string_view name;
  std::string_view help;  ///< of one that acts; of others what it does here
  Value value = Value::kText;
  bool acts = true;
  std::string_view one_of = {};  ///< words, separated by blanks; "" for any
};

/// In the order of --help.
std::span<const Flag> all_flags();

using Flags = std::map<std::string, std::string>;

/// "--name=value" and "--name value". Raises E10001 and the like for what is no flag, or no value of it.
Flags read_flags(const std::vector<std::string>& arguments);

/// One line for each flag given that does not act.
std::vector<std::string> lines_of_idle(const Flags& flags);

std::string help();

}  // namespace npu::atc
