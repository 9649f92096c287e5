// SPDX-License-Identifier: Apache-2.0
#include "anynpu/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "acl/aclnn/row.h"
#include "anynpu/settings.h"
#include "ops/cube/choices.h"
#include "ops/operator.h"

namespace npu::acl {
namespace {

TEST(Registry, ShowsEveryOperatorByName) {
  std::vector<std::string> names;
  anynpu_each_operator(
      [](const anynpu_operator* op, void* context) {
        EXPECT_EQ(op->struct_size, sizeof(anynpu_operator));
        EXPECT_NE(std::string(op->fields), "") << op->name;
        static_cast<std::vector<std::string>*>(context)->emplace_back(op->name);
      },
      &names);
  EXPECT_EQ(names.size(), ops::all_operators().size());
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(Registry, EveryChoiceOfKernelsIsNamed) {
  size_t count = 0;
  anynpu_each_choice(
      [](const anynpu_choice* choice, void* context) {
        EXPECT_EQ(choice->struct_size, sizeof(anynpu_choice));
        EXPECT_EQ(std::string(choice->ways).find_first_not_of("ol"), std::string::npos) << choice->ways;
        EXPECT_TRUE(std::string_view(choice->shapes).starts_with("from ")) << choice->shapes;
        ++*static_cast<size_t*>(context);
      },
      &count);
  EXPECT_EQ(count, ops::cube::choices().size());
}

TEST(Registry, EveryFunctionCanBeCalled) {
  size_t count = 0;
  anynpu_each_function(
      [](const anynpu_function* function, void* context) {
        EXPECT_STREQ(function->problem, "") << function->name;
        ++*static_cast<size_t*>(context);
      },
      &count);
  EXPECT_EQ(count, all_rows().size());
}

TEST(Registry, SettingsShowTheValueInForce) {
  setenv("ASCEND_GLOBAL_LOG_LEVEL", "1", 1);
  std::string found;
  anynpu_each_setting(
      [](const anynpu_setting* setting, void* context) {
        if (std::string(setting->variable) != "ASCEND_GLOBAL_LOG_LEVEL") return;
        *static_cast<std::string*>(context) = std::string(setting->default_text) + ">" + setting->in_force;
      },
      &found);
  unsetenv("ASCEND_GLOBAL_LOG_LEVEL");
  EXPECT_EQ(found, "3>1");
}

TEST(Registry, OneVariableIsAskedByName) {
  unsetenv("NPU_ENABLE_PERF");
  EXPECT_STREQ(anynpu_setting_in_force("NPU_ENABLE_PERF"), "");
  setenv("NPU_ENABLE_PERF", "true", 1);
  EXPECT_STREQ(anynpu_setting_in_force("NPU_ENABLE_PERF"), "true");
  unsetenv("NPU_ENABLE_PERF");
  EXPECT_STREQ(anynpu_setting_in_force("ASCEND_GLOBAL_LOG_LEVEL"), "3");
  EXPECT_EQ(anynpu_setting_in_force("HOME"), nullptr);
}

}  // namespace
}  // namespace npu::acl
