// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/event.h"

#include <unordered_map>

#include "tools/profile/export/cell.h"
#include "tools/profile/trace/step.h"

namespace npu::profile {
namespace {

using device::trace::Mark;

double us(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

const char* event_name(Mark kind) {
  switch (kind) {
    case Mark::kMoment: return "marker_ex";
    case Mark::kRange: return "start/end";
    case Mark::kNested: return "push/pop";
    case Mark::kStep: return "step";
  }
  return "N/A";
}

}  // namespace

bool has_marks(const Trace& trace) { return !trace.marks.empty(); }

void write_marks(const Trace& trace, Sink& out) {
  out << "pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message,"
         "domain,mark_id,Device Start_time(us),Device End_time(us)\n";
  std::unordered_map<uint64_t, const MarkRecord*> of_streams;
  for (const MarkRecord& mark : trace.marks)
    if (mark.device >= 0) of_streams[mark.number] = &mark;
  for (const MarkRecord& mark : trace.marks) {
    if (mark.device >= 0 && mark.kind != Mark::kStep) continue;
    out.print("{},{},N/A,{},N/A,N/A,", trace.process, mark.thread, event_name(mark.kind));
    out.microseconds(mark.start) << ",";
    out.microseconds(mark.end).print(",message,{},{},{},", cell(trace.text(mark.text)),
                                     mark.domain == 0 ? "default" : cell(trace.text(mark.domain)), mark.number);
    const auto seen = of_streams.find(mark.number);
    if (seen == of_streams.end()) {
      out << "N/A,N/A\n";
      continue;
    }
    out.microseconds(seen->second->start) << ",";
    out.microseconds(seen->second->end) << "\n";
  }
}

bool has_memory(const Trace& trace) { return !trace.memory.empty(); }

void write_memory(const Trace& trace, Sink& out) {
  out << "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n";
  for (const MemoryRecord& record : trace.memory) {
    const double kilobytes = static_cast<double>(record.used) / 1024;
    out.print("{},APP,0,{:.3f},{:.3f},", record.device, kilobytes, kilobytes);
    out.microseconds(record.end) << "\n";
  }
}

bool has_steps(const Trace& trace) { return !steps_of(trace).empty(); }

void write_steps(const Trace& trace, Sink& out) {
  const std::vector<Step> steps = steps_of(trace);
  size_t most = 0;
  for (const Step& step : steps) most = std::max(most, step.reductions.size());
  out << "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
         "Iteration Refresh(us),Data Aug Bound(us),Model ID";
  for (size_t i = 0; i < most; ++i) out << ",Reduce Start(us),Reduce Duration(us)";
  out << "\n";
  int64_t before = 0;
  for (const Step& step : steps) {
    out.print("{},{},", step.device, step.number);
    out.microseconds(step.forward) << ",";
    out.microseconds(step.backward) << ",";
    out.microseconds(step.end).print(",{:.3f},{:.3f},{:.3f},{:.3f},4294967295", us(step.end - step.forward),
                                     us(step.backward - step.forward), us(step.end - step.backward),
                                     before == 0 ? 0 : us(step.forward - before));
    for (size_t i = 0; i < most; ++i) {
      if (i >= step.reductions.size()) {
        out << ",N/A,N/A";
        continue;
      }
      out << ",";
      out.microseconds(step.reductions[i].start)
          .print(",{:.3f}", us(step.reductions[i].end - step.reductions[i].start));
    }
    out << "\n";
    before = step.end;
  }
}

}  // namespace npu::profile
