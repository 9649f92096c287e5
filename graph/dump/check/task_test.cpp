// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/check/task.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"
#include "ops/runner/runner.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;
using Floats = std::vector<float>;

void name_it(const void* name, device::TaskName& task) { task.node = task.type = static_cast<const char*>(name); }

Floats floats_of(const Blob& blob) {
  Floats out(blob.size / sizeof(float));
  std::memcpy(out.data(), blob.bytes.get(), blob.size);
  return out;
}

Task copy_of(const Task& from) {
  Task task{from.text, {}};
  for (const Blob& blob : from.blobs)
    std::memcpy(task.blobs.emplace_back(blob.size).bytes.get(), blob.bytes.get(), blob.size);
  return task;
}

/// `side` of a tensor of `task`.
Floats elements(const Task& task, size_t tensor, const char* side) {
  return floats_of(task.blobs.at(Json::parse(task.text).at("tensors").at(tensor).at(side).get<size_t>()));
}

class Tasks : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tasksXXXXXX").string();
    folder = mkdtemp(name.data());
    watch(1);
  }
  void TearDown() override {
    watch_tasks({}, 1);
    fs::remove_all(folder);
  }
  void watch(int64_t every) {
    watch_tasks([this](const Task& task) { told.push_back(copy_of(task)); }, every);
  }
  static void multiply(const Tensor& x, double by, const Tensor& out) {
    auto op = ops::create(*ops::find_operator("mul"));
    op->def->field("self")->of<ops::Operand>(*op) = {x, {}};
    op->def->field("other")->of<ops::Operand>(*op) = {{}, Scalar(by)};
    op->def->field("out")->of<Tensor>(*op) = out;
    op->prepare();
    ops::run_on(0, *op, {name_it, "aclnnMuls"});
  }
  /// 3 times {1, 2}, in place.
  const Task& tripled() {
    Floats x{1, 2};
    const Tensor tensor = make_tensor(x.data(), DType::kFloat, {2});
    multiply(tensor, 3, tensor);
    return told.back();
  }
  std::string saved(const Task& task) {
    save_task(task, path("case"), R"({"text": "off"})");
    return path("case");
  }
  /// The case with `change` made in its JSON.
  std::string changed(const std::function<void(Json&)>& change) {
    const std::string at = saved(tripled());
    Json text = Json::parse(whole_file(at + "/task.json").value());
    change(text);
    std::ofstream(at + "/task.json") << text.dump();
    return at;
  }
  static std::string refusal(Code code, const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.message();
    }
    return "no error";
  }
  static std::string unread(Code code, const std::string& at) {
    return refusal(code, [&] { load_task(at); });
  }
  std::string path(const char* name) const { return folder / name; }

  fs::path folder;
  std::vector<Task> told;
};

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
}

TEST_F(Tasks, KeepWhatWasReadAndWhatWasWritten) {
  const Task& task = tripled();
  const Json text = Json::parse(task.text);
  EXPECT_EQ(text.at("type"), "aclnnMuls");
  EXPECT_EQ(text.at("within"), false);
  const Json& call = text.at("calls").at(0);
  EXPECT_EQ(call.at("op"), "mul");
  EXPECT_EQ(call.at("results"), Json({"out"}));
  EXPECT_EQ(call.at("fields").at("other").at("number"), 3);
  EXPECT_EQ(elements(task, call.at("fields").at("self").at("tensor").get<size_t>(), "before"), (Floats{1, 2}));
  EXPECT_EQ(elements(task, call.at("fields").at("out").at("tensor").get<size_t>(), "after"), (Floats{3, 6}));
}

TEST_F(Tasks, KeepElementsRowMajorWhateverTheStrides) {
  Floats x{1, 2, 3, 4, 5, 6}, out(6);
  Tensor turned = make_tensor(x.data(), DType::kFloat, {2, 3});
  turned.strides = {1, 2};
  multiply(turned, 1, make_tensor(out.data(), DType::kFloat, {2, 3}));
  EXPECT_EQ(elements(told.back(), 0, "before"), (Floats{1, 3, 5, 2, 4, 6}));
  const Task again = run_again(told.back(), 0);
  EXPECT_EQ(elements(again, 1, "after"), (Floats{1, 3, 5, 2, 4, 6}));
}

TEST_F(Tasks, OfEachKindEveryNthIsShownWhole) {
  watch(3);
  for (int i = 0; i < 4; ++i) tripled();
  std::vector<bool> skipped;
  for (const Task& task : told) skipped.push_back(Json::parse(task.text).at("skipped").get<bool>());
  EXPECT_EQ(skipped, (std::vector<bool>{false, true, true, false}));
  EXPECT_TRUE(told[1].blobs.empty());
}

TEST_F(Tasks, ACaseIsReadAsItWasSaved) {
  const Task& task = tripled();
  const Task read = load_task(saved(task));
  Json text = Json::parse(read.text);
  EXPECT_EQ(text.at("told").at("text"), "off");
  text.erase("told");
  EXPECT_EQ(text, Json::parse(task.text));
  ASSERT_EQ(read.blobs.size(), task.blobs.size());
  for (size_t i = 0; i < read.blobs.size(); ++i) EXPECT_EQ(floats_of(read.blobs[i]), floats_of(task.blobs[i])) << i;
}

TEST_F(Tasks, ACaseRunsOnWhatWasReadNotOnWhatWasWritten) {
  Task wrong = copy_of(tripled());
  const auto after = Json::parse(wrong.text).at("tensors").at(1).at("after").get<size_t>();
  std::memset(wrong.blobs[after].bytes.get(), 0, wrong.blobs[after].size);
  const Task read = load_task(saved(wrong));
  EXPECT_EQ(elements(read, 1, "after"), (Floats{0, 0}));
  EXPECT_EQ(elements(run_again(read, 0), 1, "after"), (Floats{3, 6}));
}

TEST_F(Tasks, AFusedNodeIsKeptAndRunAsItsParts) {
  TestFunction f("fused");
  const Edge x = f.argument("x"), square = f.node("Mul", {x, x});
  f.result(f.node("AddV2", {square, x}));
  Library library{0, {}};
  Program program;
  program.add(f.function());
  library.add(program);
  library.get("fused", Role::kRoot)->run({value_of<float>({2}, {3, 4})});
  const Task& node = told.back();
  const Json text = Json::parse(node.text);
  ASSERT_TRUE(text.contains("parts")) << node.text;
  std::vector<std::string> operators;
  for (const Json& call : text.at("parts").at("calls")) operators.push_back(call.at("op").get<std::string>());
  EXPECT_EQ(operators, (std::vector<std::string>{"mul", "add"}));
  const auto result = text.at("parts").at("results").at(0).at("tensor").get<size_t>();
  EXPECT_EQ(elements(node, result, "after"), (Floats{12, 20}));
  EXPECT_EQ(elements(run_again(load_task(saved(node)), 0), result, "after"), (Floats{12, 20}));
  // Before it, what it runs itself was shown.
  EXPECT_EQ(Json::parse(told.front().text).at("within"), true);
}

TEST_F(Tasks, AFolderWithoutACaseIsNamed) {
  EXPECT_TRUE(has(unread(Code::kInvalidFile, path("nowhere")), "nowhere/task.json"));
  const std::string at = saved(tripled());
  fs::remove(at + "/tensors");
  EXPECT_TRUE(has(unread(Code::kInvalidFile, at), "case/tensors"));
}

TEST_F(Tasks, ADamagedCaseIsNamedWithTheReason) {
  const std::string at = saved(tripled());
  fs::resize_file(at + "/tensors", fs::file_size(at + "/tensors") - 1);
  EXPECT_TRUE(has(unread(Code::kParseFile, at), "case/tensors"));
  const std::string text = saved(tripled()) + "/task.json";
  fs::resize_file(text, 20);
  EXPECT_TRUE(has(unread(Code::kParseFile, at), "case/task.json: "));
}

TEST_F(Tasks, ACaseThatWasChangedIsRefused) {
  const auto refused = [&](const std::function<void(Json&)>& change) {
    return unread(Code::kParseFile, changed(change));
  };
  EXPECT_TRUE(has(refused([](Json& text) { text.erase("calls"); }), "calls"));
  EXPECT_TRUE(has(refused([](Json& text) { text["tensors"][0]["before"] = 9; }), "tensor 0 is blob 9 of 2"));
  EXPECT_TRUE(
      has(refused([](Json& text) { text["tensors"][0]["shape"] = {3}; }), "8 bytes in the file, by its shape 12"));
  EXPECT_TRUE(has(refused([](Json& text) { text["tensors"][1]["strides"] = {3, 1}; }), "1 sizes and 2 strides"));
  EXPECT_TRUE(has(refused([](Json& text) { text["tensors"][1]["dtype"] = "float33"; }), "float33"));
}

TEST_F(Tasks, AnOperatorOfAnotherVersionIsNamed) {
  const Task task = load_task(changed([](Json& text) { text["calls"][0]["op"] = "mull"; }));
  EXPECT_TRUE(has(refusal(Code::kParseFile, [&] { run_again(task, 0); }), "there is no operator mull"));
}

TEST_F(Tasks, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(path("file")) << "here";
  const std::string at = path("file") + "/case";
  EXPECT_TRUE(has(refusal(Code::kInvalidFile, [&] { save_task(tripled(), at, "{}"); }), at));
}

}  // namespace
}  // namespace npu::graph
