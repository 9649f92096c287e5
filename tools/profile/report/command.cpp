// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "tools/profile/report/difference/difference.h"
#include "tools/profile/report/page/chip_section.h"
#include "tools/profile/report/page/html.h"
#include "tools/profile/report/page/text.h"

namespace npu::profile {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> folders, socs;
  std::string html, a, b;
};

std::vector<Trace> read(const std::vector<std::string>& folders) {
  std::vector<Trace> traces;
  for (const std::string& folder : folders)
    for (const fs::path& one : collections_in(folder)) traces.push_back(read_folder(one));
  return traces;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush())
    fail(Code::kInvalidFile, "{} could not be written; is the disk full, or the folder another user's?", path.string());
}

void show(const Options& options) {
  const std::vector<Trace> traces = read(options.folders);
  const std::vector<Facts> all = facts_of(traces);
  if (all.empty())
    fail(Code::kInvalidParam, "no operator ran on an NPU in {}; profile a script that uses it",
         fmt::join(options.folders, ", "));
  const std::vector<Finding> findings = findings_of(all);
  const std::vector<Modelled> models = modelled(all, options.socs);
  fmt::print("{}{}", text_page(all, findings), chip_text(models));
  if (!options.html.empty()) write(options.html, html_page(traces, all, findings, models));
}

void compare(const Options& options) { fmt::print("{}", difference_page(read({options.a}), read({options.b}))); }

void define(CLI::App& app, Options& options) {
  app.require_subcommand(1);
  CLI::App* shows = app.add_subcommand("show", "a page about one run: findings, times, operators");
  shows->add_option("FOLDER", options.folders, "a PROF_… of a collection, or a folder that holds some (ranks)")
      ->required();
  shows->add_option("--html", options.html, "write the page, with a timeline, into this file too");
  shows
      ->add_option("--soc", options.socs,
                   "SoCs to model the time of, as 910B3,910A (default: the one the collection was made on)")
      ->delimiter(',');
  CLI::App* differs = app.add_subcommand("diff", "what B does more or less than A");
  differs->add_option("A", options.a, "a PROF_… or a folder that holds some")->required();
  differs->add_option("B", options.b, "another")->required();
}

}  // namespace

int report(const std::vector<std::string>& arguments) {
  CLI::App app("Where the time of a profiled run went.", "anynpu profile");
  Options options;
  define(app, options);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    app.got_subcommand("show") ? show(options) : compare(options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "anynpu profile: {}\n", error.what());
    return 1;
  }
}

}  // namespace npu::profile
