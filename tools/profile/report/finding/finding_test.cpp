// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/finding/finding.h"

#include <gtest/gtest.h>

#include <array>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

/// The first finding of one or several processes.
Finding first_of(const std::vector<Recorded>& runs) {
  std::vector<Trace> traces;
  for (const Recorded& run : runs) traces.push_back(run.trace);
  const std::vector<Facts> all = facts_of(traces);
  const std::vector<Finding> found = findings_of(all);
  return found.empty() ? Finding{.title = "nothing"} : found.front();
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
#define EXPECT_HAS(text, part) EXPECT_TRUE(has(text, part)) << text

TEST(Finding, ALoaderThatIsSlow) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t time = step * 20'000;
    run.call("aclrtMemcpy", time, time + 50);
    run.task("Mm", time + 60, time + 2000);
  }
  const Finding found = first_of({run});
  EXPECT_HAS(found.title, "waits for data");
  EXPECT_EQ(found.cost, 9 * 18'000'000);
  EXPECT_HAS(found.where,
             "9 pauses of 18.000 ms on average, from 1.940 to 179.940 ms: 9 × between aclrtMemcpy and aclrtMemcpy");
}

Recorded trips(uint64_t bytes, device::trace::Move back = device::trace::Move::kHostToDevice) {
  Recorded run;
  const auto copy = [&](int64_t start, device::trace::Move move, uint64_t size) {
    TaskRecord& task = run.task("memcpy", start, start + 10, -1, Unit::kNone);
    task.move = move, task.bytes = size;
  };
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t time = step * 1000;
    run.task("Mm", time + 5, time + 100, Recorded::kLongAgo);
    copy(time + 100, device::trace::Move::kDeviceToHost, bytes);
    copy(time + 990, back, 4096);
  }
  return run;
}

TEST(Finding, DataGoesToTheHostAndComesBack) {
  const Finding found = first_of({trips(4096)});
  EXPECT_HAS(found.title, "copied to the host, computed with there");
  EXPECT_EQ(found.cost, 9 * 880'000);
  EXPECT_HAS(found.where, "9 times: 9 × between Mm and Mm");
  EXPECT_HAS(first_of({trips(4096, device::trace::Move::kDeviceToHost)}).title, "waits for data");
  EXPECT_HAS(first_of({trips(4)}).title, "waits for data");  // a number that was looked at, and the next batch
}

TEST(Finding, AResultIsReadBackEachTime) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t time = step * 150;
    run.task("Mm", time, time + 100);
    run.call("aclrtSynchronizeStreamWithTimeout", time + 10, time + 101);
    run.call("aclrtMemcpy", time + 102, time + 103);
  }
  const Finding found = first_of({run});
  EXPECT_HAS(found.title, "waits for results");
  EXPECT_EQ(found.cost, 9 * 50'000);
  EXPECT_HAS(found.where, "10 calls waited: 10 × aclrtSynchronizeStreamWithTimeout");
}

TEST(Finding, ManySmallOperators) {
  Recorded run;
  for (int64_t step = 0; step < 100; ++step) run.task("Adds", step * 5, step * 5 + 1);
  const Finding found = first_of({run});
  EXPECT_HAS(found.title, "many small operators");
  EXPECT_EQ(found.cost, 99 * 4000);
  EXPECT_HAS(found.where, "100 operators of 1.0 us (median), 4.0 us of the host before the next: 99 × Adds");
}

TEST(Finding, LargeOperatorsThatComeLateAreNotSmall) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) run.task("Mm", step * 500, step * 500 + 400);
  EXPECT_HAS(first_of({run}).title, "waits for the host to queue");
}

TEST(Finding, LateStarts) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) run.task("Mm", step * 50, step * 50 + 30, Recorded::kLongAgo);
  EXPECT_HAS(first_of({run}).title, "begin late");
}

TEST(Finding, CopiesOfTheHost) {
  Recorded run;
  run.task("Mm", 0, 100);
  run.call("aclrtMemcpy", 100, 190);
  run.task("Mm", 190, 200);
  EXPECT_HAS(first_of({run}).title, "while the host copies");
}

Recorded chain(std::string_view third) {
  Recorded run;
  for (int64_t step = 0; step < 5; ++step) {
    const int64_t time = step * 300;
    run.elementwise("Mul", time, time + 100, "64,64");
    run.elementwise("Add", time + 100, time + 200, "64,64");
    run.elementwise(third, time + 200, time + 300, "64,64");
  }
  return run;
}

TEST(Finding, AChainThatIsNotFused) {
  const Finding found = first_of({chain("Tanh")});
  EXPECT_EQ(found.title, "a chain of 3 elementwise operators is not fused");
  EXPECT_EQ(found.where, "Mul Add Tanh on 64,64, 5 times, 1.500 ms");
  EXPECT_EQ(found.cost, 5 * 200'000);  // one pass over memory in place of three
}

TEST(Finding, NoChain) {
  EXPECT_EQ(first_of({chain("Softmax")}).title, "nothing");
  Recorded other = chain("Tanh");
  for (TaskRecord& task : other.trace.tasks[0])
    if (other.trace.text(task.type) == "Add") task.outputs = other.text("64|FLOAT|ND");
  EXPECT_EQ(first_of({other}).title, "nothing");
  Recorded spread = chain("Tanh");  // of one element to all
  for (TaskRecord& task : spread.trace.tasks[0]) task.inputs = spread.text("1|FLOAT|ND");
  EXPECT_EQ(first_of({spread}).title, "nothing");
  Recorded same;  // over parts of something, more likely
  for (int64_t step = 0; step < 9; ++step) same.elementwise("Add", step * 100, step * 100 + 100, "64,64");
  EXPECT_EQ(first_of({same}).title, "nothing");
}

TEST(Finding, AFunctionIsCompiledAgain) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t time = step * 10'000;
    run.call("anynpu_library_add", time + 7000, time + 7100);
    run.call("anynpu_library_run", time + 7200, time + 9000);
    const std::string name = "__inference_step_" + std::to_string(step);
    for (const auto& [kind, start] : {std::pair{HostWork::kPasses, 7200}, {HostWork::kPlan, 7300}}) {
      GraphRecord& work = run.work(kind, time + start, time + start + 100, name);
      work.need = step == 0 ? Need::kFirst : Need::kAnew, work.reason = run.text("with other shapes");
    }
    // What makes its argument needs a plan for each shape, too, and once it lost its core meanwhile.
    run.work(HostWork::kPlan, time + 7110, time + (step == 5 ? 7190 : 7111), "Fill").need = Need::kValues;
    std::ranges::stable_sort(run.trace.graphs, {}, &GraphRecord::start);
    TaskRecord& task = run.task("MatMulV2", time + 8700, time + 8990);
    task.launched = 0, task.graph = run.text(name);
  }
  const Finding found = first_of({run});
  EXPECT_HAS(found.title, "traced and compiled anew");
  EXPECT_EQ(found.where, "9 × step; compiling took 1.800 ms of the host; the last time with other shapes");
  // Traced, handed over, compiled, and Fill.
  EXPECT_EQ(found.cost, 9 * (8'000'000 + 100'000 + 200'000) + 8 * 1'000 + 80'000);
}

/// Runs of one function, of which all but the first need a plan of their own because of `need`.
Recorded planned(Need need) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t time = step * 1000;
    run.call("anynpu_library_run", time, time + 990);
    GraphRecord& work = run.work(HostWork::kPlan, time + 10, time + 800, "__inference_step_7");
    work.need = step == 0 ? Need::kFirst : need, work.reason = step == 0 ? 0 : run.text("argument x was");
    TaskRecord& task = run.task("MatMulV2", time + 800, time + 990);
    task.launched = 0, task.graph = run.text("__inference_step_7"), task.step = static_cast<uint32_t>(step);
  }
  return run;
}

TEST(Finding, OneFunctionNeedsAPlanForEachShape) {
  const Finding shapes = first_of({planned(Need::kShapes)}), values = first_of({planned(Need::kValues)});
  EXPECT_HAS(shapes.title, "compiled anew again and again, for other shapes");
  EXPECT_HAS(shapes.cure, "pad to a few sizes");
  EXPECT_HAS(shapes.where, "9 × step; compiling took 7.110 ms of the host; the last time argument x was");
  EXPECT_EQ(shapes.cost, 9 * 790'000);
  EXPECT_HAS(values.title, "for other values");
}

TEST(Finding, AGraphWaitsForItsData) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t time = step * 1000;
    run.call("anynpu_library_run", time, time + 990);
    run.work(HostWork::kNode, time + 10, time + 800, "__inference_loop_7").type = run.text("IteratorGetNext");
    TaskRecord& task = run.task("MatMulV2", time + 800, time + 990);
    task.launched = 0, task.graph = run.text("__inference_loop_7"), task.step = static_cast<uint32_t>(step);
  }
  const Finding found = first_of({run});
  EXPECT_HAS(found.title, "asks its data set");
  EXPECT_EQ(found.where, "10 × IteratorGetNext 7.900 ms; in 10 × loop");
}

TEST(Finding, AGraphGoesOnOnTheHost) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t time = step * 1000;
    run.call("anynpu_library_run", time, time + 990);
    GraphRecord& node = run.work(HostWork::kNode, time + 110, time + 890, "__inference_fall_3");
    node.type = run.text("AsString"), node.reason = run.text("there is no kernel of it");
    for (const int64_t start : {10, 900}) {
      TaskRecord& task = run.task("MatMulV2", time + start, time + start + 90);
      task.launched = 0, task.graph = run.text("__inference_fall_3"), task.step = static_cast<uint32_t>(step);
    }
  }
  const Finding found = first_of({run});
  EXPECT_HAS(found.title, "computes operators on the host");
  EXPECT_EQ(found.cost, 10 * 780'000);
  EXPECT_EQ(found.where, "10 × AsString 7.800 ms; in 10 × fall; why: 10 × there is no kernel of it");
}

/// Of rank `device`, which waits in each of ten collectives.
Recorded rank(int device, int64_t waited) {
  Recorded run(static_cast<uint32_t>(100 + device));
  run.device = device;
  for (uint32_t step = 0; step < 10; ++step) {
    const int64_t time = step * 1000;
    run.task("Mm", time, time + 900 - waited, Recorded::kLongAgo);
    TaskRecord& meeting =
        run.task("HcomAllReduce", time + 900 - waited, time + 1000, Recorded::kLongAgo, Unit::kCollective);
    meeting.waited = waited * 1000, meeting.step = step, meeting.graph = run.text("group");
  }
  return run;
}

TEST(Finding, ARankThatOthersWaitFor) {
  const Finding found = first_of({rank(0, 700), rank(1, 650), rank(2, 5)});
  EXPECT_EQ(found.title, "other ranks wait for NPU 2, process 102");
  EXPECT_EQ(found.cost, 10 * 700'000);
  EXPECT_HAS(found.where, "it came last to 10 collectives");
}

TEST(Finding, OneRankAloneTellsThatItWaits) {
  const Finding found = first_of({rank(0, 700)});
  EXPECT_HAS(found.title, "this rank waits for others");
  EXPECT_HAS(found.cure, "profile all ranks");
}

TEST(Finding, CollectivesThatNothingOverlaps) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) {
    run.task("Mm", step * 100, step * 100 + 30, Recorded::kLongAgo);
    run.task("HcomAllReduce", step * 100 + 20, step * 100 + 100, Recorded::kLongAgo, Unit::kCollective).stream = 2;
  }
  const Finding found = first_of({run});
  EXPECT_HAS(found.title, "collectives move data");
  EXPECT_EQ(found.cost, 10 * 70'000);
}

TEST(Finding, OfSeveralDevicesTheWorst) {
  Recorded fast, slow(78);
  slow.device = 1;
  for (int64_t step = 0; step < 10; ++step) {
    fast.task("Mm", step * 100, step * 100 + 90);
    slow.task("Mm", step * 100, step * 100 + 30);
  }
  EXPECT_EQ(first_of({fast, slow}).who, "NPU 1, process 78");
}

TEST(Finding, ABusyDeviceHasNone) {
  Recorded run;
  for (int64_t step = 0; step < 10; ++step) run.task("Mm", step * 100, step * 100 + 99, Recorded::kLongAgo);
  EXPECT_EQ(first_of({run}).title, "nothing");
}

TEST(Finding, NamesTheModuleThatMostOfItIsIn) {
  Recorded run;
  const auto step = [&](int64_t time, std::string_view module, std::string_view type) {
    run.module(module, time);
    run.call("aclnnAdd", time, time + 90, Level::kOperator);
    run.task(type, time + 90, time + 95);
  };
  for (int64_t time = 0; time < 3000; time += 300) {
    step(time, "net.layers.0", "Relu");
    step(time + 100, "net.layers.3", "Add");
    step(time + 200, "net.layers.3", "Mul");
  }
  const Finding found = first_of({run});
  EXPECT_HAS(found.title, "many small operators");
  EXPECT_HAS(found.where, "; mostly in net.layers.3 (69 %)");
}

TEST(Finding, ANumberIsLookedAtInAModule) {
  Recorded run;
  run.module("net.gate", 0);
  for (int64_t time = 0; time < 1000; time += 100) {
    run.task("Mm", time, time + 50);
    run.call("aclrtSynchronizeStream", time + 5, time + 50);
  }
  const Finding found = first_of({run});
  EXPECT_HAS(found.title, "waits for results");
  EXPECT_HAS(found.where, "; mostly in net.gate (100 %)");
}

TEST(Finding, AChainIsOfItsModule) {
  Recorded run;
  run.module("net.act", 0);
  for (int64_t i = 0; i < 9; ++i)
    run.elementwise(std::array{"Mul", "Tanh", "Add"}.at(static_cast<size_t>(i % 3)), i * 100, i * 100 + 100, "1024")
        .launched = 1;
  EXPECT_HAS(first_of({run}).where, "; mostly in net.act (100 %)");
}

}  // namespace
}  // namespace npu::profile
