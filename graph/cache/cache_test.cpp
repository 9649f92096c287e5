// SPDX-License-Identifier: Apache-2.0
#include "graph/cache/cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "base/json.h"
#include "graph/graph_fixture.h"
#include "graph/import/tensorflow/recorded_fixture.h"
#include "graph/ir/print.h"
#include "graph/passes/pipeline.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph::cache {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void replace(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// y = relu(relu(… x + x …)) + `end`: fused, and long enough to be kept.
std::shared_ptr<Function> chain(const std::string& name, float end = 1, int length = 40) {
  TestFunction t(name);
  const Edge x = t.argument("x");
  Edge y = x;
  for (int i = 0; i < length; ++i) y = t.node(i % 2 == 0 ? "Relu" : "Neg", {y});
  t.result(t.node("AddV2", {y, t.constant<float>({}, {end})}));
  return t.function();
}

class CompileCache : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/anynpu-cache-XXXXXX";
    root_ = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path place() const { return root_ / "kernel_cache"; }

  /// Compiles it as a process does that has just begun; its text afterwards.
  std::string compiled(const std::shared_ptr<Function>& function, Mode mode = Mode::kEnable, PassOptions options = {}) {
    Program program;
    program.add(function);
    Function f = *function;
    Cache cache(mode, place());
    passes_ = cache.run_passes(f, program, options, lookup_);
    return to_text(f);
  }

  std::vector<fs::path> files(const char* extension) const {
    std::vector<fs::path> out;
    std::error_code none;
    for (const auto& file : fs::directory_iterator(place(), none))
      if (file.path().extension() == extension) out.push_back(file.path());
    return out;
  }

  fs::path root_;
  Lookup lookup_;
  std::vector<PassReport> passes_;
};

TEST_F(CompileCache, TheSecondProcessFindsWhatTheFirstCompiled) {
  const std::string first = compiled(chain("f"));
  EXPECT_EQ(lookup_.outcome, Outcome::kMiss);
  const std::vector<PassReport> passes = passes_;
  EXPECT_EQ(compiled(chain("f")), first);
  EXPECT_EQ(lookup_.outcome, Outcome::kHit);
  EXPECT_EQ(to_string(lookup_), "hit " + lookup_.key);
  ASSERT_EQ(passes_.size(), passes.size());
  for (size_t i = 0; i < passes.size(); ++i) {
    EXPECT_EQ(passes_[i].name, passes[i].name);
    EXPECT_EQ(passes_[i].changed, passes[i].changed);
    EXPECT_EQ(passes_[i].fusion.matched, passes[i].fusion.matched);
    EXPECT_EQ(passes_[i].fusion.effective, passes[i].fusion.effective);
    EXPECT_EQ(passes_[i].fusion.declined, passes[i].fusion.declined);
  }
}

TEST_F(CompileCache, AnEntryTellsWhatItIs) {
  compiled(chain("f"));
  ASSERT_EQ(files(".o").size(), 1u);
  ASSERT_EQ(files(".json").size(), 1u);
  EXPECT_EQ(files(".o")[0].stem(), lookup_.key);
  const auto told = Json::parse(content(files(".json")[0]));
  EXPECT_EQ(told["function"], "f");
  EXPECT_EQ(told["key"], lookup_.key);
  EXPECT_EQ(told["nodes_before"], 43);
  EXPECT_LT(told["nodes"].get<int>(), 10) << "the chain is one node";
  EXPECT_EQ(told["bytes"], fs::file_size(files(".o")[0]));
  EXPECT_NE(content(root_ / "op_cache.ini").find("[op_compiler_cache]"), std::string::npos);
}

TEST_F(CompileCache, WhatPassesGoByIsInTheKey) {
  std::set<std::string> keys;
  const auto compile = [&](const std::shared_ptr<Function>& f, PassOptions options = {}) {
    compiled(f, Mode::kEnable, std::move(options));
    EXPECT_EQ(lookup_.outcome, Outcome::kMiss);
    keys.insert(lookup_.key);
  };
  compile(chain("f"));
  compile(chain("g"));
  compile(chain("f", 2));
  compile(chain("f", 1, 41));
  compile(chain("f"), {.skip = {"elementwise"}});
  compile(chain("f"), {.skip = {"elementwise", "attention"}});
  PassOptions precise, kept;
  precise.precision.set("precision_mode", "force_fp16");
  kept.precision.set("precision_mode", "force_fp16");
  kept.precision.keep("n_Relu");
  compile(chain("f"), precise);
  compile(chain("f"), kept);
  EXPECT_EQ(keys.size(), 8u);
  compiled(chain("f"), Mode::kEnable, {.skip = {"attention", "elementwise", "attention"}});
  EXPECT_EQ(lookup_.outcome, Outcome::kHit) << "in another order";
}

TEST_F(CompileCache, WhatAFunctionCallsIsInItsKey) {
  const auto key = [](float end) {
    Program program;
    program.add(chain("inner", end));
    TestFunction t("outer");
    const Edge call = t.node("PartitionedCall", {t.argument("x")});
    t.with(call, "f", FunctionName{"inner"}).result(call);
    return key_of(*t.function(), program, {}).name();
  };
  EXPECT_EQ(key(1), key(1));
  EXPECT_NE(key(1), key(2));
}

TEST_F(CompileCache, SmallFunctionsAreNotKept) {
  compiled(chain("f", 1, 5));
  EXPECT_EQ(to_string(lookup_), "not kept: it has 8 nodes, which are compiled as fast as read");
  EXPECT_FALSE(fs::exists(place()));
}

TEST_F(CompileCache, FunctionsWhoseStagesAreWantedAreCompiled) {
  compiled(chain("f"));
  std::vector<std::string> stages;
  compiled(chain("f"), Mode::kEnable,
           {.watch = [&](std::string_view stage, const Function&) { stages.emplace_back(stage); }});
  EXPECT_EQ(lookup_.outcome, Outcome::kLeft);
  EXPECT_GT(stages.size(), 1u);
}

TEST_F(CompileCache, Modes) {
  EXPECT_EQ(open(Mode::kDisable, place()), nullptr);
  compiled(chain("f"));
  compiled(chain("f"), Mode::kForce);
  EXPECT_EQ(lookup_.outcome, Outcome::kMiss) << "what was there is gone";
  compiled(chain("f"), Mode::kForce);
  EXPECT_EQ(lookup_.outcome, Outcome::kHit) << "once a process";
  EXPECT_EQ(mode_of("enable", "x"), Mode::kEnable);
  EXPECT_EQ(mode_of("disable", "x"), Mode::kDisable);
  EXPECT_EQ(mode_of("force", "x"), Mode::kForce);
  EXPECT_THROW(mode_of("on", "x"), Error);
}

TEST_F(CompileCache, ADamagedEntryIsMadeAnewWithOneWarning) {
  const std::string whole = compiled(chain("f"));
  const fs::path entry = files(".o")[0];
  const std::string good = content(entry);
  std::string wrong = good;
  wrong[good.size() / 2] ^= 1;
  std::string newer = good;
  newer[8] = 9;
  compiled(chain("g"));
  const std::string foreign = content(place() / (lookup_.key + ".o"));
  for (const std::string& bytes : {wrong, newer, foreign, good.substr(0, good.size() / 3), std::string()}) {
    replace(entry, bytes);
    testing::internal::CaptureStderr();
    EXPECT_EQ(compiled(chain("f")), whole);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_EQ(lookup_.outcome, Outcome::kMiss);
    EXPECT_NE(told.find("is of no use, and is made anew: "), std::string::npos) << told;
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
    EXPECT_EQ(content(entry), good) << "it took its place";
    EXPECT_EQ(compiled(chain("f")), whole);
    EXPECT_EQ(lookup_.outcome, Outcome::kHit);
  }
}

TEST_F(CompileCache, WhereNothingCanBeWrittenItIsToldOnce) {
  replace(place(), "a file in the way");
  Program program;
  Cache cache(Mode::kEnable, place());
  testing::internal::CaptureStderr();
  for (const char* name : {"f", "g"}) {
    Function f = *program.add(chain(name));
    cache.run_passes(f, program, {}, lookup_);
    EXPECT_EQ(lookup_.outcome, Outcome::kMiss);
    EXPECT_LT(f.nodes.size(), 10u);
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
  EXPECT_NE(told.find("nothing is kept: "), std::string::npos) << told;
}

TEST_F(CompileCache, AFullDiskLeavesNothingBehind) {
  compiled(chain("f"));
  const size_t bytes = fs::file_size(files(".o")[0]);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{bytes / 2, before.rlim_max};
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  testing::internal::CaptureStderr();
  setrlimit(RLIMIT_FSIZE, &small);
  compiled(chain("g"));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("nothing is kept: "), std::string::npos) << told;
  EXPECT_EQ(files(".o").size(), 1u);
  EXPECT_EQ(files(".part").size(), 0u);
  compiled(chain("f"));
  EXPECT_EQ(lookup_.outcome, Outcome::kHit);
}

TEST_F(CompileCache, TheLeastRecentlyUsedGo) {
  const Folder folder(place());
  const std::string bytes(300 << 10, 'x');
  const Limit limit{2, 50};  // six fit, three stay
  const auto put = [&](char name) { folder.put(std::string(32, name), bytes, "{}", limit); };
  const auto there = [&](char name) { return fs::exists(place() / (std::string(32, name) + ".o")); };
  const auto hours_ago = [](int hours) { return fs::file_time_type::clock::now() - std::chrono::hours(hours); };
  for (const char name : {'a', 'b', 'c', 'd'}) {
    put(name);
    fs::last_write_time(place() / (std::string(32, name) + ".o"), hours_ago('z' - name));
  }
  EXPECT_TRUE(folder.find(std::string(32, 'a'))) << "which thereby is young";
  replace(place() / ".x.1-1.part", "abandoned");
  fs::last_write_time(place() / ".x.1-1.part", hours_ago(2));
  replace(place() / "te_matmul_1234.o", std::string(3 << 20, 'k'));
  put('e'), put('f');
  EXPECT_EQ(files(".json").size(), 6u) << "they still fit";
  put('0');
  for (const char name : {'e', 'f', '0'}) EXPECT_TRUE(there(name)) << name;
  for (const char name : {'b', 'c', 'd'}) EXPECT_FALSE(there(name)) << name;
  EXPECT_TRUE(files(".part").empty());
  EXPECT_TRUE(fs::exists(place() / "te_matmul_1234.o")) << "it is not ours";
  folder.clear();
  EXPECT_EQ(files(".json").size(), 0u);
  EXPECT_TRUE(fs::exists(place() / "te_matmul_1234.o"));
}

TEST_F(CompileCache, ThreadsFillOneFolder) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Program program;
        const auto original = chain("f" + std::to_string(i % 5));
        Function f = *program.add(original), plain = f;
        Lookup lookup;
        Cache(i % 7 == 3 ? Mode::kForce : Mode::kEnable, place()).run_passes(f, program, {}, lookup);
        run_passes(plain, program);
        EXPECT_EQ(to_text(f), to_text(plain));
        if (i % 6 == 0) Folder(place()).clear();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(files(".part").empty());
}

TEST(CacheLimit, IsReadFromAFileWhereBothValuesAreValid) {
  const auto told =
      read_limit("# text\n[op_compiler_cache]\nascend_max_op_cache_size=7\nascend_remain_cache_size_ratio = 80\n");
  ASSERT_TRUE(told);
  EXPECT_EQ(told->bytes(), 7 << 20);
  EXPECT_EQ(told->remain_percent, 80);
  EXPECT_TRUE(read_limit("[op_compiler_cache]\nmax_op_cache_size=7\nremain_cache_size_ratio=1"));
  for (const char* wrong : {"", "[op_compiler_cache]\nascend_max_op_cache_size=7",
                            "ascend_max_op_cache_size=7\nascend_remain_cache_size_ratio=80",
                            "[op_compiler_cache]\nascend_max_op_cache_size=0\nascend_remain_cache_size_ratio=80",
                            "[op_compiler_cache]\nascend_max_op_cache_size=7\nascend_remain_cache_size_ratio=101",
                            "[op_compiler_cache]\nascend_max_op_cache_size=7 MB\nascend_remain_cache_size_ratio=80",
                            "[other]\nascend_max_op_cache_size=7\nascend_remain_cache_size_ratio=80"})
    EXPECT_FALSE(read_limit(wrong)) << wrong;
}

TEST_F(CompileCache, TheFileOfLimitsWins) {
  EXPECT_EQ(limit_of(root_).megabytes, 500);
  EXPECT_EQ(limit_of(root_).remain_percent, 50);
  write_limit(root_);
  EXPECT_EQ(read_limit(content(root_ / "op_cache.ini"))->megabytes, 500);
  replace(root_ / "op_cache.ini",
          "[op_compiler_cache]\nascend_max_op_cache_size=3\nascend_remain_cache_size_ratio=9\n");
  write_limit(root_);
  EXPECT_EQ(limit_of(root_).megabytes, 3) << "what a user wrote stays";
  EXPECT_EQ(limit_of(root_).remain_percent, 9);
}

/// Real steps, compiled and taken from the cache, train alike.
class CachedStep : public testing::TestWithParam<const char*> {};

TEST_P(CachedStep, TrainsTheSame) {
  using namespace tensorflow;  // NOLINT: the fixture's words
  char name[] = "/tmp/anynpu-cache-XXXXXX";
  const fs::path root = mkdtemp(name);
  std::vector<std::vector<Value>> runs;
  std::vector<std::string> told;
  class Ear final : public Listener {
   public:
    explicit Ear(std::vector<std::string>& told) : told_(told) {}
    void looked_up(const std::string& function, const Lookup& lookup) override {
      if (lookup.outcome != Outcome::kLeft) told_.push_back(function + " " + to_string(lookup));
    }

   private:
    std::vector<std::string>& told_;
  };
  for (int run = 0; run < 2; ++run) {
    Program program;
    read_graph(recorded_file(std::string(GetParam()) + ".pb"), "outer", recorded_operators(), program);
    RecordedFeed feed(GetParam());
    Library library(0, [&](const Node& node, std::span<const Value>) { return feed.next(node); });
    library.listen(std::make_shared<Ear>(told));
    library.keep_in(std::make_shared<Cache>(Mode::kEnable, root));
    library.add(program);
    const std::vector<Value> arguments = feed.arguments();
    std::vector<Value> out;
    for (int i = 0; i < 3; ++i) out = library.get(step_of(program))->run(arguments);
    for (const Value& argument : arguments)
      if (auto* variable = dynamic_cast<Variable*>(argument.object.get())) out.push_back(variable->read());
    runs.push_back(std::move(out));
  }
  fs::remove_all(root);
  ASSERT_EQ(told.size() % 2, 0u);
  for (size_t i = 0; i < told.size() / 2; ++i) {
    EXPECT_NE(told[i].find(" miss "), std::string::npos) << told[i];
    EXPECT_NE(told[told.size() / 2 + i].find(" hit "), std::string::npos) << told[told.size() / 2 + i];
  }
  EXPECT_FALSE(told.empty());
  ASSERT_EQ(runs[0].size(), runs[1].size());
  for (size_t i = 0; i < runs[0].size(); ++i) {
    const Tensor &a = runs[0][i].tensor, &b = runs[1][i].tensor;
    EXPECT_EQ(std::memcmp(a.bytes(), b.bytes(), static_cast<size_t>(npu::bytes_of(a))), 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Step, CachedStep, testing::ValuesIn(tensorflow::kRecorded),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace npu::graph::cache
