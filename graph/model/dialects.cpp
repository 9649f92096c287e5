// SPDX-License-Identifier: Apache-2.0
#include "graph/model/dialects.h"

#include <array>

#include "base/error.h"
#include "graph/import/tensorflow/dialect.h"

namespace npu::graph::model {
namespace {

struct Named {
  std::string_view name;
  const Dialect& (*dialect)();
};

constexpr std::array kDialects = {Named{"tensorflow", tensorflow::dialect}};

}  // namespace

std::string_view name_of_dialect(const Dialect& dialect) {
  for (const Named& one : kDialects)
    if (&one.dialect() == &dialect) return one.name;
  fail(Code::kInternal, "a function is in the words of no importer");
}

const Dialect& dialect_named(std::string_view name) {
  for (const Named& one : kDialects)
    if (one.name == name) return one.dialect();
  fail(Code::kParseFile, "its functions are in the words of {}, which this library does not know", name);
}

}  // namespace npu::graph::model
