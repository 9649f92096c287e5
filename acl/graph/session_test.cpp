// SPDX-License-Identifier: Apache-2.0
// Graphs of sessions: a slice with a variable of its session, and wrong calls, after which the next one is right.
#include "anynpu/session.h"

#include <functional>
#include <memory>

#include "acl/runtime/runtime_fixture.h"
#include "graph/import/tensorflow/message_fixture.h"

namespace npu::acl {
namespace {

using namespace graph::tensorflow;  // NOLINT: the messages' words

using Value = std::unique_ptr<anynpu_value, decltype(&anynpu_value_release)>;

/// add: v += x; sum: v + x
std::string graph_def() {
  const Attrs type = {{"dtype", type_value(kFloat)}};
  const std::vector<std::string> nodes = {
      node("v", "VarHandleOp", {}, type),
      node("x", "Placeholder", {}, type),
      node("read", "ReadVariableOp", {"v"}, type),
      node("sum", "AddV2", {"read", "x"}, {{"T", type_value(kFloat)}}),
      node("add", "AssignAddVariableOp", {"v", "x"}, type),
  };
  return message([&](auto& w) {
    for (const std::string& one : nodes) w.add_message(field::kNode, one);
  });
}

std::string operators() {
  return test_operators() + message([](auto& w) {
           w.add_message(field::kOpDef, signature("VarHandleOp", {}, {formal("resource", kResourceType)}, {}, true));
           w.add_message(field::kOpDef, signature("Placeholder", {}, {formal("output", 0, "dtype")}));
         });
}

class SessionDoor : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string list = operators(), graph = graph_def();
    ASSERT_OK(anynpu_library_create(0, list.data(), list.size(), nullptr, nullptr, &library_));
    ASSERT_OK(anynpu_session_graph_read(graph.data(), graph.size(), &graph_));
  }
  void TearDown() override {
    anynpu_session_graph_release(graph_);
    anynpu_session_graph_release(nullptr);
    anynpu_library_destroy(library_);
  }

  static anynpu_slice slice(const char* const* feeds, const char* const* fetches, const char* const* targets) {
    anynpu_slice out{};
    out.struct_size = sizeof out;
    out.session = "s";
    out.feeds = feeds, out.feed_count = feeds != nullptr;
    out.fetches = fetches, out.fetch_count = fetches != nullptr;
    out.targets = targets, out.target_count = targets != nullptr;
    return out;
  }

  aclError add(const char* function, const anynpu_slice& one) {
    keys_.clear();
    return anynpu_library_add_slice(
        library_, function, graph_, &one,
        [](const anynpu_slice_resource* resource, void* keys) {
          EXPECT_EQ(resource->variable, 1);
          static_cast<std::vector<std::string>*>(keys)->push_back(std::string(resource->node) + resource->key);
        },
        &keys_);
  }

  float run(const char* function, float x, anynpu_value* variable, size_t results) {
    anynpu_value* value = nullptr;
    EXPECT_OK(anynpu_value_tensor(ACL_FLOAT, 0, nullptr, &x, nullptr, nullptr, &value));
    anynpu_value *given[] = {value, variable}, *got = nullptr;
    EXPECT_OK(anynpu_library_run(library_, function, given, 2, &got, results));
    anynpu_value_release(value);
    if (results == 0) return 0;
    anynpu_value_view view{};
    view.struct_size = sizeof view;
    EXPECT_OK(anynpu_value_inspect(got, &view));
    const float out = *static_cast<const float*>(view.data);
    anynpu_value_release(got);
    return out;
  }

  void expect_refused(aclError code, const std::vector<const char*>& words, const std::function<aclError()>& call) {
    EXPECT_EQ(call(), code);
    const std::string text = aclGetRecentErrMsg();
    for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_OK(add("s@right", slice(&x_, &sum_, nullptr)));
  }

  const char *x_ = "x:0", *sum_ = "sum:0", *add_ = "add";
  anynpu_library* library_ = nullptr;
  anynpu_session_graph* graph_ = nullptr;
  std::vector<std::string> keys_;
};

TEST_F(SessionDoor, SlicesShareTheVariablesOfTheirSession) {
  ASSERT_OK(add("s@1", slice(&x_, &sum_, nullptr)));
  EXPECT_EQ(keys_, std::vector<std::string>{"v/v"});
  ASSERT_OK(add("s@2", slice(&x_, nullptr, &add_)));
  EXPECT_EQ(keys_, std::vector<std::string>{"v/v"});
  anynpu_value *variable = nullptr, *one = nullptr;
  float first = 1;
  ASSERT_OK(anynpu_value_variable(0, &variable));
  const Value held(variable, anynpu_value_release);
  ASSERT_OK(anynpu_value_tensor(ACL_FLOAT, 0, nullptr, &first, nullptr, nullptr, &one));
  ASSERT_OK(anynpu_variable_assign(variable, one));
  anynpu_value_release(one);
  EXPECT_EQ(run("s@1", 5, variable, 1), 6);
  run("s@2", 2, variable, 0);
  EXPECT_EQ(run("s@1", 5, variable, 1), 8);
  EXPECT_OK(anynpu_library_end_session(library_, "s"));
  expect_refused(161002, {"function s@1"}, [&] {
    anynpu_value* given[] = {variable, variable};
    return anynpu_library_run(library_, "s@1", given, 2, nullptr, 0);
  });
}

TEST_F(SessionDoor, WrongSlices) {
  const char* nothing = "nothing:0";
  expect_refused(161002, {"the feed nothing:0"}, [&] { return add("s@1", slice(&nothing, &sum_, nullptr)); });
  expect_refused(161002, {"the fetch nothing:0"}, [&] { return add("s@1", slice(&x_, &nothing, nullptr)); });
  expect_refused(161002, {"the target nothing:0"}, [&] { return add("s@1", slice(&x_, nullptr, &nothing)); });
  expect_refused(161002, {"session s", "s@"}, [&] { return add("t@1", slice(&x_, &sum_, nullptr)); });
  expect_refused(161002, {"struct_size"}, [&] {
    anynpu_slice one = slice(&x_, &sum_, nullptr);
    one.struct_size = 8;
    return add("s@1", one);
  });
  expect_refused(100000, {"slice.session"}, [&] {
    anynpu_slice one = slice(&x_, &sum_, nullptr);
    one.session = nullptr;
    return add("s@1", one);
  });
  expect_refused(100000, {"slice.fetches"}, [&] {
    anynpu_slice one = slice(&x_, nullptr, nullptr);
    one.fetch_count = 1;
    return add("s@1", one);
  });
  const anynpu_slice one = slice(&x_, &sum_, nullptr);
  expect_refused(100000, {"visit"},
                 [&] { return anynpu_library_add_slice(library_, "s@1", graph_, &one, nullptr, nullptr); });
  expect_refused(100000, {"graph"}, [&] {
    return anynpu_library_add_slice(
        library_, "s@1", nullptr, &one, [](const anynpu_slice_resource*, void*) {}, nullptr);
  });
}

TEST_F(SessionDoor, WrongGraphs) {
  anynpu_session_graph* none = nullptr;
  const std::string bytes = graph_def().substr(0, 20);
  expect_refused(100006, {"GraphDef"}, [&] { return anynpu_session_graph_read(bytes.data(), bytes.size(), &none); });
  expect_refused(100000, {"graph_def"}, [&] { return anynpu_session_graph_read(nullptr, 0, &none); });
  expect_refused(100000, {"graph"}, [&] { return anynpu_session_graph_read(bytes.data(), 0, nullptr); });
  expect_refused(100000, {"session"}, [&] { return anynpu_library_end_session(library_, nullptr); });
  EXPECT_EQ(none, nullptr);
}

}  // namespace
}  // namespace npu::acl
