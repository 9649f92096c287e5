// SPDX-License-Identifier: Apache-2.0
// What atc asks of the library.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tools/atc/flag.h"

namespace npu::atc {

struct Source {
  int framework = 0;
  std::string path;   ///< of the model
  std::string bytes;  ///< of the file
  std::string name;   ///< of what is made
};

/// The bytes of an .om; `line` hears what has no effect. Each raises an Error with the library's code and text.
std::string convert(const Source& source, const Flags& flags, const std::function<void(std::string)>& line);
/// The report of --mode=3: each operator and whether it can be converted.
std::string check(const Source& source, const Flags& flags);
/// The files of single operators that a JSON lists, one after the other.
void convert_operators(const std::string& json,
                       const std::function<void(const std::string& name, std::string_view bytes)>& file);
std::string json_of_om(const std::string& om, bool after_passes);
std::string facts_of_om(const std::string& om);

}  // namespace npu::atc
