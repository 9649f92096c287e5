// SPDX-License-Identifier: Apache-2.0
// What a compiled function depends on: all of it is in the name under which it is kept, so that nothing kept is ever
// out of date.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/ir/function.h"
#include "graph/model/digest.h"
#include "graph/passes/pass.h"

namespace npu::graph::cache {

struct Key {
  /// What it was made of, a line each: "build: …", "function: …". The first line names the form of the text.
  std::string text;
  /// 32 digits: of the text.
  std::string name() const { return model::digest_of(text).text(); }
};

/// Of `function` as it comes, with all functions that it reaches, and what passes go by.
Key key_of(const Function& function, const Program& program, const PassOptions& options);

/// The functions that `function` reaches, by calls and through the parts of fused nodes, itself left out, in order of
/// their names. Those that are not in the program are left out.
std::vector<std::shared_ptr<Function>> reached_from(const Function& function, const Program& program);

/// Which compiler this is: digits that differ between any two builds of the library.
const std::string& build();
/// Which CPU it compiles for.
std::string cpu();

}  // namespace npu::graph::cache
