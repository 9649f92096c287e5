// SPDX-License-Identifier: Apache-2.0
// What a module shows to others.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tools/migrate/names/name_set.h"
#include "tools/migrate/names/value.h"

namespace npu::migrate {

template <class Content>
using ByPath = std::unordered_map<AccessPath, Content, StepsHash, StepsEqual>;

/// Keys of `names`: x a variable, f() what calling f returns, f()[0] the first of what it returns at once, C().x an
/// attribute of C's objects or of C itself, an entry of a dictionary. What is known to be nothing of interest is left
/// out.
struct Exports {
  AccessPath module;  ///< package.name
  ByPath<Values> names;
  ByPath<std::vector<Value>> bases;      ///< of classes, by qualified name
  NameSet defined;                       ///< functions, classes and methods: f, C.method
  NameSet bound;                         ///< other names: x, C.attribute
  ByPath<std::vector<Word>> parameters;  ///< of f, C.method; methods without self
  std::vector<Value> stars;              ///< modules imported by *
  bool tensorflow = false;               ///< it speaks of TensorFlow
};

}  // namespace npu::migrate
