// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/tensorflow.h"

#include <fmt/format.h>

#include <set>

#include "tools/migrate/files/output.h"
#include "tools/migrate/report/diff.h"
#include "tools/migrate/report/sheet.h"

namespace npu::migrate {
namespace {

constexpr mode_t kReadable = 0644;

/// Sums in the order of the labels.
class Sums {
 public:
  void add(const SupportLabel* label) {
    ++total_;
    ++count_[static_cast<size_t>(label - SupportList::labels().data())];
  }
  std::string told() const {
    std::string out = fmt::format("Total API: {}, in which ", total_);
    std::vector<std::string> parts;
    std::set<std::string> done;  // two labels may share a field
    for (const SupportLabel& label : SupportList::labels())
      if (done.insert(label.field).second) parts.push_back(fmt::format("{}: {}", label.field, of(label.field)));
    return out + fmt::format("{}", fmt::join(parts, ", "));
  }

 private:
  size_t of(const std::string& field) const {
    size_t sum = 0;
    for (size_t i = 0; i < count_.size(); ++i)
      if (SupportList::labels()[i].field == field) sum += count_[i];
    return sum;
  }
  size_t total_ = 0;
  std::vector<size_t> count_ = std::vector<size_t>(SupportList::labels().size());
};

/// "hvd.allreduce" of "hvd.allreduce(x)".
std::string callee_of(const std::string& text) { return text.substr(0, text.find('(')); }

class Reports {
 public:
  Reports(const std::string& root, const SupportList& list) : root_(root), list_(list) {}

  void take(const FileResult& file) {
    path_ = root_ + "/" + file.path;
    done_here_ = fixed_here_ = failed_here_ = false;
    told_.clear();
    for (const Change& change : file.changes) row(change);
    if (!file.failure.empty()) line(failed_, failed_here_, file.failure);
    if (!file.waits_for.empty()) {
      ++waiting_;
      waits_for_.insert(file.waits_for.begin(), file.waits_for.end());
      line(failed_, failed_here_,
           fmt::format("{}, cannot run yet: this release of npu_device has no {}", path_,
                       fmt::join(file.waits_for, ", ")));
    }
    for (const Use& use : file.uses) api(file, use);
    for (auto [text, here] : {std::pair(&success_, done_here_), {&by_hand_, fixed_here_}, {&failed_, failed_here_}})
      if (here) *text += fmt::format("Finish conver file: {}\n\n", path_);
  }

  void failure(const std::string& text) { failed_ += text + "\n"; }
  void note(const std::string& text) { by_hand_ += text + "\n"; }

  std::string write(const std::string& folder) const {
    write_file(folder + "/success_report.txt", success_, kReadable);
    write_file(folder + "/need_migration_doc.txt", by_hand_, kReadable);
    if (!failed_.empty()) write_file(folder + "/failed_report.txt", failed_, kReadable);
    std::string brief = fmt::format("1.In brief: {}\n2.After eliminate duplicate: {}\n", all_.told(), once_.told());
    if (waiting_ > 0)
      brief += fmt::format("3.Cannot run yet: {} file{}, for this release of npu_device has no {}\n", waiting_,
                           waiting_ == 1 ? "" : "s", fmt::join(waits_for_, ", "));
    write_file(folder + "/api_brief_report.txt", brief, kReadable);
    write_sheet(folder + "/api_analysis_report.xlsx",
                {"Sheet1",
                 {"序号", "脚本文件名", "代码行", "模块名", "API名", "工具迁移API支持度", "说明"},
                 {8, 30, 8, 20, 50, 40, 60},
                 rows_});
    return rows_.empty() && waiting_ == 0 ? "" : brief;
  }

 private:
  void line(std::string& text, bool& here, const std::string& row) {
    text += row + "\n";
    here = true;
  }

  void row(const Change& change) {
    const std::string place = fmt::format("{}:{}", path_, change.line);
    const std::string more = change.message.empty() ? "" : fmt::format(" ({})", change.message);
    if (change.report == "unsupported") {
      const std::string name = callee_of(change.before);
      told_.emplace(change.line, name.substr(name.rfind('.') + 1));
      line(failed_, failed_here_, fmt::format("{}, NPU Unsupport API: {} ({})", place, name, report_line(change)));
    } else if (!change.report.empty()) {
      line(by_hand_, fixed_here_, fmt::format("{} {}: {}", place, change.before, report_line(change)));
    } else if (change.kind == Change::Kind::kInsert) {
      const std::string said = "insert " + change.after;  // what else it says is told
      const std::string rest = change.message.starts_with(said) ? change.message.substr(said.size()) : "";
      line(success_, done_here_, fmt::format("{} {}{}", place, change.after, rest));
    } else if (change.after.empty()) {
      line(success_, done_here_, fmt::format("{} delete {}", place, change.before));
    } else {
      line(success_, done_here_, fmt::format("{} change {} to {}{}", place, change.before, change.after, more));
    }
  }

  void api(const FileResult& file, const Use& use) {
    if (!use.name.starts_with("tensorflow.") && !use.name.starts_with("horovod.")) return;
    const SupportList::Found found = list_.find(use.name);
    if (found.label == nullptr) return;
    const std::string shown = SupportList::shown(use.name);
    rows_.push_back({std::to_string(rows_.size() + 1), file.path, std::to_string(use.line),
                     SupportList::module_of(shown), shown, found.label->label, found.note});
    all_.add(found.label);
    if (seen_.insert(shown).second) once_.add(found.label);
    const bool bad = found.label->support == "unsupported" || found.label->support == "removed";
    // What a rule has said of the same place is not said twice.
    if (bad && told_.emplace(use.line, shown.substr(shown.rfind('.') + 1)).second)
      line(failed_, failed_here_,
           fmt::format("{}:{}, NPU Unsupport API: {}{}", path_, use.line, shown,
                       found.note.empty() ? "" : fmt::format(" ({})", found.note)));
  }

  const std::string& root_;
  const SupportList& list_;
  std::string path_, success_, by_hand_, failed_;
  bool done_here_ = false, fixed_here_ = false, failed_here_ = false;
  std::set<std::pair<size_t, std::string>> told_;
  Cells rows_;
  Sums all_, once_;
  std::set<std::string> seen_, waits_for_;
  size_t waiting_ = 0;  // files that cannot run yet
};

}  // namespace

std::string write_tensorflow_reports(const Outcome& outcome, const std::string& root, const std::string& folder,
                                     const SupportList& list) {
  Reports reports(root, list);
  for (const FileResult& file : outcome.files) reports.take(file);
  for (const std::string& failure : outcome.failures) reports.failure(failure);
  for (const std::string& note : outcome.notes) reports.note(note);
  make_folders(folder);
  return reports.write(folder);
}

}  // namespace npu::migrate
