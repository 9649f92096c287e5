// SPDX-License-Identifier: Apache-2.0
// The door of the graph engine: one function run from its bytes, and wrong calls, after which the next one is right.
#include "anynpu/graph.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "acl/runtime/runtime_fixture.h"
#include "anynpu/cache.h"
#include "device/process/status_page.h"
#include "graph/import/tensorflow/message_fixture.h"

namespace npu::acl {
namespace {

using namespace graph::tensorflow;  // NOLINT: the messages' words

using Value = std::unique_ptr<anynpu_value, decltype(&anynpu_value_release)>;

Value tensor_of(std::vector<float>& data) {
  const auto size = static_cast<int64_t>(data.size());
  anynpu_value* value = nullptr;
  EXPECT_OK(anynpu_value_tensor(ACL_FLOAT, 1, &size, data.data(), nullptr, nullptr, &value));
  return {value, anynpu_value_release};
}

anynpu_value_view view_to_fill() {
  anynpu_value_view view{};
  view.struct_size = sizeof view;
  return view;
}

std::string sum_node() { return node("sum", "AddV2", {"a", "b"}, {{"T", type_value(kFloat)}}); }

/// f(a, b) = a + b
std::string sum_function() {
  return function_def({signature("f", {formal("a", kFloat), formal("b", kFloat)}, {formal("c", kFloat)}),
                       {sum_node()},
                       {{"c", "sum:z:0"}}});
}

class GraphDoor : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string operators = test_operators();
    ASSERT_OK(anynpu_library_create(0, operators.data(), operators.size(), nullptr, nullptr, &library_));
    ASSERT_OK(add(sum_function()));
  }
  void TearDown() override { anynpu_library_destroy(library_); }

  aclError add(const std::string& bytes) const { return anynpu_library_add(library_, bytes.data(), bytes.size()); }

  aclError run(const char* function, size_t inputs, size_t outputs) {
    anynpu_value* given[] = {a_.get(), b_.get()};
    anynpu_value* got[] = {nullptr, nullptr};
    const aclError code = anynpu_library_run(library_, function, given, inputs, got, outputs);
    last_.clear();
    if (code == 0) {
      anynpu_value_view view = view_to_fill();
      EXPECT_OK(anynpu_value_inspect(got[0], &view));
      const auto* first = static_cast<const float*>(view.data);
      last_.assign(first, first + view.sizes[0]);
    }
    for (anynpu_value* value : got) anynpu_value_release(value);
    return code;
  }

  void expect_refused(aclError code, const std::vector<const char*>& words, const std::function<aclError()>& call) {
    EXPECT_EQ(call(), code);
    const std::string text = aclGetRecentErrMsg();
    for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_OK(run("f", 2, 1));
    EXPECT_EQ(last_, (std::vector<float>{11, 22}));
  }

  anynpu_library* library_ = nullptr;
  std::vector<float> ones_{1, 2}, tens_{10, 20}, last_;
  Value a_ = tensor_of(ones_), b_ = tensor_of(tens_);
};

TEST_F(GraphDoor, WrongRuns) {
  expect_refused(161002, {"anynpu_library_run", "f", "2", "1"}, [&] { return run("f", 1, 1); });
  expect_refused(161002, {"1", "2"}, [&] { return run("f", 2, 2); });
  expect_refused(161002, {"function g", "definition"}, [&] { return run("g", 2, 1); });
  expect_refused(100000, {"function is null"}, [&] { return run(nullptr, 2, 1); });
  expect_refused(100000, {"library is null"}, [] { return anynpu_library_run(nullptr, "f", nullptr, 0, nullptr, 0); });
  expect_refused(100000, {"inputs is null"}, [&] { return anynpu_library_run(library_, "f", nullptr, 2, nullptr, 1); });
  b_ = tensor_of(last_ = {1, 2, 3});
  EXPECT_EQ(run("f", 2, 1), 161002);
  const std::string text = aclGetRecentErrMsg();
  EXPECT_NE(text.find("2 and 3"), std::string::npos) << text;
}

TEST_F(GraphDoor, ARunIsTimeThatTheDeviceIsBusy) {
  const std::atomic<uint64_t>& busy = device::counters(0).busy_ns;
  const uint64_t before = busy;
  EXPECT_OK(run("f", 2, 1));
  EXPECT_GT(busy, before);
}

TEST_F(GraphDoor, WrongFunctions) {
  const std::string good = sum_function();
  expect_refused(100006, {"anynpu_library_add"}, [&] { return add(good.substr(0, good.size() - 3)); });
  expect_refused(100000, {"function_def is null"}, [&] { return anynpu_library_add(library_, nullptr, 3); });
  expect_refused(100024, {"sum", "Frobnicate"}, [&] {
    return add(function_def({signature("g", {formal("a", kFloat)}, {formal("c", kFloat)}),
                             {node("sum", "Frobnicate", {"a"})},
                             {{"c", "sum:z:0"}}}));
  });
  expect_refused(100006, {"anynpu_library_run_node", "damaged"},
                 [&] { return anynpu_library_run_node(library_, "\xff\xff", 2, nullptr, 0, nullptr, 0); });
}

TEST_F(GraphDoor, RemovedFunctionsAreNotThere) {
  ASSERT_OK(add(function_def({signature("g", {formal("a", kFloat), formal("b", kFloat)}, {formal("c", kFloat)}),
                              {sum_node()},
                              {{"c", "sum:z:0"}}})));
  EXPECT_OK(run("g", 2, 1));
  EXPECT_OK(anynpu_library_remove(library_, "g"));
  expect_refused(161002, {"function g"}, [&] { return run("g", 2, 1); });
  EXPECT_OK(anynpu_library_remove(library_, "g"));
  expect_refused(100000, {"function is null"}, [&] { return anynpu_library_remove(library_, nullptr); });
  expect_refused(100000, {"library is null"}, [] { return anynpu_library_remove(nullptr, "g"); });
}

TEST_F(GraphDoor, CompilingIsWatched) {
  std::vector<std::string> seen;
  const auto visit = [](const anynpu_compiled* one, void* seen) {
    EXPECT_EQ(one->struct_size, sizeof *one);
    EXPECT_EQ(one->nodes, 1);
    EXPECT_EQ(one->host_nodes + one->loops, 0);
    static_cast<std::vector<std::string>*>(seen)->push_back(std::string(one->function) + "|" + one->cause);
  };
  anynpu_library_watch(library_, visit, &seen);
  anynpu_value* given[] = {a_.get(), b_.get()};
  EXPECT_OK(anynpu_library_compile(library_, "f", given, 2));
  EXPECT_OK(run("f", 2, 1));
  EXPECT_EQ(seen, (std::vector<std::string>{"f|"})) << "the run found the plan";
  std::vector<float> three{1, 2, 3};
  const Value c = tensor_of(three);
  anynpu_value* longer[] = {c.get(), c.get()};
  EXPECT_OK(anynpu_library_compile(library_, "f", longer, 2));
  EXPECT_EQ(seen.back(), "f|argument a was float32[2] and is float32[3], and 1 more changed");
  anynpu_library_watch(library_, nullptr, nullptr);
  anynpu_library_watch(nullptr, visit, nullptr);
  anynpu_value* mixed[] = {a_.get(), c.get()};
  expect_refused(161002, {"anynpu_library_compile", "2 and 3"},
                 [&] { return anynpu_library_compile(library_, "f", mixed, 2); });
  expect_refused(161002, {"1"}, [&] { return anynpu_library_compile(library_, "f", given, 1); });
  expect_refused(161002, {"function g"}, [&] { return anynpu_library_compile(library_, "g", given, 2); });
  expect_refused(100000, {"library is null"}, [] { return anynpu_library_compile(nullptr, "f", nullptr, 0); });
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(GraphDoor, OperatorsAreKeptWhileTheyAreAmongTheLast) {
  anynpu_value* given[] = {a_.get(), b_.get()};
  for (int i = 0; i < 1200; ++i) {
    const std::string one = node("sum" + std::to_string(i), "AddV2", {}, {{"T", type_value(kFloat)}});
    anynpu_value* got = nullptr;
    ASSERT_OK(anynpu_library_run_node(library_, one.data(), one.size(), given, 2, &got, 1));
    anynpu_value_release(got);
  }
  anynpu_library_report(
      library_,
      [](const char* json, void*) {
        const std::string text = json;
        EXPECT_EQ(text.find("\"operator 100\""), std::string::npos);
        EXPECT_NE(text.find("\"operator 1199\""), std::string::npos);
      },
      nullptr);
  const std::string wrong = node("sum", "AddV2", {}, {{"T", type_value(kFloat)}});
  expect_refused(161002, {"anynpu_library_run_node"}, [&] {
    anynpu_value* none = nullptr;
    return anynpu_library_run_node(library_, wrong.data(), wrong.size(), given, 1, &none, 1);
  });
}

/// g(a, b) = a + b + b + …, of as many nodes as are kept.
std::string long_sum() {
  std::vector<std::string> nodes = {node("n0", "AddV2", {"a", "b"}, {{"T", type_value(kFloat)}})};
  for (int i = 1; i < 40; ++i)
    nodes.push_back(node("n" + std::to_string(i), "AddV2", {"n" + std::to_string(i - 1) + ":z:0", "b"},
                         {{"T", type_value(kFloat)}}));
  return function_def(
      {signature("g", {formal("a", kFloat), formal("b", kFloat)}, {formal("c", kFloat)}), nodes, {{"c", "n39:z:0"}}});
}

std::vector<std::string> kept_in(const std::string& folder) {
  std::vector<std::string> out;
  const auto visit = [](const anynpu_kept* one, void* list) {
    EXPECT_EQ(one->struct_size, sizeof *one);
    static_cast<std::vector<std::string>*>(list)->push_back(std::string(one->function) + "|" + one->problem);
  };
  EXPECT_OK(anynpu_each_kept(folder.c_str(), visit, &out));
  return out;
}

TEST_F(GraphDoor, WhatIsCompiledIsKept) {
  setenv("ANYNPU_COMPILE_CACHE", "", 1);  // read once, here
  char name[] = "/tmp/anynpu-door-XXXXXX";
  const std::string folder = mkdtemp(name);
  EXPECT_EQ(anynpu_kept_folder(folder.c_str()), folder + "/kernel_cache");
  ASSERT_OK(add(long_sum()));
  std::string told;
  const auto visit = [](const anynpu_compiled* one, void* text) { *static_cast<std::string*>(text) = one->cache; };
  anynpu_library_watch(library_, visit, &told);
  EXPECT_OK(run("g", 2, 1));
  EXPECT_EQ(told, "") << "nothing is kept before that is asked for";
  for (const char* wanted : {"miss ", "hit "}) {
    ASSERT_OK(anynpu_library_keep(library_, "enable", folder.c_str()));
    ASSERT_OK(add(long_sum()));
    EXPECT_OK(run("g", 2, 1));
    EXPECT_EQ(last_, (std::vector<float>{401, 802}));
    EXPECT_TRUE(told.starts_with(wanted)) << told;
  }
  EXPECT_EQ(kept_in(folder), std::vector<std::string>{"g|"});
  EXPECT_OK(anynpu_clear_kept(folder.c_str()));
  EXPECT_TRUE(kept_in(folder).empty());
  expect_refused(161002, {"op_compiler_cache_mode is 'on'; write enable, disable or force"},
                 [&] { return anynpu_library_keep(library_, "on", folder.c_str()); });
  expect_refused(100000, {"visit"}, [&] { return anynpu_each_kept(folder.c_str(), nullptr, nullptr); });
  std::filesystem::remove_all(folder);
}

TEST_F(GraphDoor, FilesOfPlansAreWritten) {
  char name[] = "/tmp/anynpu-door-XXXXXX";
  const std::filesystem::path folder = mkdtemp(name);
  expect_refused(161002, {"no files of kind exe; there are o, json, cce, loc, compute"},
                 [&] { return anynpu_library_write_files(library_, "o,exe", folder.c_str()); });
  EXPECT_OK(anynpu_library_write_files(library_, "o,loc", folder.c_str()));
  ASSERT_OK(add(long_sum()));
  EXPECT_OK(run("g", 2, 1));
  EXPECT_TRUE(std::filesystem::exists(folder / "kernel_meta/g_1.o"));
  EXPECT_TRUE(std::filesystem::exists(folder / "kernel_meta/g_1_loc.json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "kernel_meta/g_1.json"));
  std::filesystem::remove_all(folder);
}

TEST_F(GraphDoor, WrongValues) {
  const int64_t two = 2, negative = -2;
  anynpu_value* value = nullptr;
  anynpu_value_view view{};
  float data[2] = {};
  const auto tensor = [&](int dtype, int32_t rank, const int64_t* sizes) {
    return anynpu_value_tensor(static_cast<aclDataType>(dtype), rank, sizes, data, nullptr, nullptr, &value);
  };
  expect_refused(161002, {"rank is -1"}, [&] { return tensor(ACL_FLOAT, -1, &two); });
  expect_refused(161002, {"-2"}, [&] { return tensor(ACL_FLOAT, 1, &negative); });
  expect_refused(161002, {"dtype is 77"}, [&] { return tensor(77, 1, &two); });
  expect_refused(100000, {"sizes is null"}, [&] { return tensor(ACL_FLOAT, 1, nullptr); });
  expect_refused(107001, {"99"}, [&] { return anynpu_value_variable(99, &value); });
  expect_refused(107001, {"-1"}, [&] { return anynpu_library_create(-1, nullptr, 0, nullptr, nullptr, &library_); });
  expect_refused(161002, {"variable", "no variable"}, [&] { return anynpu_variable_read(a_.get(), &value); });
  expect_refused(100000, {"value is null"}, [&] { return anynpu_value_inspect(nullptr, &view); });
  expect_refused(161002, {"struct_size"}, [&] { return anynpu_value_inspect(a_.get(), &view); });
  EXPECT_EQ(value, nullptr);
}

TEST_F(GraphDoor, WrongLists) {
  anynpu_list_view view{};
  anynpu_value* element = nullptr;
  expect_refused(161002, {"list is no list"}, [&] { return anynpu_list_inspect(a_.get(), &view); });
  expect_refused(100000, {"list is null"}, [&] { return anynpu_list_inspect(nullptr, &view); });
  expect_refused(161002, {"list is no list"}, [&] { return anynpu_list_element(a_.get(), 0, &element); });
  EXPECT_EQ(element, nullptr);
}

TEST_F(GraphDoor, FusionsAreSwitchedByName) {
  std::vector<std::string> unknown, names;
  const auto keep = [](const char* name, void* list) { static_cast<std::vector<std::string>*>(list)->push_back(name); };
  const std::string text = "ALL:off\nNoSuchFusionPass:off\n";
  EXPECT_OK(anynpu_library_switch_fusion(library_, text.data(), text.size(), keep, &unknown));
  EXPECT_EQ(unknown, std::vector<std::string>{"NoSuchFusionPass"});
  EXPECT_OK(anynpu_library_switch_fusion(library_, text.data(), text.size(), nullptr, nullptr));
  expect_refused(161002, {"anynpu_library_switch_fusion", "line 1, column 1"},
                 [&] { return anynpu_library_switch_fusion(library_, "fuse", 4, nullptr, nullptr); });
  expect_refused(100000, {"text"},
                 [&] { return anynpu_library_switch_fusion(library_, nullptr, 0, nullptr, nullptr); });
  anynpu_each_fusion(
      [](const char* name, const char* purpose, const char*, void* list) {
        EXPECT_GT(std::string(purpose).size(), 10u);
        static_cast<std::vector<std::string>*>(list)->push_back(name);
      },
      &names);
  for (const char* known : {"trim_loops", "variable_update", "elementwise"})
    EXPECT_EQ(std::count(names.begin(), names.end(), known), 1) << known;
}

TEST_F(GraphDoor, AModeTellsWhatItMakesOfEachOperator) {
  std::map<std::string, std::string> effects;
  const auto keep = [](const anynpu_precision_effect* one, void* map) {
    EXPECT_EQ(one->struct_size, sizeof *one);
    (*static_cast<std::map<std::string, std::string>*>(map))[one->op] = one->effect;
  };
  EXPECT_OK(anynpu_each_precision_effect("mixed_float16", keep, &effects));
  EXPECT_EQ(effects["MatMul"], "float16");
  EXPECT_EQ(effects["Exp"], "float32");
  expect_refused(161002, {"there is no precision mode fp8; there are force_fp16, "},
                 [&] { return anynpu_each_precision_effect("fp8", keep, &effects); });
  expect_refused(100000, {"mode"}, [&] { return anynpu_each_precision_effect(nullptr, keep, &effects); });
  expect_refused(100000, {"visit"}, [] { return anynpu_each_precision_effect("fp16", nullptr, nullptr); });
}

TEST_F(GraphDoor, TheLivingAreCounted) {
  size_t variables = 0, values = 0, more = 0;
  anynpu_live(&variables, &values);
  EXPECT_GE(values, 2u);
  anynpu_value* variable = nullptr;
  ASSERT_OK(anynpu_value_variable(0, &variable));
  anynpu_live(&more, nullptr);
  EXPECT_EQ(more, variables + 1);
  anynpu_value_release(variable);
  anynpu_live(&more, nullptr);
  EXPECT_EQ(more, variables);
  anynpu_library_restart_random(nullptr);
}

TEST_F(GraphDoor, VariablesAreReadAfterTheyAreAssigned) {
  anynpu_value *variable = nullptr, *now = nullptr;
  ASSERT_OK(anynpu_value_variable(0, &variable));
  expect_refused(100001, {"anynpu_variable_read"}, [&] { return anynpu_variable_read(variable, &now); });
  expect_refused(161002, {"tensor is an object"}, [&] { return anynpu_variable_assign(variable, variable); });
  EXPECT_OK(anynpu_variable_assign(variable, a_.get()));
  EXPECT_OK(anynpu_variable_read(variable, &now));
  anynpu_value_view view = view_to_fill();
  EXPECT_OK(anynpu_value_inspect(now, &view));
  EXPECT_EQ(static_cast<const float*>(view.data)[1], 2);
  anynpu_value_release(now);
  anynpu_value_release(variable);
}

}  // namespace
}  // namespace npu::acl
