// SPDX-License-Identifier: Apache-2.0
// A JSON text as it stands: every value with its bytes, so that one can be changed and no other byte moves.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npu::migrate {

struct Json {
  enum class Kind { kObject, kList, kString, kOther };
  Kind kind = Kind::kOther;
  size_t begin = 0, end = 0;                          ///< its bytes; of a string with the quotation marks
  std::vector<std::pair<std::string, Json>> members;  ///< of an object, in their order
  std::vector<Json> items;                            ///< of a list

  /// The member of this name, or null.
  const Json* member(std::string_view name) const;
};

/// Refuses what is no JSON, by `path`, with the line of the first mistake.
Json parse_json(const std::string& path, std::string_view text);

/// What a string of JSON says, and for each of its bytes, and for its end, where in the JSON it stands.
struct JsonText {
  std::string text;
  std::vector<size_t> places;
};
JsonText read_string(std::string_view json, const Json& string);

/// `text` as it stands between the quotation marks; `ascii`: with escapes for all that is not.
std::string json_escaped(std::string_view text, bool ascii);

}  // namespace npu::migrate
