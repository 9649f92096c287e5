// SPDX-License-Identifier: Apache-2.0
// Runs for tests: operators whose tensors are dump files in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/half.h"
#include "graph/dump/record/format.h"
#include "tools/compare/side/run.h"

namespace npu::compare {

constexpr int32_t kFloat = 1, kHalf = 2, kWhole = 3, kBFloat16 = 27;
using Values = std::vector<float>;

class SampleRuns : public testing::Test {
 protected:
  using Run = npu::compare::Run;  // not the test's own
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Port port(const std::string& label, const Values& values, int32_t type = kFloat, const std::string& maker = "") {
    namespace record = graph::record;
    record::DumpTensor facts;
    facts.data_type = type, facts.format = record::kNd, facts.shape = facts.original_shape = {values.size()};
    std::string elements;
    for (const float value : values) {
      if (type == kFloat) put(elements, value);
      if (type == kHalf) put(elements, Half::from_float(value));
      if (type == kBFloat16) put(elements, BFloat16::from_float(value));
      if (type == kWhole) put(elements, static_cast<int32_t>(value));
    }
    facts.size = elements.size();
    if (type == kWhole) facts.data_type = 7;
    record::DumpData data;
    data.outputs = {facts};
    const std::string path = folder_ / std::to_string(files_++);
    std::ofstream(path, std::ios::binary) << record::encode_header(data) << elements;
    return {label, maker, 0, facts.shape, facts.data_type, Source{path, false, 0}, std::nullopt};
  }

  Operator op(const std::string& name, const std::string& type, std::vector<Port> inputs, Port output) {
    Operator made;
    made.name = name, made.type = type, made.ran = true;
    made.inputs = std::move(inputs), made.outputs = {std::move(output)};
    return made;
  }

  static Values changed(Values values, const std::function<float(float)>& change) {
    for (float& value : values) value = change(value);
    return values;
  }

  /// Elements of both signs, of sizes around 1.
  static Values some(size_t count, float first = 0.3f) {
    Values values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = (i % 3 == 0 ? -1.0f : 1.0f) * (first + static_cast<float>(i % 11) * 0.17f);
    return values;
  }

 private:
  template <class T>
  static void put(std::string& to, T value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("anynpu_runs_" + std::to_string(getpid()));
  size_t files_ = 0;
};

}  // namespace npu::compare
