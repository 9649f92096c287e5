// SPDX-License-Identifier: Apache-2.0
// `anynpu compare RUN GOLDEN`: which operator was the first to compute something else.
#include <fmt/format.h>

#include <algorithm>

#include "tools/compare/exit/refusal.h"
#include "tools/compare/face/arguments.h"
#include "tools/compare/face/face.h"
#include "tools/compare/page/account.h"
#include "tools/compare/report/csv.h"
#include "tools/compare/side/graph_nodes.h"
#include "tools/compare/side/load.h"

namespace npu::compare {
namespace {

constexpr int kSame = 0, kDifferent = 1, kRefused = 3, kLittle = 4;  // 2: the command line
constexpr std::string_view kUse =
    "usage: anynpu compare RUN GOLDEN [OPTIONS]\n\n"
    "Names the first operator of RUN whose inputs agree with GOLDEN's and whose output does not.\n"
    "RUN: a dump of the NPU. GOLDEN: another one, or arrays {operator}.{output}.{time}.npy of a framework.\n"
    "Or both are dumps of msprobe. Folders of any level.\n\n"
    "  --csv FILE            all outputs that were compared, as a table\n"
    "  --html FILE           a page with pictures\n"
    "  --graph FILE|FOLDER   the run's graph, ge_proto_*_Build.txt, where it is not found by itself\n"
    "  --coverage PERCENT    of the operators must have a partner (30)\n\n"
    "Exit codes: 0 no difference, 1 an operator was named, 2 the command line, 3 nothing to compare, 4 too little of "
    "it.\n";

struct Request {
  std::string run, golden, csv, html, graph;
  int64_t coverage = 30;
};

Request read_request(const Words& words) {
  Request request;
  Arguments arguments;
  arguments.value("--csv", request.csv, "all outputs that were compared, as a table");
  arguments.value("--html", request.html, "a page with pictures");
  arguments.value("--graph", request.graph, "the run's graph, ge_proto_*_Build.txt, or a folder with it");
  arguments.number("--coverage", request.coverage, "percent of operators that must be compared (30)");
  if (words.size() < 2 || words[0].starts_with('-') || words[1].starts_with('-'))
    throw UsageError{"compare takes two folders: RUN GOLDEN, and options behind them"};
  request.run = words[0], request.golden = words[1];
  arguments.read({words.begin() + 2, words.end()}, "anynpu compare RUN GOLDEN");
  return request;
}

std::vector<std::string> graphs_of(const Place& place, const std::string& top, const std::string& named) {
  if (place.kind != Kind::kDevice) return {};
  if (place.model.empty() && !place.time.empty()) return {};
  return find_graph_texts(place.folder, top, place.model.substr(0, place.model.find('/')), named);
}

/// What one step tells.
struct Step {
  size_t causes = 0;
  double coverage = 0;
};

Step compare_step(const std::pair<Place, Place>& step, const Request& request, bool last) {
  const auto graphs = graphs_of(step.first, request.run, request.graph);
  if (graphs.empty() && step.first.kind == Kind::kDevice)
    fmt::print("no graph text (ge_proto_*_Build.txt) of the run: who reads whom is not known; --graph names it\n");
  const Run mine = load(step.first, graphs);
  const Run golden = load(step.second, graphs_of(step.second, request.golden, ""));
  const Pairing pairing = pair_runs(mine, golden);
  const Verdict verdict = judge(mine, golden, pairing);
  const Account account{mine, golden, pairing, verdict, step.first.folder, step.second.folder};
  if (!verdict.causes.empty() || last) {
    fmt::print("{}", text_of(account));
    if (!request.csv.empty()) write_file(request.csv, table_of(account));
    if (!request.html.empty()) write_file(request.html, page_of(account));
  }
  return {verdict.causes.size(), pairing.coverage()};
}

int compare_runs(const Request& request) {
  const Choice choice = choose(places_below(request.run), places_below(request.golden));
  for (const std::string& note : choice.notes) fmt::print("{}\n", note);
  Step seen;
  size_t steps = 0;
  while (steps < choice.steps.size() && seen.causes == 0) {
    seen = compare_step(choice.steps[steps], request, steps + 1 == choice.steps.size());
    ++steps;
  }
  if (choice.steps.size() > 1) fmt::print("step {} of {} that both have\n", steps, choice.steps.size());
  if (seen.coverage < static_cast<double>(request.coverage)) {
    fmt::print(stderr,
               "anynpu compare: only {:.0f} % of the operators have a partner in the golden, less than the {} % of "
               "--coverage: are these dumps of one model?\n",
               seen.coverage, request.coverage);
    return kLittle;
  }
  return seen.causes == 0 ? kSame : kDifferent;
}

}  // namespace

int runs_face(const Words& words) {
  if (words.empty() || words[0] == "-h" || words[0] == "--help") {
    fmt::print(words.empty() ? stderr : stdout, "{}", kUse);
    return words.empty() ? 2 : kSame;
  }
  try {
    return compare_runs(read_request(words));
  } catch (const UsageError& error) {
    fmt::print(stderr, "anynpu compare: {}\n{}", error.text, kUse);
    return 2;
  } catch (const std::exception& reason) {
    fmt::print(stderr, "anynpu compare: {}\n", reason.what());
    return kRefused;
  }
}

}  // namespace npu::compare
