// SPDX-License-Identifier: Apache-2.0
// Training steps recorded by tests/recorded/record.py, with arguments and an iterator to run them on.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "graph/import/tensorflow/reader.h"
#include "graph/run/library.h"
#include "graph/value/value.h"

namespace npu::graph::tensorflow {

inline constexpr const char* kRecorded[] = {"cnn_adam", "lstm_sgd", "attention_rmsprop"};

inline std::string recorded_file(const std::string& name) {
  std::ifstream file("tests/recorded/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name << ": run the test in the root of the repository";
  return {std::istreambuf_iterator<char>(file), {}};
}

inline const Catalogue& recorded_operators() {
  static const std::string list = recorded_file("operators.pb");
  static const Catalogue catalogue{Bytes(list)};
  return catalogue;
}

/// The step's name in a program read from a recorded graph; empty when it has none.
inline std::string step_of(const Program& program) {
  for (const auto& [name, function] : program.functions)
    if (name.starts_with("__inference_train_function")) return name;
  return {};
}

/// What a recorded step is called with. Numbers come from a seed: classes and words below 10, weights below 0.1.
class RecordedFeed {
 public:
  explicit RecordedFeed(const std::string& model) {
    std::istringstream text(recorded_file(model + ".txt"));
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      Line one;
      std::string type;
      words >> one.what >> type;
      one.type = type == "float32" ? DType::kFloat : type == "int64" ? DType::kInt64 : DType::kInt32;
      for (int64_t size = 0; words >> size;) one.shape.push_back(size);
      lines_.push_back(one);
    }
  }

  /// An iterator stands for itself: an object that no node of ours knows.
  std::vector<Value> arguments() {
    std::vector<Value> out;
    for (const Line& line : lines_) {
      if (line.what == "feed") continue;
      Value value;
      if (line.what == "variable") {
        auto variable = std::make_shared<Variable>(0);
        variable->assign(numbers(line));
        value.object = variable;
      } else {
        value.object = std::make_shared<Iterator>();
      }
      out.push_back(value);
    }
    return out;
  }

  /// What the client would run: the iterator alone. Not for several threads at once.
  std::vector<Value> next(const Node& node) {
    if (node.op != "IteratorGetNext") fail(Code::kOpNotFound, "{} is not expected on the host", node.op);
    std::vector<Value> out;
    for (const Line& line : lines_)
      if (line.what == "feed") out.push_back(numbers(line));
    return out;
  }

 private:
  struct Line {
    std::string what;
    DType type = DType::kFloat;
    Dims shape;
  };
  struct Iterator final : Object {
    std::string traits() const override { return "iterator"; }
  };

  Value numbers(const Line& line) {
    Value value = make_value(0, line.type, line.shape);
    for (int64_t i = 0; i < value.tensor.count(); ++i) {
      const auto random = static_cast<int64_t>(engine_());
      if (line.type == DType::kFloat)
        value.tensor.as<float>()[i] = static_cast<float>(random % 1000) * 1e-4f;
      else if (line.type == DType::kInt64)
        value.tensor.as<int64_t>()[i] = random % 10;
      else
        value.tensor.as<int32_t>()[i] = static_cast<int32_t>(random % 10);
    }
    return value;
  }

  std::vector<Line> lines_;
  std::mt19937 engine_{7};
};

}  // namespace npu::graph::tensorflow
