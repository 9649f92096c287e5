// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/rule/pending.h"

#include <gtest/gtest.h>

namespace npu::migrate {
namespace {

std::string warned(std::string_view text, std::string message) {
  const PendingNames names("# comment\nnpu.train\tlater\nwrap_it\tmuch later\n");
  names.warn(text, message);
  names.warn(text, message);  // a row has several edits
  return message;
}

TEST(PendingNames, AreToldOnceAtTheEnd) {
  EXPECT_EQ(warned("npu.train.optimizer.X(", "use it"),
            "use it; this release of npu_device has no `npu.train` yet: training stops there");
  EXPECT_EQ(warned("wrap_it(", ""), "this release of npu_device has no `wrap_it` yet: training stops there");
}

TEST(PendingNames, AreWholeWords) { EXPECT_EQ(warned("npu.trainer(unwrap_it, wrap_items)", "use it"), "use it"); }

}  // namespace
}  // namespace npu::migrate
