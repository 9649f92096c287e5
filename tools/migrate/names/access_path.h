// SPDX-License-Identifier: Apache-2.0
// The way from where a name begins to what is meant: attributes, calls, elements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/migrate/names/word.h"

namespace npu::migrate {

struct Step {
  enum class How : uint8_t {
    kAttribute,   ///< `name` of it; of a module, what stands in it
    kCall,        ///< what calling it gives
    kElement,     ///< one of what it holds
    kPlace,       ///< of what it gives at once, the one at place `number`
    kLocal,       ///< a definition inside a function, by the `number` of its node: nobody else can name it
    kDictionary,  ///< a dictionary of a module, by the `number` of its node
    kEntry        ///< what a dictionary has for the key `name`
  };
  How how = How::kAttribute;
  uint32_t number = 0;
  Word name;
  bool operator==(const Step&) const = default;

  static Step attribute(std::string_view name) { return {How::kAttribute, 0, Word(name)}; }
  static Step call() { return {How::kCall, 0, Word()}; }
  static Step element() { return {How::kElement, 0, Word()}; }
  static Step place(size_t number) { return {How::kPlace, static_cast<uint32_t>(number), Word()}; }
  static Step local(uint32_t node) { return {How::kLocal, node, Word()}; }
  static Step dictionary(uint32_t node) { return {How::kDictionary, node, Word()}; }
  static Step entry(std::string_view key) { return {How::kEntry, 0, Word(key)}; }
  /// Whether it leads to another thing that has a name or a number of its own, not to what a thing gives or holds.
  bool names() const { return how != How::kCall && how != How::kElement && how != How::kPlace; }
};

using Steps = std::span<const Step>;
using AccessPath = std::vector<Step>;

/// "a.b.c": attributes alone.
AccessPath dotted(std::string_view text);
/// "a.b().c[]": attributes, calls and elements, as tables and rules spell them.
AccessPath spelled_path(std::string_view text);
/// One way, then the other.
AccessPath joined(Steps first, Steps then);
/// The first step with the calls and elements of what it names.
size_t first_part(Steps steps);
/// The first `count` steps, if they name something by themselves: what follows is no call or element of it.
inline bool parts_at(Steps steps, size_t count) { return count == steps.size() || steps[count].names(); }

/// As rules and reports spell it; `begins`: nothing stands before it.
void spell(Steps steps, bool begins, std::string& out);
size_t spelled_size(Steps steps, bool begins);

size_t hash_of(const Step& step);
size_t hash_of(Steps steps);

struct StepHash {
  size_t operator()(const Step& step) const { return hash_of(step); }
};
/// For maps and sets of paths, asked by any steps.
struct StepsHash {
  using is_transparent = void;
  size_t operator()(Steps steps) const { return hash_of(steps); }
};
struct StepsEqual {
  using is_transparent = void;
  bool operator()(Steps a, Steps b) const;
};

}  // namespace npu::migrate
