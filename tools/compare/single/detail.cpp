// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/single/detail.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/thread_pool.h"
#include "graph/dump/record/mapped_file.h"
#include "graph/dump/record/mapping.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/metric/metric.h"
#include "tools/compare/report/csv.h"
#include "tools/compare/tensor/array_file.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;
namespace record = graph::record;

constexpr size_t kBlock = 1 << 16;
constexpr std::string_view kLongNames = "simple_op_mapping.csv";

/// Infinite errors and those that are no number count as none where elements are put in order.
double ranked(double error) { return std::isfinite(error) ? error : 0; }

/// An element's place on each axis, as words; shapes have four axes at least.
class Place {
 public:
  Place(Shape shape, uint64_t at) : shape_(std::move(shape)) {
    if (shape_.size() < 4) shape_.resize(4, 1);
    index_.resize(shape_.size());
    for (size_t i = shape_.size(); i-- > 0; at /= shape_[i]) index_[i] = at % shape_[i];
  }
  void advance() {
    for (size_t i = shape_.size(); i-- > 0; index_[i] = 0)
      if (++index_[i] < shape_[i]) return;
  }
  std::string text() const { return fmt::format("{}", fmt::join(index_, " ")); }

 private:
  Shape shape_, index_;
};

/// The elements that are farthest away: the worst first, the later one of two that are equally far.
class Farthest {
 public:
  Farthest(size_t most, double ElementError::*error) : most_(most), error_(error) {}
  void add(uint64_t at, const ElementError& e) {
    if (most_ == 0) return;
    const Entry entry{ranked(e.*error_), at};
    if (heap_.size() == most_ && entry < heap_.front()) return;
    if (heap_.size() == most_) std::ranges::pop_heap(heap_, std::greater()), heap_.pop_back();
    heap_.push_back(entry), std::ranges::push_heap(heap_, std::greater());
  }
  std::vector<uint64_t> places() const {
    std::vector<Entry> sorted = heap_;
    std::ranges::sort(sorted, std::greater());
    std::vector<uint64_t> found;
    for (const Entry& entry : sorted) found.push_back(entry.second);
    return found;
  }

 private:
  using Entry = std::pair<double, uint64_t>;
  size_t most_;
  double ElementError::*error_;
  std::vector<Entry> heap_;
};

/// The least and the greatest.
struct Range {
  double least = INFINITY, most = -INFINITY;
  void add(double value) { least = std::min(least, value), most = std::max(most, value); }
};

struct Summary {
  Range absolute, relative;
  std::vector<uint64_t> by_absolute, by_relative;
};

/// As the published tool has it: of fewer elements than wanted all but one, of a single one that.
size_t shown(uint64_t count, size_t top) { return count >= top ? top : count <= 1 ? count : count - 1; }

Summary summarise(const ElementErrors& errors, size_t top) {
  const size_t most = shown(errors.count(), top);
  Farthest absolute(most, &ElementError::absolute), relative(most, &ElementError::relative);
  Summary found;
  for (uint64_t at = 0; at < errors.count() && !errors.boolean(); at += kBlock) {
    const auto block = errors.at(at, std::min<uint64_t>(kBlock, errors.count() - at));
    for (size_t i = 0; i < block.size(); ++i) {
      found.absolute.add(ranked(block[i].absolute)), found.relative.add(ranked(block[i].relative));
      absolute.add(at + i, block[i]), relative.add(at + i, block[i]);
    }
  }
  found.by_absolute = absolute.places(), found.by_relative = relative.places();
  for (uint64_t at = 0; errors.boolean() && at < most; ++at)
    found.by_absolute.push_back(at), found.by_relative.push_back(at);
  return found;
}

const char* truth(double value) { return value != 0 ? "True" : "False"; }

std::string number(double value) { return fixed(value) + '\t'; }

/// A line of the files with all elements: "-" stands for a relative error that is no finite number.
std::string value_line(uint64_t at, const Place& place, const ElementError& e, bool boolean) {
  if (boolean) return fmt::format("{},{},{}\t,{}\t,-\t,-\n", at, place.text(), truth(e.mine), truth(e.golden));
  const std::string absolute = number(std::isinf(e.absolute) ? NAN : e.absolute);
  return fmt::format("{},{},{},{},{},{}\n", at, place.text(), number(e.mine), number(e.golden), absolute,
                     std::isfinite(e.relative) ? number(e.relative) : "-");
}

/// A line of the files with those that are farthest away: "-" for whatever is no finite number.
std::string top_line(uint64_t at, const Place& place, const ElementError& e, bool boolean) {
  const auto text = [](double value) {
    return std::isfinite(value) ? number(value) : std::isinf(value) && value < 0 ? "--\t" : "-\t";
  };
  const std::string mine = boolean ? fmt::format("{}\t", truth(e.mine)) : text(e.mine);
  const std::string golden = boolean ? fmt::format("{}\t", truth(e.golden)) : text(e.golden);
  const auto error = [&](double value) { return std::isfinite(value) ? number(value) : "-\t"; };
  return fmt::format("{},{},{},{},{},{}\n", at, place.text(), mine, golden, error(e.absolute), error(e.relative));
}

class Writer {
 public:
  Writer(const Detail& detail, const View& mine, const View& golden, const DetailOptions& options)
      : detail_(detail), mine_(mine), errors_(mine, golden), options_(options) {}

  void write() {
    std::error_code ignored;
    fs::create_directories(options_.folder, ignored);
    remove_old();
    write_npy(path_for("", ".npy"), mine_);
    const Summary summary = summarise(errors_, options_.top);
    write_file(path_for("", "_summary.txt"), summary_text(summary));
    if (options_.values) write_values();
    write_top("absolute", summary.by_absolute);
    write_top("relative", summary.by_relative);
  }

 private:
  bool is_ours(const std::string& name) const {
    if (name == detail_.tensor + "_summary.txt") return true;
    return name.starts_with(detail_.tensor + '_') && (name.ends_with(".csv") || name.ends_with(".npy"));
  }

  /// Also what stands in the file of long names, which keeps the other tensors' lines.
  void remove_old() const {
    const fs::path folder = options_.folder, list = folder / kLongNames;
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(folder))
      if (is_ours(entry.path().filename())) old.push_back(entry.path());
    std::string kept;
    if (fs::exists(list)) {
      for (const auto& [file, name] : record::parse_mapping(record::MappedFile(list).text()))
        if (is_ours(name))
          old.push_back(folder / file);
        else
          kept += fmt::format("{},{}\n", file, name);
      old.push_back(list);
    }
    for (const fs::path& path : old) fs::remove(path);
    if (!kept.empty()) write_file(list, kept);
  }

  /// `number` and `ending` follow the tensor's name, or where that is too long the dump file's, or digits.
  std::string path_for(const std::string& number, const std::string& ending) const {
    const fs::path folder = options_.folder;
    const std::string name = detail_.tensor + number + ending;
    if (name.size() < record::kLongestName) return folder / name;
    std::string file = detail_.dump_file;
    std::ranges::replace_if(file, [](char c) { return c == '/' || c == '.'; }, '_');
    file += detail_.tensor.substr(detail_.tensor.rfind('_', detail_.tensor.rfind('_') - 1)) + number + ending;
    if (file.size() >= record::kLongestName) file = record::stored_name(name + std::string(256, ' ')).file + ending;
    std::ofstream(folder / kLongNames, std::ios::app) << file << ',' << name << '\n';
    return folder / file;
  }

  std::string header() const {
    return fmt::format("Index,{},NPUDump,GroundTruth,AbsoluteError,RelativeError\n", detail_.axes);
  }

  std::string summary_text(const Summary& s) const {
    const auto text = [&](double value) {
      return std::isfinite(value) ? fixed(value) : errors_.boolean() ? "-" : "nan";
    };
    return fmt::format(
        "TotalCount:{}\nNPUDump:{}\nGroundTruth:{}\nFormat:{}\nMinAbsoluteError:{}\nMaxAbsoluteError:{}\n"
        "MinRelativeError:{}\nMaxRelativeError:{}\n",
        errors_.count(), detail_.mine, detail_.golden, detail_.axes, text(s.absolute.least), text(s.absolute.most),
        text(s.relative.least), text(s.relative.most));
  }

  void write_values() const {
    const uint64_t files = std::max<uint64_t>(1, (errors_.count() + options_.lines - 1) / options_.lines);
    std::vector<std::string> paths;
    for (uint64_t i = 0; i < files; ++i) paths.push_back(path_for(fmt::format("_{}", i * options_.lines), ".csv"));
    parallel_parts(static_cast<int64_t>(files), [&](int64_t i) {
      const uint64_t first = static_cast<uint64_t>(i) * options_.lines;
      write_part(paths[static_cast<size_t>(i)], first, std::min(errors_.count(), first + options_.lines));
    });
  }

  void write_part(const std::string& path, uint64_t first, uint64_t end) const {
    std::string text = header();
    for (Place place(mine_.shape, first); first < end;) {
      const auto block = errors_.at(first, std::min<uint64_t>(kBlock, end - first));
      for (const ElementError& e : block) text += value_line(first++, place, e, errors_.boolean()), place.advance();
    }
    write_file(path, text);
  }

  void write_top(std::string_view kind, const std::vector<uint64_t>& places) const {
    std::string text = header();
    for (const uint64_t at : places)
      text += top_line(at, Place(mine_.shape, at), errors_.at(at, 1)[0], errors_.boolean());
    write_file(path_for("", fmt::format("_{}_error_topn.csv", kind)), text);
    fmt::print("\nThe largest {} errors:\n{}", kind, text);
  }

  const Detail& detail_;
  const View& mine_;
  ElementErrors errors_;
  const DetailOptions& options_;
};

}  // namespace

void write_detail(const Detail& detail, const View& mine, const View& golden, const DetailOptions& options) {
  Writer(detail, mine, golden, options).write();
}

}  // namespace npu::compare
