// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/face/face.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <thread>

#include "base/cores.h"
#include "base/error.h"
#include "tools/profile/export/communication.h"
#include "tools/profile/export/database.h"
#include "tools/profile/export/table.h"
#include "tools/profile/face/collecting.h"
#include "tools/profile/face/listing.h"
#include "tools/profile/output/draft.h"
#include "tools/profile/output/sink.h"
#include "tools/profile/timeline/json.h"
#include "tools/profile/timeline/perfetto.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string exports, analyze, output, type = "text";
};

constexpr int kLongestWaitMs = 1000;
constexpr std::chrono::milliseconds kAfterListing{50};

std::string time_of_names() { return fmt::format("{:%Y%m%d%H%M%S}", fmt::localtime(std::time(nullptr))); }

/// Runs jobs, as many at once as there are cores; raises the first one's error.
void side_by_side(const std::vector<std::function<void()>>& jobs) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) jobs[i]();
  };
  std::vector<std::future<void>> helpers(std::min<size_t>(jobs.size(), usable_cores()));
  for (std::future<void>& helper : helpers) helper = std::async(std::launch::async, work);
  for (std::future<void>& helper : helpers) helper.wait();
  for (std::future<void>& helper : helpers) helper.get();
}

/// The files of mindstudio_profiler_output, by the order in which they appear: all or, where one cannot be written,
/// none. The timeline is the first: torch_npu reads all when it sees a table.
void write_files(const Trace& trace, const fs::path& place, bool perfetto_alone) {
  const std::string time = time_of_names();
  std::deque<Sink> files;
  std::vector<std::function<void()>> jobs;
  const auto write = [&](std::string_view name, const char* extension, void (*of)(const Trace&, Sink&)) {
    Sink& file = files.emplace_back(place / fmt::format("{}_{}.{}", name, time, extension));
    jobs.emplace_back([&trace, &file, of] {
      of(trace, file);
      file.close();
    });
  };
  if (!perfetto_alone) write("msprof", "json", write_json);
  write("msprof", "perfetto-trace", write_perfetto);
  for (const Table& table : kTables)
    if (!perfetto_alone && table.has_rows(trace)) write(table.name, "csv", table.write);
  side_by_side(jobs);
  for (Sink& file : files) file.keep();
}

void export_folder(const Trace& trace, const fs::path& folder, const std::string& type) {
  const bool database = type == "db";
  const fs::path place = database ? folder : folder / "mindstudio_profiler_output";
  make_folder(place);
  if (database) {
    Draft draft(place / fmt::format("msprof_{}.db", time_of_names()));
    write_database(trace, draft);
    draft.keep();
  } else {
    write_files(trace, place, type == "perfetto");
  }
  if (trace.is_of_torch) {  // which waits for the tables (listing.h)
    // Whoever looked before it was all there looks again.
    Listing(place).wait(kLongestWaitMs);
    std::this_thread::sleep_for(kAfterListing);
  }
  size_t tasks = 0;
  for (const auto& [device, all] : trace.tasks) tasks += all.size();
  fmt::print("[INFO] {} tasks, {} calls: {}\n", tasks, trace.calls.size(), place.string());
}

/// What collectives took, into the folder analyze.
void analyze_folder(const Trace& trace, const fs::path& folder, bool database) {
  if (!has_collectives(trace)) {
    fmt::print("[INFO] nothing to analyze, no collective ran: {}\n", folder.string());
    return;
  }
  const fs::path place = folder / "analyze";
  make_folder(place);
  if (database) {
    Draft draft(place / "communication_analyzer.db");
    write_communication(trace, draft);
    draft.keep();
  } else {
    Sink file(place / "communication.json"), matrix(place / "communication_matrix.json");
    write_communication(trace, file);
    write_matrix(trace, matrix);
    for (Sink* one : {&file, &matrix}) one->close();
    for (Sink* one : {&file, &matrix}) one->keep();
  }
  fmt::print("[INFO] {}\n", place.string());
}

/// Records a program, and shows them.
int execute(const Options& options, const Collecting& collecting) {
  const Collected found = collect(collecting.asked(options.output), std::cin);
  for (const fs::path& folder : found.folders) export_folder(read_folder(folder), folder, options.type);
  if (found.folders.empty())
    fmt::print(stderr,
               "[WARNING] msprof: nothing was recorded; the program has used no NPU, or was not told to start\n");
  return found.code;
}

void execute(const Options& options) {
  if (options.exports != "on" && options.analyze != "on")
    fail(Code::kInvalidParam,
         "nothing is asked for; say --export=on --output=PROF_…, or --output=DIR and the program to record");
  if (options.output.empty()) fail(Code::kInvalidParam, "--output is missing; give the folder PROF_… of a collection");
  for (const fs::path& folder : collections_in(options.output)) {
    const Trace trace = read_folder(folder);
    if (options.exports == "on") export_folder(trace, folder, options.type);
    if (options.analyze == "on") analyze_folder(trace, folder, options.type == "db");
  }
}

/// `export summary -dir PROF_…` of earlier versions.
std::vector<std::string> in_new_words(std::vector<std::string> words) {
  const bool is_old = words.size() >= 2 && words[0] == "export" &&
                      (words[1] == "summary" || words[1] == "timeline" || words[1] == "db");
  if (!is_old) return words;
  std::vector<std::string> out{"--export=on"};
  if (words[1] == "db") out.emplace_back("--type=db");
  for (size_t i = 2; i < words.size(); ++i) {
    const bool is_folder = words[i] == "-dir" || words[i] == "--collection-dir";
    out.push_back(is_folder ? "--output" : words[i]);
  }
  return out;
}

}  // namespace

int dispatch(const std::vector<std::string>& arguments) {
  CLI::App app("Tables and timelines of what a profiled process recorded.", "msprof");
  Options options;
  const auto switches = CLI::IsMember({"on", "off"});
  app.add_option("--export", options.exports, "on: write tables and a timeline into mindstudio_profiler_output")
      ->check(switches);
  app.add_option("--analyze", options.analyze, "on: write what collectives took into the folder analyze")
      ->check(switches);
  app.add_option("--type", options.type,
                 "text: tables, timelines and communication.json (the default); db: SQLite files; "
                 "perfetto: of the timelines Perfetto's alone")
      ->check(CLI::IsMember({"text", "db", "perfetto"}));
  app.add_option("--output", options.output,
                 "the folder PROF_… of a collection, or one that holds some; of what is "
                 "recorded now, where its folder is made (.)");
  const Collecting collecting(app);
  try {
    std::vector<std::string> reversed = in_new_words(arguments);
    std::ranges::reverse(reversed);
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  try {
    if (collecting.is_asked()) return execute(options, collecting);
    execute(options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "[ERROR] msprof: {}\n", error.what());
    return 1;
  }
}

}  // namespace npu::profile
