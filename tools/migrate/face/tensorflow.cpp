// SPDX-License-Identifier: Apache-2.0
// convert_tf2npu: the command line, the folders and the lines on the console of the vendor's tool of that name.
#include "tools/migrate/report/tensorflow.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <iostream>

#include "tools/migrate/face/face.h"
#include "tools/migrate/face/usage.h"

namespace npu::migrate {
namespace {

namespace fs = std::filesystem;

struct Wanted {
  std::string input, output, report, list, main, distributed;
  bool compat = false, tf1 = false;
  bool of_old = false;  ///< asked of npu_bridge, whose scripts are of TensorFlow 1
};

std::optional<int> read(std::vector<std::string> arguments, Wanted& out) {
  CLI::App app(
      out.of_old
          ? "Migrates scripts of TensorFlow 1 written for GPUs to the NPU. The originals stay as they are."
          : "Migrates TensorFlow scripts written for GPUs to the NPU: TensorFlow 2 scripts, and with -c those that\n"
            "use tf.compat.v1 as TensorFlow 1. The originals stay as they are.",
      "convert_tf2npu");
  app.add_option("-i,--input", out.input, "the folder (or one .py file) to migrate")->required();
  app.add_option("-o,--output", out.output,
                 fmt::format("folder for the migrated scripts, outside the input [output_npu_<time>{}]; they go to\n"
                             "<name>_npu_<time> in it",
                             out.of_old ? " beside the reports" : ""));
  app.add_option("-r,--report", out.report,
                 "folder for the reports, outside the input [here]; they go to report_npu_<time> in it");
  app.add_option("-l,--list", out.list,
                 "list of supported APIs in place of the built-in one: the vendor's .xlsx, or text");
  app.add_option("-m,--main", out.main, "the script that Python is started with, where it has no main guard");
  app.add_flag("-c,--compat", out.compat, "the scripts use tf.compat.v1 as TensorFlow 1");
  app.add_flag("--tf1", out.tf1, "the scripts are for TensorFlow 1 itself (npu_bridge)");
  app.add_option("-d,--distributed_mode", out.distributed, "how the scripts train distributed: horovod or tf_strategy")
      ->check(CLI::IsMember({"horovod", "tf_strategy"}));
  for (std::string& each : arguments)
    if (each == "compat") each = "--compat";  // the guide allows the bare word
  return read_arguments(app, std::move(arguments));
}

class TensorflowFace {
 public:
  explicit TensorflowFace(Wanted wanted) : wanted_(std::move(wanted)) {}

  int done() {
    choose_places();
    choose_features();
    const SupportList list = wanted_.list.empty() ? SupportList::built_in("tensorflow") : list_of_user();
    const RuleBook book = rule_book({}, {});
    const RuleIndex rules(book.active(job_.options.features));
    std::cout << "Begin conver, input file: " << job_.input << '\n';
    job_.keep_uses = true;
    job_.on_file = [this](const FileResult& file) { tell(file); };
    const Outcome outcome = run(job_, rules);
    const std::string brief = write_tensorflow_reports(outcome, root_of(job_), report_, list);
    std::cout << (brief.empty() ? "No api data in the report\n" : brief);
    for (const std::string& note : outcome.notes) std::cout << "note: " << note << '\n';
    std::cout << "Finish conver, output file: " << output_ << "; report file: " << report_ << '\n';
    std::cout.flush();
    return closing(outcome, "convert_tf2npu");
  }

 private:
  void choose_places() {
    job_.input = existing_input(wanted_.input, "-i");
    const std::string now = fmt::format("_npu_{:%Y%m%d%H%M%S}", fmt::localtime(std::time(nullptr)));
    const std::string beside = wanted_.of_old && !wanted_.report.empty() ? wanted_.report + "/output" : "output";
    output_ = absolute(wanted_.output.empty() ? beside + now : wanted_.output);
    report_ = absolute(wanted_.report.empty() ? "report" + now : wanted_.report + "/report" + now);
    refuse_below_input(output_, job_.input, "-o");
    refuse_below_input(report_, job_.input, "-r");
    job_.output = output_ + "/" + stem(job_.input) + now;
    refuse_below_input(job_.output, job_.input, "-o");
    refuse_existing(job_.output, "-o");
    refuse_existing(report_, "-r");
  }

  void choose_features() {
    if (wanted_.distributed == "horovod" && !wanted_.compat && !wanted_.tf1)
      throw UsageError(
          "-d horovod: this command takes Horovod in scripts of TensorFlow 1 only; add -c, use -d tf_strategy, or "
          "migrate scripts of TensorFlow 2 by anynpu migrate -d horovod");
    std::set<std::string>& features = job_.options.features;
    features.insert(wanted_.compat || wanted_.tf1 ? "compat" : "tf2");
    if (wanted_.tf1) features.insert("tf1");
    if (!wanted_.distributed.empty()) features.insert(wanted_.distributed);
    if (wanted_.main.empty()) return;
    job_.options.main = entry_file(wanted_.main, job_, "-m");
  }

  SupportList list_of_user() const try { return SupportList::read(wanted_.list); } catch (const Refusal& refusal) {
    throw UsageError(fmt::format("-l {}", refusal.what()));
  }

  void tell(const FileResult& file) {
    const std::string path = root_of(job_) + "/" + file.path;
    std::cout << "Begin conver file: " << path << '\n';
    if (file.failure.empty() && !file.frameworks.contains("tensorflow"))
      std::cout << "No Tensorflow module is imported in script " << fs::path(path).filename().string() << ".\n";
    std::cout << "Finish conver file: " << path << '\n';
  }

  Wanted wanted_;
  Job job_;
  std::string output_, report_;
};

}  // namespace

int tensorflow_face(std::vector<std::string> arguments) {
  Wanted wanted;
  if (const auto code = read(std::move(arguments), wanted)) return *code;
  return TensorflowFace(std::move(wanted)).done();
}

int tensorflow1_face(std::vector<std::string> arguments) {
  Wanted wanted;
  wanted.of_old = true;
  if (const auto code = read(std::move(arguments), wanted)) return *code;
  wanted.tf1 = wanted.tf1 || !wanted.compat;
  return TensorflowFace(std::move(wanted)).done();
}

}  // namespace npu::migrate
