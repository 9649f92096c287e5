// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/difference/difference.h"

#include <gtest/gtest.h>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

TEST(Difference, WhatDiffersMostComesFirst) {
  Recorded a, b;
  a.task("Add", 0, 100);
  a.task("Mm", 100, 400);
  a.call("aclnnAdd", 0, 10, Level::kOperator);
  b.task("Add", 0, 80);
  b.task("Tanh", 80, 90);
  b.task("Mm", 90, 190);
  b.task("Mm", 190, 200);
  EXPECT_EQ(difference_page({a.trace}, {b.trace}),
            "B takes 0.200 ms, A 0.400 ms (-50.0 %); the device is busy 0.200 and 0.400 ms, with 4 and 2 operators\n"
            "\n"
            "OPERATORS                                count A   count B         A ms         B ms      B - A ms\n"
            "  Mm                                           1         2        0.300        0.110        -0.190\n"
            "  Add                                          1         1        0.100        0.080        -0.020\n"
            "  Tanh                                         0         1        0.000        0.010        +0.010\n"
            "\n"
            "CALLS OF THE HOST                        count A   count B         A ms         B ms      B - A ms\n"
            "  aclnnAdd                                     1         0        0.010        0.000        -0.010\n");
}

TEST(Difference, ByModule) {
  Recorded a, b;
  for (Recorded* run : {&a, &b}) run->module("net.body", 0), run->module("net.head", 50);
  a.task("Mm", 0, 10);
  b.task("Mm", 0, 40);
  for (Recorded* run : {&a, &b}) run->task("Mm", 60, 70);
  const std::string page = difference_page({a.trace}, {b.trace});
  EXPECT_NE(
      page.find("\nMODULES                                  count A   count B         A ms         B ms      B - A ms\n"
                "  net.body                                     1         1        0.010        0.040        +0.030\n"
                "  net.head                                     1         1        0.010        0.010        +0.000\n"),
      std::string::npos)
      << page;
}

TEST(Difference, OfNothing) {
  EXPECT_EQ(difference_page({}, {}),
            "B takes 0.000 ms, A 0.000 ms; the device is busy 0.000 and 0.000 ms, with 0 and 0 operators\n");
}

}  // namespace
}  // namespace npu::profile
