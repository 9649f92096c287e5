// SPDX-License-Identifier: Apache-2.0
// The command lines of the tool. Each gives the exit code: 0 all is well, 1 some files failed, 2 wrong usage.
#pragma once

#include <string>
#include <vector>

namespace npu::migrate {

/// `arguments` without the program's name.
using Face = int (*)(std::vector<std::string> arguments);

int migrate_face(std::vector<std::string> arguments);     ///< anynpu migrate
int tensorflow_face(std::vector<std::string> arguments);  ///< convert_tf2npu
/// convert_tf2npu of the vendor's package for TensorFlow 1: what it is given are scripts of TensorFlow 1, and they go
/// beside the reports.
int tensorflow1_face(std::vector<std::string> arguments);
int torch_face(std::vector<std::string> arguments);  ///< ms_fmk_transplt

/// Chooses by the name the program was called by, else by the first argument, and turns what is raised into a message
/// on stderr and the exit code.
int dispatch(const std::string& called, std::vector<std::string> arguments);

}  // namespace npu::migrate
