// SPDX-License-Identifier: Apache-2.0
// What a file does when it is run, as far as that tells where a program of TensorFlow begins.
#pragma once

#include <string>
#include <vector>

#include "tools/migrate/text/tree.h"

namespace npu::migrate {

class Evaluator;

struct Program {
  bool guard = false;   ///< has an `if __name__ == "__main__":`
  bool trains = false;  ///< has calls that train, wherever they stand
  bool runs = false;    ///< trains, predicts or names a device where it is run: outside functions, or in one that is
                        ///< called there
  bool opens = false;   ///< opens an NPU itself
  bool tensorflow = false;           ///< imports TensorFlow …
  bool upon = false;                 ///< … or a package that is made of it
  bool torch = false;                ///< imports PyTorch
  std::vector<std::string> modules;  ///< of the project, that it may import: ":a.b"
};

/// Asks `names` of the file's own names only.
Program program_of(Evaluator& names);

/// The `if __name__ == "__main__":` of a file, or none.
Node main_guard(const Tree& tree);

}  // namespace npu::migrate
