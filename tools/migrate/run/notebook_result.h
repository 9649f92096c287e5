// SPDX-License-Identifier: Apache-2.0
// What became of the Python of a notebook, as what became of the notebook.
#pragma once

#include "tools/migrate/migration/change.h"
#include "tools/migrate/text/notebook.h"

namespace npu::migrate {

/// Texts and lines are those of the file; rows say in their words which cell and which line of it they mean.
FileResult in_notebook(const Notebook& notebook, FileResult&& python);

}  // namespace npu::migrate
