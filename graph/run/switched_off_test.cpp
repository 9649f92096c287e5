// SPDX-License-Identifier: Apache-2.0
#include "graph/run/switched_off.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace npu::graph {
namespace {

template <class F>
std::string refused(F&& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(SwitchedOff, FusionsByNameBesideThoseOfTheClient) {
  PassOptions options;
  options.skip = {"elementwise"};
  switch_off_fusions(options, "layer_norm,TbeDxElemwisePass");
  EXPECT_EQ(options.skip, (std::vector<std::string>{"elementwise", "layer_norm", "conv_epilogue"}));
}

TEST(SwitchedOff, AllAreTheFusionsAndNoOtherPass) {
  PassOptions options;
  switch_off_fusions(options, "ALL");
  EXPECT_NE(std::ranges::find(options.skip, "attention"), options.skip.end());
  EXPECT_EQ(std::ranges::find(options.skip, "inline"), options.skip.end());
}

TEST(SwitchedOff, WhatIsNotThereIsNamed) {
  PassOptions options;
  const std::string text = refused([&] { switch_off_fusions(options, "inline"); });
  EXPECT_TRUE(text.starts_with("ANYNPU_FUSION_OFF: there is no fusion inline; there are ALL, trim_loops, ")) << text;
  EXPECT_EQ(refused([&] { keep_dtypes(options, "/nowhere"); }),
            "ANYNPU_KEEP_DTYPE is /nowhere: No such file or directory; name a file that can be read");
  EXPECT_EQ(refused([&] { keep_dtypes(options, "/proc"); }),
            "ANYNPU_KEEP_DTYPE is /proc: Is a directory; name a file that can be read");
}

}  // namespace
}  // namespace npu::graph
