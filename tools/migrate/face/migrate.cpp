// SPDX-License-Identifier: Apache-2.0
// anynpu migrate: one file, a folder or stdin; TensorFlow and PyTorch, as the scripts import them.
#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <system_error>

#include "tools/migrate/face/face.h"
#include "tools/migrate/face/usage.h"
#include "tools/migrate/files/output.h"
#include "tools/migrate/report/diff.h"
#include "tools/migrate/report/launch.h"
#include "tools/migrate/report/note_count.h"
#include "tools/migrate/text/notebook.h"

namespace npu::migrate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "anynpu migrate";

struct Wanted {
  std::string path, output, main, model = "model", distributed, html, explain;
  std::vector<std::string> rules, off;
  bool in_place = false, dry_run = false, diff = false, json = false, configs = false, compat = false, tf1 = false;
  bool specify_device = false, similar = false;
  size_t jobs = 0;
};

std::optional<int> read(std::vector<std::string> arguments, Wanted& out) {
  CLI::App app(
      "Migrates scripts written for GPUs to the NPU. What is TensorFlow and what is PyTorch is seen from the imports.\n"
      "Asks nothing; a second run changes nothing more. Exit code: 0 all is well, 1 some files failed, 2 wrong usage.",
      kProgram);
  app.add_option("path", out.path, "a file, a folder, or - for stdin (the result goes to stdout)");
  auto* output = app.add_option(
      "-o,--output", out.output,
      "where the result goes [<name>_npu here]; of a file: another *.py (*.ipynb), or a folder, which is made");
  auto* place = app.add_flag("--in-place", out.in_place, "change the files themselves, after all are done");
  auto* dry = app.add_flag("--dry-run", out.dry_run, "write nothing, only tell");
  output->excludes(place)->excludes(dry);
  place->excludes(dry);
  app.add_flag("--diff", out.diff, "print a unified diff; writes nothing unless -o or --in-place is given");
  app.add_flag("--json", out.json, "print all that was done and found as JSON; writes nothing, as --diff");
  app.add_option("--html", out.html, "write a page that shows the changes side by side");
  app.add_option("--explain", out.explain, "tell what a rule does and why; all: list the rules");
  app.add_option("-r,--rule", out.rules, "further rules: .yaml as this tool's, or .json as the vendor's")
      ->allow_extra_args(false);
  app.add_option("--off", out.off, "leave out a rule, by its name")->allow_extra_args(false);
  app.add_flag("--configs", out.configs, "change device names in *.yaml, *.json and *.sh, too");
  app.add_option("-m,--main", out.main, "the script that Python is started with");
  app.add_option("-d,--distributed", out.distributed, "TensorFlow: horovod or tf_strategy; PyTorch: ddp")
      ->check(CLI::IsMember({"horovod", "tf_strategy", "ddp"}));
  app.add_option("-t,--target_model", out.model, "with -d ddp: the variable that holds the model [model]");
  app.add_flag("-c,--compat", out.compat, "the scripts use tf.compat.v1 as TensorFlow 1");
  app.add_flag("--tf1", out.tf1, "the scripts are for TensorFlow 1 itself (npu_bridge)");
  app.add_flag("-s,--specify-device", out.specify_device, "PyTorch: take the device from DEVICE_ID");
  app.add_flag("--similar", out.similar, "PyTorch: replace unsupported APIs by similar ones");
  app.add_option("-j,--jobs", out.jobs, "threads [as many as the machine has]");
  const auto code = read_arguments(app, std::move(arguments));
  if (!code && out.path.empty() && out.explain.empty())
    throw UsageError("what is to be migrated? Give a file, a folder or -; anynpu migrate -h tells the options");
  return code;
}

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) out += "    ";
  }
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

int explain(const RuleBook& book, const std::string& id) {
  if (id == "all") {
    for (const Rule& rule : book.all()) fmt::print("{:<32} {}\n", rule.id, rule.what);
    return 0;
  }
  const Rule* rule = book.find(id);
  if (rule == nullptr)
    throw UsageError(fmt::format("there is no rule {}; anynpu migrate --explain all lists them", id));
  fmt::print("{}: {}\nwhy: {}\n", rule->id, rule->what, rule->why);
  if (!rule->when.empty()) fmt::print("only with: {}\n", fmt::join(rule->when, ", "));
  for (const Example& example : rule->examples) {
    if (example.before == example.after) continue;
    fmt::print("\n  before\n{}  after\n{}", indented(example.before), indented(example.after));
    break;
  }
  return 0;
}

class MigrateFace {
 public:
  explicit MigrateFace(Wanted wanted) : wanted_(std::move(wanted)) {}

  int done() {
    const RuleBook book = rule_book(wanted_.rules, wanted_.off);
    if (!wanted_.explain.empty()) return explain(book, wanted_.explain);
    choose_places();
    choose_features();
    const RuleIndex rules(both(book));
    const Outcome outcome = run(job_, rules);
    if (wanted_.distributed == "ddp" && !job_.output.empty())
      write_file(job_.output + "/run_distributed_npu.sh", launch_script(job_.options.main), 0755);
    if (!wanted_.html.empty())
      write_file(absolute(wanted_.html), html_report(wanted_.path, outcome.files, outcome.notes), 0644);
    if (job_.text)
      answer(outcome);
    else
      tell(outcome);
    std::cout.flush();
    if (!std::cout && errno == EPIPE) throw std::system_error(EPIPE, std::generic_category());
    if (!std::cout) throw Refusal("stdout cannot be written; is the disk full?");
    return closing(outcome, kProgram);
  }

 private:
  bool only_tells() const { return wanted_.dry_run || wanted_.diff || wanted_.json; }

  void choose_places() {
    job_.keep_texts = wanted_.diff || !wanted_.html.empty();
    job_.threads = wanted_.jobs;
    job_.look_at_configs = true;
    job_.change_configs = wanted_.configs;
    if (wanted_.path == "-") return take_stdin();
    job_.input = existing_input(wanted_.path, "PATH");
    if (!wanted_.html.empty() && fs::is_directory(job_.input))
      refuse_below_input(absolute(wanted_.html), job_.input, "--html");
    job_.in_place = wanted_.in_place;
    if (wanted_.in_place || (wanted_.output.empty() && only_tells())) return;
    if (fs::is_directory(job_.input))
      choose_folder();
    else
      choose_file();
  }

  void take_stdin() {
    if (wanted_.in_place || !wanted_.output.empty() || !wanted_.main.empty())
      throw UsageError("-: what comes from stdin goes to stdout; leave out -o, --in-place and -m");
    job_.text = std::string(std::istreambuf_iterator<char>(std::cin), {});
    job_.keep_texts = true;
  }

  void choose_folder() {
    job_.output = absolute(wanted_.output.empty() ? stem(job_.input) + "_npu" : wanted_.output);
    refuse_below_input(job_.output, job_.input, "-o");
    if (!fs::is_directory(job_.output) || !fs::is_empty(job_.output)) refuse_existing(job_.output, "-o");
  }

  void choose_file() {
    const fs::path input = job_.input;
    const char* ending = Notebook::is_path(job_.input) ? "_npu.ipynb" : "_npu.py";
    fs::path output = absolute(wanted_.output.empty() ? stem(job_.input) + ending : wanted_.output);
    if (!wanted_.output.empty() && names_folder(wanted_.output, input)) {
      if (!fs::is_directory(output)) refuse_existing(output, "-o");
      output /= input.filename();
    }
    if (output == input) throw UsageError(fmt::format("-o {}: is the input; use --in-place", wanted_.output));
    refuse_existing(output, "-o");
    job_.output = output.parent_path();
    job_.file_name = output.filename();
  }

  /// Of a single file, -o names a file where it ends as the input does; else the folder the file goes to.
  static bool names_folder(const std::string& output, const fs::path& input) {
    return output.ends_with('/') || fs::is_directory(output) || fs::path(output).extension() != input.extension();
  }

  void choose_features() {
    const std::string& mode = wanted_.distributed;
    tensorflow_ = {wanted_.compat || wanted_.tf1 ? "compat" : "tf2"};
    if (wanted_.tf1) tensorflow_.insert("tf1");
    torch_ = {"torch"};
    if (mode == "ddp") torch_.insert("distributed");
    if (!mode.empty() && mode != "ddp") tensorflow_.insert(mode);
    if (wanted_.specify_device) torch_.insert("specify-device");
    if (wanted_.similar) torch_.insert("similar");
    job_.options.features = tensorflow_;
    job_.options.features.insert(torch_.begin(), torch_.end());
    job_.options.model = wanted_.model;
    if (mode == "ddp" && wanted_.main.empty())
      throw UsageError("-d ddp: name the script that Python is started with, by -m");
    if (wanted_.main.empty()) return;
    job_.options.main = entry_file(wanted_.main, job_, "-m");
  }

  /// Rules of either framework: they meet resolved names, so those of one leave scripts of the other alone.
  std::vector<const Rule*> both(const RuleBook& book) const {
    std::vector<const Rule*> out = book.active(tensorflow_), torch = book.active(torch_);
    const auto known = [&](const Rule* rule) { return std::ranges::find(out, rule) != out.end(); };
    std::erase_if(torch, known);
    out.insert(out.end(), torch.begin(), torch.end());
    std::ranges::sort(out);  // the book's order: rules stand in it one behind the other
    return out;
  }

  void answer(const Outcome& outcome) const {
    const FileResult& file = outcome.files.at(0);
    if (wanted_.json)
      std::cout << json_report(outcome.files, outcome.failures, outcome.notes);
    else if (wanted_.diff)
      std::cout << unified_diff(file);
    else if (!wanted_.dry_run)
      std::cout << (file.lines.empty() ? *job_.text : file.after);
    if (!wanted_.json) tell_rows(std::cerr, file, NoteCounts(outcome.files));
  }

  void tell(const Outcome& outcome) const {
    if (wanted_.json) {
      std::cout << json_report(outcome.files, outcome.failures, outcome.notes);
      return;
    }
    std::ostream& out = wanted_.diff ? std::cerr : std::cout;
    const NoteCounts counts(outcome.files);
    for (const FileResult& file : outcome.files) {
      if (wanted_.diff) std::cout << unified_diff(file);
      tell_rows(out, file, counts);
    }
    for (const std::string& note : outcome.notes) out << "note: " << note << '\n';
    size_t by_hand = 0;
    for (const FileResult& file : outcome.files)
      by_hand += static_cast<size_t>(
          std::ranges::count_if(file.changes, [](const Change& change) { return !change.report.empty(); }));
    const bool wrote = job_.in_place || !job_.output.empty();
    out << fmt::format("{} of {} {}, {} to look at by hand{}\n", outcome.changed_files(),
                       counted(outcome.files.size(), "file"), wrote ? "changed" : "would change",
                       counted(by_hand, "place"), job_.output.empty() ? "" : "; result: " + result());
  }

  std::string result() const { return job_.file_name.empty() ? job_.output : job_.output + "/" + job_.file_name; }

  /// In the form that editors and terminals make links of. Of notes that are equal, the first one, with the others.
  void tell_rows(std::ostream& out, const FileResult& file, const NoteCounts& counts) const {
    const std::string path = job_.text                      ? file.path
                             : fs::is_directory(job_.input) ? wanted_.path + "/" + file.path
                                                            : wanted_.path;
    for (const Change& change : file.changes)
      if (counts.is_first(change))
        out << fmt::format("{}:{}: {}{} [{}]{}\n", path, change.line, change.report.empty() ? "" : change.report + ": ",
                           report_line(change), change.rule, counts.others(change));
  }

  Wanted wanted_;
  Job job_;
  std::set<std::string> tensorflow_, torch_;  // features
};

}  // namespace

int migrate_face(std::vector<std::string> arguments) {
  Wanted wanted;
  if (const auto code = read(std::move(arguments), wanted)) return *code;
  return MigrateFace(std::move(wanted)).done();
}

}  // namespace npu::migrate
