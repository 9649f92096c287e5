// SPDX-License-Identifier: Apache-2.0
// Words the tests of this room share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "device/queue/stream.h"

namespace npu::device {

/// The settings of launches at their defaults, whatever the environment says, for tests that see where a task runs.
struct DefaultLaunches {
  DefaultLaunches() {
    detail::inline_kernels.override(true);
    detail::launch_blocking.override(false);
  }
};

/// Code and text of the Error that `f` raises; code 0 when it raises none.
struct Raised {
  Code code = Code::kOk;
  std::string text;
};
template <class F>
Raised raised(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.code(), error.message()};
  }
  return {};
}

}  // namespace npu::device

/// `statement` raises Error(code) whose text holds `part`.
#define EXPECT_ERROR(statement, wanted_code, part)                                                      \
  do {                                                                                                  \
    const auto raised_error = ::npu::device::raised([&] { statement; });                                \
    EXPECT_EQ(static_cast<int>(raised_error.code), static_cast<int>(wanted_code)) << raised_error.text; \
    EXPECT_NE(raised_error.text.find(part), std::string::npos) << raised_error.text;                    \
  } while (0)
