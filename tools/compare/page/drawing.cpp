// SPDX-License-Identifier: Apache-2.0
// A model has thousands of operators; who looks for a cause wants those around it. Each stands one row below the last
// of those that it reads from, and its box leads to its line of the list.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/compare/page/html.h"

namespace npu::compare {
namespace {

constexpr int kHops = 3;  // up and down from the cause
constexpr size_t kMostBoxes = 48, kLongestName = 26;
constexpr double kWide = 200, kHigh = 36, kGap = 14, kRow = 76;

using Readers = std::map<size_t, std::set<size_t>>;  // operators that ran, by the number of one

/// Who made what an operator reads, through those that left no file (views, variables' values).
class Makers {
 public:
  explicit Makers(const Run& run) : run_(run) {
    for (size_t i = 0; i < run.operators.size(); ++i)
      if (run.operators[i].ran) {
        passed_.clear();
        follow(i, i);
      }
  }
  Readers of, readers;

 private:
  void follow(size_t reader, size_t at) {
    for (const Port& input : run_.operators[at].inputs) {
      const auto found = run_.by_name.find(input.maker);
      if (found == run_.by_name.end() || !passed_.insert(found->second).second) continue;
      if (!run_.operators[found->second].ran)
        follow(reader, found->second);
      else if (found->second != reader)
        of[reader].insert(found->second), readers[found->second].insert(reader);
    }
  }
  const Run& run_;
  std::set<size_t> passed_;
};

/// The cause, and by hops who is connected with it.
std::set<size_t> around(size_t cause, const Makers& makers) {
  std::set<size_t> chosen{cause};
  for (const Readers* way : {&makers.of, &makers.readers}) {
    std::set<size_t> edge{cause};
    for (int hop = 0; hop < kHops; ++hop) {
      std::set<size_t> next;
      for (const size_t op : edge)
        if (const auto at = way->find(op); at != way->end()) next.insert(at->second.begin(), at->second.end());
      for (const size_t op : next)
        if (chosen.size() < kMostBoxes) chosen.insert(op);
      edge = std::move(next);
    }
  }
  return chosen;
}

/// The last parts of a name, as much as a box holds.
std::string short_name(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  const size_t cut = name.find('/', name.size() - kLongestName);
  return "…" + name.substr(cut == std::string::npos ? name.size() - kLongestName : cut);
}

struct Place {
  size_t row = 0, column = 0;
};

class Drawing {
 public:
  explicit Drawing(const Account& account)
      : a_(account), cause_(account.verdict.causes[0]), makers_(account.mine), chosen_(around(cause_, makers_)) {
    for (const size_t op : chosen_) {  // a maker ran before its readers, and has the lower number
      Place& place = places_[op];
      for (const size_t maker : drawn_makers(op)) place.row = std::max(place.row, places_[maker].row + 1);
      place.column = columns_[place.row]++;
      most_ = std::max(most_, columns_[place.row]);
    }
  }

  std::string text() const {
    std::string lines, boxes;
    for (const size_t op : chosen_) {
      for (const size_t maker : drawn_makers(op)) lines += line(maker, op);
      boxes += box(op);
    }
    return fmt::format(
        "<h2>Around it</h2>\n<svg width={:.0f} height={:.0f} font-size=12 style=\"border:0\">{}{}</svg>\n",
        static_cast<double>(most_) * (kWide + kGap) + kGap, static_cast<double>(columns_.size()) * kRow, lines, boxes);
  }

 private:
  std::vector<size_t> drawn_makers(size_t op) const {
    std::vector<size_t> found;
    if (const auto at = makers_.of.find(op); at != makers_.of.end())
      for (const size_t maker : at->second)
        if (maker < op && chosen_.contains(maker)) found.push_back(maker);
    return found;
  }
  double left(size_t op) const {
    const Place& place = places_.at(op);
    const auto unused = static_cast<double>(most_ - columns_.at(place.row));
    return kGap + (static_cast<double>(place.column) + unused / 2) * (kWide + kGap);
  }
  double top(size_t op) const { return kGap + static_cast<double>(places_.at(op).row) * kRow; }

  std::string line(size_t from, size_t to) const {
    const double x1 = left(from) + kWide / 2, y1 = top(from) + kHigh, x2 = left(to) + kWide / 2, y2 = top(to);
    const double middle = (y1 + y2) / 2;
    return fmt::format(
        "<path d=\"M{:.0f} {:.0f}C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {:.0f}\" fill=none stroke=#999 />\n", x1, y1, x1,
        middle, x2, middle, x2, y2);
  }

  std::string box(size_t op) const {
    const Operator& shown = a_.mine.operators[op];
    const Deviation* d = worst_of(a_.verdict.findings[op]);
    const std::string error = d == nullptr ? "not compared" : fmt::format("off by {:.3g}", d->relative());
    const std::string frame =
        fmt::format("<rect x={:.0f} y={:.0f} width={:.0f} height={:.0f} rx=5 ", left(op), top(op), kWide, kHigh);
    std::string text =
        fmt::format("<a href=\"#o{}\"><title>{} ({}): {}</title>", op, escaped(shown.name), escaped(shown.type), error);
    text += frame + "fill=white />" + frame;  // lines pass behind it
    text += fmt::format("fill={} fill-opacity=.35 {} />", colour(d),
                        op == cause_ ? "stroke=#c00 stroke-width=3" : "stroke=#888");
    const auto words = [&](double y, std::string_view what, std::string_view ink) {
      text += fmt::format("<text x={:.0f} y={:.0f} fill={}>{}</text>", left(op) + 6, top(op) + y, ink, what);
    };
    words(15, escaped(short_name(shown.name)), "#000");
    words(30, error, "#555");
    return text + "</a>\n";
  }

  const Account& a_;
  const size_t cause_;
  const Makers makers_;
  const std::set<size_t> chosen_;
  std::map<size_t, Place> places_;
  std::map<size_t, size_t> columns_;  ///< of each row
  size_t most_ = 0;
};

}  // namespace

std::string drawing_of(const Account& account) { return account.verdict.causes.empty() ? "" : Drawing(account).text(); }

}  // namespace npu::compare
