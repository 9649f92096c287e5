// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/exception_dump.h"

#include <cstdlib>

#include "base/error.h"
#include "graph/dump/record/dump_file.h"
#include "graph/dump/tensor/dump_fixture.h"
#include "ops/runner/runner.h"

namespace npu::graph {
namespace {

struct Failing final : ops::Operator {
  Tensor self;
  int64_t dim = -1;
  std::vector<int64_t> sizes{2, 3};
  ops::Operand other{{}, Scalar(0.5)};
  void prepare() override {}
  void run() override {
    self.as<float>()[0] = 0;  // it has begun to write
    fail(Code::kNnInvalidParam, "index 7 is out of range");
  }
};

TEST_F(DumpTest, WhatAFailedTaskReadAndItsParametersAreWritten) {
  setenv("ASCEND_WORK_PATH", path.c_str(), 1);
  dump_failures([this](const std::string& text) { told.push_back(text); });
  unsetenv("ASCEND_WORK_PATH");
  std::vector<float> x{1, 2};
  Failing op;
  op.self = make_tensor(x.data(), DType::kFloat, {2});
  const ops::OperatorDef def{"failing",
                             "test",
                             {ops::inout<&Failing::self>("self"), ops::attr<&Failing::dim>("dim"),
                              ops::attr<&Failing::sizes>("sizes"), ops::in<&Failing::other>("other")},
                             nullptr};
  op.def = &def;
  const auto name = [](const void*, device::TaskName& task) { task.node = task.type = "aclnnFailing"; };
  EXPECT_THROW(ops::run_on(1, op, {name, nullptr}), Error);
  Layer().run();  // and goes well
  stop_dump_of_failures();
  ASSERT_EQ(told.size(), 1u);
  const fs::path where = path / "extra-info/data-dump/1";
  std::vector<fs::path> files{fs::directory_iterator(where), {}};
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(files[0].filename().string().starts_with("Failing.aclnnFailing.")) << files[0];
  EXPECT_NE(told[0].find(files[0].string()), std::string::npos) << told[0];
  EXPECT_FALSE(fs::exists(path / "extra-info/data-dump/0"));
  const record::DumpFile file(files[0].string());
  ASSERT_EQ(file.data().inputs.size(), 1u);
  EXPECT_EQ(floats(file.blobs().inputs[0]), (std::vector<float>{1, 2}));
  const std::vector<record::DumpAttr> attrs{{"dim", "-1"},
                                            {"sizes", "[2, 3]"},
                                            {"other", "0.5"},
                                            {"error_code", "161002"},
                                            {"error", "index 7 is out of range"}};
  EXPECT_EQ(file.data().attrs, attrs);
}

}  // namespace
}  // namespace npu::graph
