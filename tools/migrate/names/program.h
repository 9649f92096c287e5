// SPDX-License-Identifier: Apache-2.0
// What a file does when it is run, as far as that tells where a program of TensorFlow begins.
#pragma once

#include <vector>

#include "tools/migrate/names/access_path.h"

namespace npu::migrate {

struct Program {
  bool guard = false;   ///< has an `if __name__ == "__main__":`
  bool trains = false;  ///< has calls that train, wherever they stand
  bool runs = false;    ///< trains, predicts or names a device where it is run: outside functions, or in one that is
                        ///< called there
  bool opens = false;   ///< opens an NPU itself
  bool tensorflow = false;          ///< imports TensorFlow …
  bool upon = false;                ///< … or a package that is made of it
  bool torch = false;               ///< imports PyTorch
  std::vector<AccessPath> modules;  ///< of the project, that it may import
};

}  // namespace npu::migrate
