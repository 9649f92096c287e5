// SPDX-License-Identifier: Apache-2.0
// Reads what a file does when it is run.
#pragma once

#include "tools/migrate/names/evaluate.h"
#include "tools/migrate/names/program.h"

namespace npu::migrate {

/// Asks `names` of the file's own names only.
Program program_of(Evaluator& names);

/// The `if __name__ == "__main__":` of a file, or none.
Node main_guard(const Tree& tree);

}  // namespace npu::migrate
