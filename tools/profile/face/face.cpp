// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/face/face.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "base/error.h"
#include "tools/profile/export/communication.h"
#include "tools/profile/export/database.h"
#include "tools/profile/export/table.h"
#include "tools/profile/export/timeline.h"
#include "tools/profile/face/listing.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string exports, analyze, output, type = "text";
};

/// A file appears whole or not at all: readers wait for its name.
void appear(const fs::path& path, const std::function<void(const fs::path& part)>& write) {
  fs::path part = path;
  part += ".part";
  fs::remove(part);
  write(part);
  fs::rename(part, path);
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  appear(path, [&](const fs::path& part) {
    std::ofstream file(part);
    write(file);
    if (!file.flush())
      fail(Code::kInvalidFile, "{} could not be written; is the disk full, or the folder another user's?",
           path.string());
  });
}

void make_folder(const fs::path& place) {
  std::error_code error;
  fs::create_directories(place, error);
  if (error) fail(Code::kInvalidFile, "{} cannot be made: {}", place.string(), error.message());
}

constexpr int kLongestWaitMs = 1000;
constexpr std::chrono::milliseconds kAfterListing{50};

/// In a folder of torch_npu.profiler, which waits for the tables (listing.h).
bool is_of_torch(const fs::path& folder) {
  return fs::absolute(folder).parent_path().filename().string().ends_with("_ascend_pt");
}

std::string time_of_names() { return fmt::format("{:%Y%m%d%H%M%S}", fmt::localtime(std::time(nullptr))); }

void write_texts(const Trace& trace, const fs::path& place) {
  const std::string time = time_of_names();
  // The timeline first: torch_npu reads all when it sees a table.
  write_file(place / fmt::format("msprof_{}.json", time), [&](std::ostream& out) { write_timeline(trace, out); });
  for (const Table& table : kTables)
    if (table.has_rows(trace))
      write_file(place / fmt::format("{}_{}.csv", table.name, time),
                 [&](std::ostream& out) { table.write(trace, out); });
}

void export_folder(const Trace& trace, const fs::path& folder, bool database) {
  const fs::path place = database ? folder : folder / "mindstudio_profiler_output";
  make_folder(place);
  if (database)
    appear(place / fmt::format("msprof_{}.db", time_of_names()),
           [&](const fs::path& part) { write_database(trace, part); });
  else
    write_texts(trace, place);
  if (is_of_torch(folder)) {
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
  if (database)
    fail(Code::kFeatureUnsupported,
         "--analyze=on with --type=db is not built; leave --type out for communication.json");
  const fs::path place = folder / "analyze";
  make_folder(place);
  write_file(place / "communication.json", [&](std::ostream& out) { write_communication(trace, out); });
  fmt::print("[INFO] {}\n", place.string());
}

void execute(const Options& options) {
  if (options.exports != "on" && options.analyze != "on")
    fail(Code::kInvalidParam,
         "nothing is asked for; say --export=on --output=PROF_…. Collecting by msprof is not built: use "
         "torch_npu.profiler or aclprofStart");
  const bool database = options.type == "db";
  for (const fs::path& folder : collections_in(options.output)) {
    const Trace trace = read_folder(folder);
    if (options.exports == "on") export_folder(trace, folder, database);
    if (options.analyze == "on") analyze_folder(trace, folder, database);
  }
}

}  // namespace

int dispatch(const std::vector<std::string>& arguments) {
  CLI::App app("Tables and timelines of what a profiled process recorded.", "msprof");
  Options options;
  const auto switches = CLI::IsMember({"on", "off"});
  app.add_option("--export", options.exports, "on: write tables and a timeline into mindstudio_profiler_output")
      ->check(switches);
  app.add_option("--analyze", options.analyze, "on: write what collectives took into analyze/communication.json")
      ->check(switches);
  app.add_option("--type", options.type, "text: tables and a timeline (the default); db: an SQLite file, msprof_*.db")
      ->check(CLI::IsMember({"text", "db"}));
  app.add_option("--output", options.output, "the folder PROF_… of a collection, or one that holds some")->required();
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  try {
    execute(options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "[ERROR] msprof: {}\n", error.what());
    return 1;
  }
}

}  // namespace npu::profile
