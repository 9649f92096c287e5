// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "tools/compare/face/arguments.h"
#include "tools/compare/face/batch.h"
#include "tools/compare/face/face.h"
#include "tools/compare/face/network_request.h"
#include "tools/compare/face/selection.h"
#include "tools/compare/face/two_files.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kUnset = std::numeric_limits<int64_t>::min();

struct Given {
  NetworkRequest network;
  std::vector<std::string> algorithms;
  std::string custom, algorithm_options, post_process;
  int64_t most = 0, version = 2;
  bool ffts = false, ignore_result = false;
  std::string operator_name, output_index, input_index;
  int64_t top = kUnset, lines = kUnset;
};

bool read(const Words& words, Given& out) {
  NetworkRequest& n = out.network;
  Arguments a;
  a.value("-m --my_dump_path", n.mine, "<Required> my dump: a folder, or one file", true);
  a.value("-g --golden_dump_path", n.golden, "<Required> what it is compared with", true);
  a.value("-f --fusion_rule_file", n.rule,
          "<Optional> the dumped graph (*_Build.txt), or the fusion file made of it; a folder of these: batch mode");
  a.value("-q --quant_fusion_rule_file", n.quantised_rule, "<Optional> the fusion file of a quantised model");
  a.value("-cf --close_fusion_rule_file", n.closed_rule, "<Optional> the graph of a run without fusion");
  a.value("-out --output", n.output, "<Optional> the folder of the results");
  a.value("-c --custom_script_path", out.custom, "<Optional> refused: formats and algorithms are built in");
  a.value("-a --algorithm_options", out.algorithm_options,
          "<Optional> accepted; the built-in algorithms have no options");
  a.words("-alg --algorithm", out.algorithms,
          "<Optional> names or numbers of algorithms, with commas between them; all");
  a.flag("-map --mapping", n.mapping, "<Optional> write which operators belong together instead");
  a.flag("-overflow_detection", n.options.overflow, "<Optional> a column says which halves overflowed");
  a.value("-r --range", n.range, "<Optional> start,end,step of operators in the graph");
  a.value("-s --select", n.select, "<Optional> operators by their places in the graph");
  a.value("-p --post_process", out.post_process, "<Optional> of PyTorch's files alone");
  a.number("-max --max_cmp_size", out.most, "<Optional> elements that are compared, 0: all");
  a.flag("-advisor", n.advisor, "<optional> what the result suggests");
  a.number("-v --version", out.version, "<Optional> ignored");
  a.value("-op --op_name", out.operator_name, "<Optional> one operator alone, element by element");
  a.value("-o --output_tensor", out.output_index, "<Optional> with -op: this output; 0");
  a.value("-i --input_tensor", out.input_index, "<Optional> with -op: this input");
  a.flag("--ignore_single_op_result", out.ignore_result, "<Optional> with -op: no files with all elements");
  a.number("-n --topn", out.top, "<Optional> with -op: elements that are farthest away, 1 to 10000; 20");
  a.number("-ml --max_line", out.lines, "<Optional> with -op: lines of a file, 10000 to 1000000; 1000000");
  a.flag("-ffts", out.ffts, "<optional> accepted: slices are not put together, with it and without it");
  return a.read(words, "msaccucmp compare");
}

[[noreturn]] void refuse(const std::string& text) { throw Refusal(Exit::kParameter, text); }

void check_single(const Given& given) {
  const NetworkRequest& n = given.network;
  if (!n.range.empty() || !n.select.empty()) refuse("-op names one operator; -r and -s choose among all of them.");
  if (given.top != kUnset && (given.top < 1 || given.top > 10000))
    throw Refusal(Exit::kIndex, fmt::format("The top n ({}) is out of range [1, 10000].", given.top));
  if (given.lines != kUnset && (given.lines < 10000 || given.lines > 1000000))
    refuse(fmt::format("The --max_line argument ({}) is out of range [10000, 1000000].", given.lines));
}

TensorChoice choice_of(const Given& given) {
  const bool input = given.output_index.empty() && !given.input_index.empty();
  const std::string& index = input ? given.input_index : given.output_index;
  if (index.size() > 9 || index.find_first_not_of("0123456789") != index.npos)
    refuse(fmt::format("The detail index ({}) only supports natural numbers.", index));
  return {given.operator_name, input, index.empty() ? 0 : std::stoul(index)};
}

int compare_one(const Given& given) {
  if (given.network.advisor) warn("-advisor takes no effect with -op.");
  DetailOptions options;
  if (given.top != kUnset) options.top = static_cast<size_t>(given.top);
  if (given.lines != kUnset) options.lines = static_cast<uint64_t>(given.lines);
  options.values = !given.ignore_result;
  return compare_single(given.network, choice_of(given), options);
}

void check(const Given& given) {
  const NetworkRequest& n = given.network;
  if (n.rule.empty() && !n.range.empty())
    refuse("The argument \"-r\" or \"--range\" takes effect only when the \"-f\" exists.");
  if (n.rule.empty() && !n.select.empty())
    refuse("The argument \"-s\" or \"--select\" takes effect only when the \"-f\" exists.");
  if (!n.range.empty() && !n.select.empty()) refuse("The argument \"-r\" and \"-s\" can not be used at the same time");
  if (given.most < 0)
    refuse(fmt::format("-max is {}; it is the number of elements that are compared, 0 for all.", given.most));
  if (!given.operator_name.empty()) {
    check_single(given);
  } else if (!given.output_index.empty() || !given.input_index.empty() || given.top != kUnset ||
             given.lines != kUnset || given.ignore_result) {
    refuse("-o, -i, -n, -ml and --ignore_single_op_result take effect only when the \"-op\" exists.");
  }
  if (!given.custom.empty()) throw Refusal(Exit::kUnsupported, kNoScripts);
  if (n.mapping && n.rule.empty() && n.quantised_rule.empty())
    refuse("When --mapping or -map exists,there is need to enter the -f or -q parameter.");
  for (const std::string& path : {n.mine, n.golden})
    if (!fs::exists(path)) throw Refusal(Exit::kPath, fmt::format("{} does not exist.", path));
  if (!given.post_process.empty()) refuse("param -p only used in pytorch session.");
}

}  // namespace

int compare_face(const Words& arguments) {
  Given given;
  if (!read(arguments, given)) return 0;
  check(given);
  NetworkRequest& network = given.network;
  network.options.metrics = selected(given.algorithms);
  network.options.most = static_cast<uint64_t>(given.most);
  if (!given.operator_name.empty()) return compare_one(given);
  if (fs::is_regular_file(network.mine) && fs::is_regular_file(network.golden))
    return compare_two_files(network.mine, network.golden, network.options.metrics, "");
  if (fs::is_directory(network.rule)) return compare_batch(network);
  return compare_network(network, fmt::format("{}_{}.csv", network.mapping ? "mapping" : "result", time_stamp()));
}

}  // namespace npu::compare
