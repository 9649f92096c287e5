// SPDX-License-Identifier: Apache-2.0
// One file under the rules, as steps and coded rules see it: what stands there, what is edited, what is reported.
#pragma once

#include <string>
#include <utility>

#include "tools/migrate/migration/ledger.h"
#include "tools/migrate/migration/rewriter.h"
#include "tools/migrate/migration/script.h"

namespace npu::migrate {

struct Migration {
  /// `packed`: the file's tree, where one was kept.
  Migration(const Source& source, const PackedTree* packed, const Project& project, std::string path, int32_t file,
            const Options& options, ProgramMap::Part part)
      : script(source, packed, project, std::move(path), file, options, part), ledger(script.tree()) {}

  Script script;
  Rewriter rewriter;
  Ledger ledger;

  /// Whether it opens an NPU, as it comes out.
  bool opens() const;
  /// Whether names of NPUs are known where it runs: where it should open one and cannot, they are not.
  bool runs_open() const;
};

}  // namespace npu::migrate
