// SPDX-License-Identifier: Apache-2.0
#include "device/queue/capture.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "device/context/context.h"
#include "device/device_fixture.h"
#include "device/queue/event.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

class CaptureTest : public testing::Test {
 protected:
  DefaultLaunches defaults_;
  void* handle_ = (set_device(0), create_stream());
  void* other_handle_ = create_stream();
  void* event_ = create_event(0);
  void* back_ = create_event(0);
  Stream& stream_ = stream_from_handle(handle_);
  Stream& other_ = stream_from_handle(other_handle_);
  std::string log_;

  void TearDown() override {
    if (captured(stream_)) raised([&] { end_capture(stream_); });
    destroy_event(event_);
    destroy_event(back_);
    destroy_stream_force(other_handle_);
    destroy_stream_force(handle_);
  }
  void launch(Stream& stream, char word) {
    stream.launch({"append", 0, kTaskKernel, [this, word] { log_ += word; }});
  }
  void* captured_letters(const char* letters) {
    begin_capture(stream_, CaptureMode::kGlobal);
    for (const char* c = letters; *c != 0; ++c) launch(stream_, *c);
    return end_capture(stream_);
  }
};

TEST_F(CaptureTest, RecordsInPlaceOfRunningAndRunsAgainAndAgain) {
  EXPECT_FALSE(capturing());
  begin_capture(stream_, CaptureMode::kGlobal);
  EXPECT_TRUE(captured(stream_));
  EXPECT_FALSE(captured(other_));
  launch(stream_, 'a');
  launch(other_, 'x');  // another stream goes on
  launch(stream_, 'b');
  EXPECT_EQ(log_, "x");
  const CaptureInfo info = capture_info(stream_);
  EXPECT_EQ(info.status, CaptureStatus::kActive);
  void* graph = end_capture(stream_);
  EXPECT_EQ(graph, info.graph);
  EXPECT_EQ(capture_info(stream_).status, CaptureStatus::kNone);
  EXPECT_FALSE(capturing());
  EXPECT_EQ(log_, "x");
  launch(stream_, 'y');
  execute_graph(graph, stream_);
  execute_graph(graph, other_);
  other_.synchronize();
  stream_.synchronize();
  EXPECT_EQ(log_, "xyabab");
  EXPECT_NE(describe_graph(graph).find("2 tasks\n     1 append\n     2 append"), std::string::npos);
  EXPECT_NE(graph_id(graph), 0u);
  destroy_graph(graph);
}

TEST_F(CaptureTest, LongAndShortTasksKeepTheirOrderInARun) {
  begin_capture(stream_, CaptureMode::kGlobal);
  for (int i = 0; i < 50; ++i) {
    stream_.launch({"long", 2 * kInlineBound, kTaskKernel, [this, i] { log_ += static_cast<char>('A' + i % 26); }});
    launch(stream_, '.');
  }
  void* graph = end_capture(stream_);
  std::string once;
  for (int i = 0; i < 50; ++i) (once += static_cast<char>('A' + i % 26)) += '.';
  for (int i = 0; i < 20; ++i) execute_graph(graph, stream_);
  stream_.synchronize();
  std::string wanted;
  for (int i = 0; i < 20; ++i) wanted += once;
  EXPECT_EQ(log_, wanted);
  destroy_graph(graph);
}

TEST_F(CaptureTest, AStreamJoinsByAnEventAndComesBack) {
  begin_capture(stream_, CaptureMode::kGlobal);
  launch(stream_, 'a');
  EXPECT_TRUE(record_in_capture(stream_, event_));
  EXPECT_TRUE(wait_in_capture(other_, event_));
  EXPECT_TRUE(captured(other_));
  EXPECT_EQ(capture_info(other_).graph, capture_info(stream_).graph);
  launch(other_, 'b');
  EXPECT_TRUE(record_in_capture(other_, back_));
  EXPECT_TRUE(wait_in_capture(stream_, back_));
  launch(stream_, 'c');
  EXPECT_ERROR(end_capture(other_), Code::kRtParamInvalid, "began on another stream");
  void* graph = end_capture(stream_);
  EXPECT_FALSE(captured(other_));
  EXPECT_FALSE(wait_in_capture(other_, event_));
  for (int i = 0; i < 2; ++i) execute_graph(graph, stream_);
  stream_.synchronize();
  EXPECT_EQ(log_, "abcabc");
  destroy_graph(graph);
}

TEST_F(CaptureTest, WorkThatDoesNotComeBackGivesNoGraph) {
  begin_capture(stream_, CaptureMode::kGlobal);
  record_in_capture(stream_, event_);
  wait_in_capture(other_, event_);
  launch(other_, 'a');
  record_in_capture(other_, back_);
  wait_in_capture(stream_, back_);
  launch(other_, 'b');  // behind the way back
  EXPECT_ERROR(end_capture(stream_), Code::kRtParamInvalid, "did not come back");
  EXPECT_FALSE(captured(stream_));
  EXPECT_FALSE(captured(other_));
  launch(other_, 'z');
  EXPECT_EQ(log_, "z");
}

TEST_F(CaptureTest, WrongCallsAreRefused) {
  EXPECT_ERROR(end_capture(stream_), Code::kRtParamInvalid, "is not captured");
  begin_capture(stream_, CaptureMode::kGlobal);
  EXPECT_ERROR(begin_capture(stream_, CaptureMode::kGlobal), Code::kRtParamInvalid, "captured already");
  void* early = capture_info(stream_).graph;
  EXPECT_ERROR(execute_graph(early, other_), Code::kRtParamInvalid, "still recorded");
  EXPECT_ERROR(destroy_graph(early), Code::kRtParamInvalid, "still recorded");
  EXPECT_ERROR(check_not_captured(stream_, "synchronise"), Code::kRtParamInvalid, "cannot synchronise stream");
  record_in_capture(stream_, event_);
  EXPECT_ERROR(check_event_not_captured(event_, "query"), Code::kRtParamInvalid, "cannot query the event");
  begin_capture(other_, CaptureMode::kGlobal);
  EXPECT_ERROR(wait_in_capture(other_, event_), Code::kRtParamInvalid, "another capture");
  destroy_graph(end_capture(other_));
  void* graph = end_capture(stream_);
  begin_capture(stream_, CaptureMode::kGlobal);
  EXPECT_ERROR(execute_graph(graph, stream_), Code::kRtParamInvalid, "cannot run a graph on stream");
  destroy_graph(end_capture(stream_));
  destroy_graph(graph);
  EXPECT_ERROR(execute_graph(graph, stream_), Code::kRtInvalidHandle, "a recorded graph that was destroyed");
  EXPECT_ERROR(execute_graph(handle_, stream_), Code::kRtInvalidHandle, "the handle of a stream");
}

TEST_F(CaptureTest, AGraphStaysOnItsDevice) {
  void* graph = captured_letters("a");
  set_device(1);
  void* far = create_stream();
  EXPECT_ERROR(execute_graph(graph, stream_from_handle(far)), Code::kRtParamInvalid, "recorded on device 0");
  begin_capture(stream_, CaptureMode::kGlobal);
  record_in_capture(stream_, event_);
  EXPECT_ERROR(wait_in_capture(stream_from_handle(far), event_), Code::kRtParamInvalid, "of device 1 cannot join");
  destroy_graph(end_capture(stream_));
  destroy_stream(far);
  set_device(0);
  destroy_graph(graph);
}

TEST_F(CaptureTest, AnEventFromBeforeMustBeReached) {
  std::atomic<bool> go{false};
  other_.launch({"gate", 0, kTaskMayWait, [&] {
                   while (!go) std::this_thread::yield();
                 }});
  record_event(event_, other_);
  begin_capture(stream_, CaptureMode::kGlobal);
  EXPECT_ERROR(wait_in_capture(stream_, event_), Code::kRtParamInvalid, "a graph cannot wait for it");
  go = true;
  synchronize_event(event_);
  EXPECT_TRUE(wait_in_capture(stream_, event_));
  destroy_graph(end_capture(stream_));
}

TEST_F(CaptureTest, WhatMeetsOthersIsRefusedAndSpoilsTheCapture) {
  begin_capture(stream_, CaptureMode::kGlobal);
  EXPECT_ERROR(stream_.launch({"all reduce", 0, kTaskMayWait, [this] { log_ += 'r'; }}), Code::kFeatureUnsupported,
               "all reduce meets other ranks");
  EXPECT_EQ(capture_info(stream_).status, CaptureStatus::kInvalidated);
  EXPECT_ERROR(end_capture(stream_), Code::kRtParamInvalid, "all reduce meets");
  EXPECT_FALSE(captured(stream_));
  EXPECT_EQ(log_, "");
}

TEST_F(CaptureTest, AFailedTaskIsNamedAndEndsTheRun) {
  begin_capture(stream_, CaptureMode::kGlobal);
  launch(stream_, 'a');
  stream_.launch({"divide", 0, kTaskKernel, [] { fail(Code::kAicoreException, "by zero"); }});
  launch(stream_, 'b');
  void* graph = end_capture(stream_);
  execute_graph(graph, stream_);
  EXPECT_ERROR(stream_.synchronize(), Code::kAicoreException, "task 2 of 3 of graph");
  EXPECT_EQ(log_, "a");
  execute_graph(graph, stream_);
  EXPECT_ERROR(stream_.synchronize(), Code::kAicoreException, "divide: by zero; the tasks behind it did not run");
  EXPECT_EQ(log_, "aa");
  destroy_graph(graph);
}

TEST_F(CaptureTest, QueuedRunsOutliveTheHandle) {
  void* graph = captured_letters("ab");
  std::atomic<bool> go{false};
  stream_.launch({"gate", 0, kTaskMayWait, [&] {
                    while (!go) std::this_thread::yield();
                  }});
  execute_graph(graph, stream_);
  destroy_graph(graph);
  go = true;
  stream_.synchronize();
  EXPECT_EQ(log_, "ab");
}

TEST_F(CaptureTest, RunsOfOneGraphDoNotOverlap) {
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  begin_capture(stream_, CaptureMode::kGlobal);
  stream_.launch({"alone", 2 * kInlineBound, kTaskKernel, [&] {
                    if (inside.fetch_add(1) != 0) overlapped = true;
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    inside.fetch_sub(1);
                  }});
  void* graph = end_capture(stream_);
  for (int i = 0; i < 20; ++i) {
    execute_graph(graph, stream_);
    execute_graph(graph, other_);
  }
  stream_.synchronize();
  other_.synchronize();
  EXPECT_FALSE(overlapped);
  destroy_graph(graph);
}

TEST_F(CaptureTest, ModesSayWhoMayCallWhatIsNotSafe) {
  const auto refused = [] { return raised([] { check_safe("a synchronous copy"); }).code != Code::kOk; };
  const auto refused_elsewhere = [&](CaptureMode mode) {
    bool answer = false;
    std::thread([&] {
      exchange_capture_mode(mode);
      answer = refused();
    }).join();
    return answer;
  };
  EXPECT_FALSE(refused());
  begin_capture(stream_, CaptureMode::kGlobal);
  EXPECT_TRUE(refused());
  EXPECT_TRUE(refused_elsewhere(CaptureMode::kGlobal));
  EXPECT_FALSE(refused_elsewhere(CaptureMode::kThreadLocal));
  EXPECT_EQ(exchange_capture_mode(CaptureMode::kRelaxed), CaptureMode::kGlobal);
  EXPECT_FALSE(refused());
  EXPECT_EQ(exchange_capture_mode(CaptureMode::kGlobal), CaptureMode::kRelaxed);
  destroy_graph(end_capture(stream_));
  begin_capture(stream_, CaptureMode::kThreadLocal);
  EXPECT_TRUE(refused());
  EXPECT_FALSE(refused_elsewhere(CaptureMode::kGlobal));
  destroy_graph(end_capture(stream_));
  begin_capture(stream_, CaptureMode::kRelaxed);
  EXPECT_FALSE(refused());
  EXPECT_FALSE(refused_elsewhere(CaptureMode::kGlobal));
  destroy_graph(end_capture(stream_));
}

TEST_F(CaptureTest, ACaptureWhoseStreamIsGoneIsForgotten) {
  void* gone = create_stream();
  begin_capture(stream_from_handle(gone), CaptureMode::kRelaxed);
  destroy_stream_force(gone);
  EXPECT_TRUE(capturing());
  destroy_graph(captured_letters("a"));
  EXPECT_FALSE(capturing());
}

}  // namespace
}  // namespace npu::device
