// SPDX-License-Identifier: Apache-2.0
// ms_fmk_transplt: the command line and the output folder of the vendor's tool of that name.
#include "tools/migrate/report/torch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "tools/migrate/face/face.h"
#include "tools/migrate/face/usage.h"
#include "tools/migrate/files/output.h"
#include "tools/migrate/report/launch.h"

namespace npu::migrate {
namespace {

namespace fs = std::filesystem;

struct Wanted {
  std::string input, output, version, main, model = "model";
  std::vector<std::string> rules;
  bool specify_device = false, similar = false, configs = false, distributed = false;
};

std::optional<int> read(std::vector<std::string> arguments, Wanted& out) {
  CLI::App app("Migrates PyTorch scripts written for GPUs to the NPU. The originals stay as they are.",
               "ms_fmk_transplt");
  app.add_option("-i,--input", out.input, "the folder or .py file to migrate")->required();
  app.add_option("-o,--output", out.output, "folder for the result, which goes to <name>_msft in it")->required();
  app.add_option("-r,--rule", out.rules, "rules of your own: the vendor's .json form, or .yaml as this tool's")
      ->allow_extra_args(false);
  app.add_flag("-s,--specify-device", out.specify_device, "take the device from the environment variable DEVICE_ID");
  app.add_flag("--similar", out.similar, "also -sim: replace unsupported APIs by similar ones");
  app.add_option("-v,--version", out.version, "version of PyTorch (accepted; the rules are the same for all)");
  app.add_flag("--configs", out.configs, "change device names in *.yaml, *.json and *.sh, too");
  CLI::App* multi = app.add_subcommand("distributed", "make scripts for one GPU train on several NPUs");
  multi->add_option("-m,--main", out.main, "the script that Python is started with")->required();
  multi->add_option("-t,--target_model", out.model, "the variable that holds the model [model]");
  app.footer("distributed and its options come last.");
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-sim") arguments[i] = "--similar";
    const bool no_version = arguments[i] == "-v" && i + 1 < arguments.size() && arguments[i + 1] == "distributed";
    if (no_version) arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const auto code = read_arguments(app, std::move(arguments));
  out.distributed = multi->parsed();
  return code;
}

/// "model", "self.net"
bool is_variable(const std::string& name) {
  char before = '.';
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
    if (!letter && !(before != '.' && (digit || c == '.'))) return false;
    before = c;
  }
  return before != '.';
}

class TorchFace {
 public:
  explicit TorchFace(Wanted wanted) : wanted_(std::move(wanted)) {}

  int done() {
    choose();
    const RuleBook book = rule_book(wanted_.rules, {});
    const RuleIndex rules(book.active(job_.options.features));
    Outcome outcome = run(job_, rules);
    if (wanted_.distributed) note_what_was_not_found(outcome);
    write_torch_reports(outcome, job_.output);
    write_file(job_.output + "/msFmkTranspltlog.txt", torch_log(outcome, job_.input, job_.output), 0644);
    if (wanted_.distributed)
      write_file(job_.output + "/run_distributed_npu.sh", launch_script(job_.options.main), 0755);
    tell(outcome);
    return closing(outcome, "ms_fmk_transplt");
  }

 private:
  void choose() {
    job_.input = existing_input(wanted_.input, "-i");
    const std::string name = stem(root_of(job_));
    job_.output = absolute(wanted_.output) + "/" + name + (wanted_.distributed ? "_msft_multi" : "_msft");
    refuse_below_input(job_.output, job_.input, "-o");
    refuse_existing(job_.output, "-o");
    job_.look_at_configs = true;
    job_.change_configs = wanted_.configs;
    std::set<std::string>& features = job_.options.features;
    features.insert("torch"), features.insert("ms_fmk_transplt");
    if (wanted_.specify_device) features.insert("specify-device");
    if (wanted_.similar) features.insert("similar");
    if (!wanted_.distributed) return;
    features.insert("distributed");
    job_.options.main = entry_file(wanted_.main, job_, "-m");
    if (!is_variable(wanted_.model))
      throw UsageError(
          fmt::format("-t {}: is no name of a variable; name the one that holds the model, as in -t model or "
                      "-t self.net",
                      wanted_.model));
    job_.options.model = wanted_.model;
  }

  /// `distributed` puts a model and its data on all NPUs: run() tells of the model, this of the data.
  void note_what_was_not_found(Outcome& outcome) const {
    std::set<std::string> done, listed;
    for (const FileResult& file : outcome.files)
      for (const Change& change : file.changes) (change.report.empty() ? done : listed).insert(change.rule);
    if (listed.contains("torch-distributed-begin")) return;  // the script does it all by itself
    if (!done.contains("torch-distributed-sampler"))
      outcome.notes.push_back(
          "no DataLoader got a DistributedSampler: every process trains on all of the data; see the rows of "
          "msFmkTranspltlog.txt, or give the training loader one by hand");
  }

  void tell(const Outcome& outcome) const {
    std::map<std::string, size_t> rows;
    for (const FileResult& file : outcome.files)
      for (const Change& change : file.changes) ++rows[change.report];
    const size_t unsupported = rows["unsupported"], others = rows["manual"] + rows["unsure"];
    std::cout << fmt::format("{} of {} changed, {} (change_list.csv)\n", outcome.changed_files(),
                             counted(outcome.files.size(), "file"), counted(rows[""], "place"));
    if (unsupported > 0)
      std::cout << fmt::format("{} of unsupported APIs (unsupported_op.xlsx)\n", counted(unsupported, "use"));
    if (others > 0)
      std::cout << fmt::format("{} to look at by hand (msFmkTranspltlog.txt)\n", counted(others, "place"));
    for (const std::string& note : outcome.notes) std::cout << "note: " << note << '\n';
    std::cout << "result: " << job_.output << std::endl;
  }

  Wanted wanted_;
  Job job_;
};

}  // namespace

int torch_face(std::vector<std::string> arguments) {
  Wanted wanted;
  if (const auto code = read(std::move(arguments), wanted)) return *code;
  return TorchFace(std::move(wanted)).done();
}

}  // namespace npu::migrate
