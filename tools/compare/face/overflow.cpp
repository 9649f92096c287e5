// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "graph/dump/record/dump_name.h"
#include "graph/dump/record/format.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/face/arguments.h"
#include "tools/compare/face/convert.h"
#include "tools/compare/face/face.h"
#include "tools/compare/folder/below.h"
#include "tools/compare/folder/dump_folder.h"
#include "tools/compare/metric/measure.h"
#include "tools/compare/overflow/record.h"
#include "tools/compare/report/csv.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;
namespace record = graph::record;

bool ran(const record::DumpName& name, const OverflowTask& task) {
  if (name.op_type == "Opdebug" || name.task != task.task || name.stream.value_or(0) != task.stream) return false;
  if (task.context && *task.context != 0 && (!name.slice || name.slice->context != *task.context)) return false;
  return !task.thread || *task.thread == 0 || (name.slice && name.slice->thread == *task.thread);
}

std::string facts_of(const Tensor& tensor) {
  const View view = plain_view(tensor);
  const Sums sums = measure(view, view, view.count, false).sums;
  return fmt::format("[Shape: {}] [Dtype: {}] [Max: {}] [Min: {}] [Mean: {}]", shape_text(view.shape), view.type->word,
                     sums.max_x, sums.min_x, view.count == 0 ? 0 : sums.x / static_cast<double>(view.count));
}

void add_tensors(const Opened& opened, const char* kind, const std::vector<Tensor>& tensors, std::string& text) {
  for (size_t i = 0; i < tensors.size(); ++i)
    text += fmt::format(" {}.{}.{}.npy\n -[Format: {}] {}\n", fs::path(opened.path()).filename().string(), kind, i,
                        record::format_name(tensors[i].facts.format), facts_of(tensors[i]));
}

/// One operator that overflowed: what it was, what the device noted, what went in and out.
std::string summary(size_t number, const Named& debug, const std::vector<Named>& files, const std::string& output) {
  const Opened opened({debug.path, debug.path, 0});
  if (opened.outputs().empty()) throw Refusal(Exit::kDamaged, fmt::format("{} holds no record.", debug.path));
  Conversion conversion;
  conversion.output = output;
  convert_file(debug.path, conversion);
  const OverflowTask task = overflow_task(decode_overflow(opened.outputs()[0].bytes));
  std::string text = fmt::format("{0:=<49}[{1}]{0:=<50}\n", "", number);
  const auto op = std::ranges::find_if(files, [&](const Named& file) {
    return fs::path(file.path).parent_path() == fs::path(debug.path).parent_path() && ran(file.name, task);
  });
  const std::string note = fmt::format(" [{}][TaskId:{}][StreamId:{}][Status:{}]\n [timestamp:{}]\n", task.kind,
                                       task.task, task.stream, task.status, debug.name.timestamp);
  if (op == files.end()) return text + note;
  const Opened dump({op->path, op->path, 0});
  convert_file(op->path, conversion);
  text += fmt::format("[{}] {}\n", op->name.op_type,
                      dump.dump()->data().op_name.empty() ? op->name.op_name : dump.dump()->data().op_name) +
          note;
  add_tensors(dump, "input", dump.inputs(), text);
  add_tensors(dump, "output", dump.outputs(), text);
  return text;
}

}  // namespace

int overflow_face(const Words& arguments) {
  std::string path, output;
  int64_t most = 1;
  Arguments a;
  a.value("-d --dump_path", path, "<Required> the folder of the dump files", true);
  a.value("-out --output", output, "<Required> the folder of the results", true);
  a.number("-n --top_n", most, "<Optional> how many are looked at, 1 to 5; 1");
  if (!a.read(arguments, "msaccucmp overflow")) return 0;
  if (most < 1 || most > 5)
    throw UsageError{fmt::format("argument -n/--top_n: invalid choice: {} (choose from 1, 2, 3, 4, 5)", most)};
  if (!fs::is_directory(path))
    throw Refusal(Exit::kPath, fmt::format("[Overflow] the -d parameter: \"{}\" is invalid!", path));
  fs::create_directories(output);
  const std::vector<Named> files = files_below(path);
  std::vector<Named> records;
  std::ranges::copy_if(files, std::back_inserter(records), [](const Named& f) { return f.name.op_type == "Opdebug"; });
  if (records.empty()) return warn("[Overflow] Find [0] overflow node!"), 0;
  const size_t shown = std::min(records.size(), static_cast<size_t>(most));
  inform(fmt::format("[Overflow] Find [{}] overflow ops. Will show the top {}.", records.size(), shown));
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += summary(i + 1, records[i], files, output);
  inform("[Overflow] The overflow analyse result:\n " + text);
  write_file(fs::path(output) / fmt::format("overflow_summary_{}.txt", time_stamp()), text);
  return 0;
}

}  // namespace npu::compare
