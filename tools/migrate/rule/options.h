// SPDX-License-Identifier: Apache-2.0
// What a run is asked for.
#pragma once

#include <set>
#include <string>

namespace npu::migrate {

struct Options {
  std::set<std::string> features;  ///< "tf2", "compat", "horovod", "main-file" …
  std::string main;                ///< the entry file, below the input; "" where none is named
  /// All files of the project are there: which of them are programs is read from them, and who runs with the NPU open.
  bool whole = false;
  bool alone = false;           ///< there is no other file: where none is named, the program begins in this one
  std::string model = "model";  ///< "distributed": the variable that holds the model
};

}  // namespace npu::migrate
