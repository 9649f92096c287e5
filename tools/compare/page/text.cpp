// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graph/dump/record/data_type.h"
#include "tools/compare/page/account.h"

namespace npu::compare {
namespace {

constexpr size_t kShown = 8;  // names in a list

std::string listed(const std::vector<std::string>& names) {
  const size_t shown = std::min(kShown, names.size());
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

std::string_view word_of_type(const Port& port) { return graph::record::data_type(port.type).word; }

std::string times(double severity) {
  return std::isfinite(severity) ? fmt::format("{:.3g} times what is allowed", severity) : "not finite on one side";
}

/// The worst element, and how far all are apart.
std::string difference(const Deviation& d, const Port& port) {
  std::string text = fmt::format("    {}: at {} {:.9g}, golden {:.9g}; apart by {:.3g} ({:.3g} of the largest",
                                 port.label, place_text(d.worst, d.shape), d.mine, d.golden, d.absolute, d.relative());
  if (d.ulp > 0) text += fmt::format(", {:.3g} ULP", d.ulp);
  text += ")\n";
  if (d.not_finite_mine + d.not_finite_golden > 0)
    text += fmt::format("    not finite: {} elements, in the golden {}\n", d.not_finite_mine, d.not_finite_golden);
  return text;
}

std::string metrics_text(const Port& mine, const Port& golden) {
  std::string text, line = "   ";
  for (const auto& [name, value] : metrics_of(mine, golden)) {
    if (line.size() + name.size() + value.size() > 110) text += line + "\n", line = "   ";
    line += fmt::format(" {} {};", name, value);
  }
  if (line.size() > 3) text += line;
  if (!text.empty()) text.back() = '\n';
  return text;
}

/// What the golden's fused node holds and mine does not.
std::vector<std::string> lacking(const Operator& mine, const Operator& golden) {
  std::vector<std::string> names = golden.originals;
  std::erase_if(names,
                [&](const auto& name) { return std::ranges::find(mine.originals, name) != mine.originals.end(); });
  return names;
}

std::string attributes_text(const Operator& mine, const Operator* golden) {
  std::string text;
  if (golden == nullptr) return text;
  for (const auto& [key, value] : mine.attributes) {
    const auto at = golden->attributes.find(key);
    if (at != golden->attributes.end() && at->second != value && value.size() < 80)
      text += fmt::format("    attribute {} is {}, in the golden {}\n", key, value, at->second);
  }
  if (golden->originals.size() < 2 || mine.originals.empty()) return text;
  if (const auto more = lacking(mine, *golden); !more.empty())
    text += fmt::format("    in the golden it holds {}, too\n", listed(more));
  return text;
}

std::string finding_text(const Account& a, const Finding& finding) {
  const Operator& op = a.mine.operators[finding.op];
  const bool input = finding.standing == Standing::kReadsOther;
  const Deviation* d = finding.seen();
  std::string text;
  if (!finding.through.empty())
    text += fmt::format("    on the way to it, without a file or a partner: {}\n", listed(finding.through));
  if (!finding.unseen.empty()) text += fmt::format("    of these nothing is known: {}\n", listed(finding.unseen));
  if (d == nullptr) return text;
  const Port& port = input ? op.inputs[finding.worst] : op.outputs[finding.worst];
  const Port& golden = *(input ? a.pairing.inputs : a.pairing.outputs)[finding.op][finding.worst];
  if (input && !port.maker.empty()) text += fmt::format("    {} of {} is {}\n", port.label, op.name, port.maker);
  text += difference(*d, port);
  if (!input)
    text += fmt::format(
        "    {}: {:.3g} is allowed, for {} with {:.0f} terms an element and inputs that are off by {:.3g}\n",
        times(finding.severity()), finding.allowed, word_of_type(port), finding.reduction, finding.input_error);
  if (finding.coarser)
    text += fmt::format("    computed in {}, in the golden {}\n", word_of_type(port), word_of_type(golden));
  return text + metrics_text(port, golden) + attributes_text(op, a.pairing.twins[finding.op]);
}

std::string sentence(const Account& a, const Finding& finding) {
  const Operator& op = a.mine.operators[finding.op];
  if (!finding.missing.empty())
    return fmt::format("{}: the golden has {} behind it, which the run has not; {} differs", finding.maker,
                       finding.missing, operator_text(op));
  if (finding.standing != Standing::kReadsOther)
    return fmt::format("{}: its inputs agree, its output does not", operator_text(op));
  if (const Operator* maker = a.mine.find(finding.maker))
    return fmt::format("{}, without a partner in the golden: what {} reads of it is another value",
                       operator_text(*maker), op.name);
  return fmt::format("{} reads another value: {}", operator_text(op), op.inputs[finding.worst].label);
}

/// Causes behind the first one, the worst first.
std::string others_text(const Account& a) {
  std::vector<size_t> others(a.verdict.causes.begin() + 1, a.verdict.causes.end());
  std::ranges::stable_sort(others, std::greater(), [&](size_t i) { return a.verdict.findings[i].severity(); });
  std::string text =
      others.empty() ? "" : fmt::format("{} more begin to differ by themselves, the worst first:\n", others.size());
  for (size_t k = 0; k < std::min(kShown, others.size()); ++k) {
    const Finding& finding = a.verdict.findings[others[k]];
    const Deviation* d = finding.seen();
    text += fmt::format("  {}, {:.3g} of the largest\n", sentence(a, finding), d == nullptr ? 0 : d->relative());
  }
  return text;
}

std::string coverage_text(const Account& a) {
  const Pairing& p = a.pairing;
  std::string text =
      fmt::format("compared: {} of {} operators that left outputs ({:.0f} %)", p.matched, p.ran, p.coverage());
  if (p.by_structure > 0)
    text += fmt::format(", {} of them matched by structure or values, not by name", p.by_structure);
  text += "\n";
  if (!p.missing.empty()) text += fmt::format("  without a partner in the golden: {}\n", listed(p.missing));
  if (!p.golden_only.empty() && (a.golden.kind != Kind::kArrays || p.golden_only.size() <= kShown))
    text += fmt::format("  in the golden alone: {}\n", listed(p.golden_only));
  return text;
}

std::string unreadable_text(const Account& a) {
  std::vector<std::string> lines;
  for (const Run* run : {&a.mine, &a.golden})
    for (const std::string& note : run->notes) lines.push_back("  not read: " + note);
  for (const Finding& finding : a.verdict.findings)
    for (const Deviation& d : finding.outputs)
      if (!d.reason.empty())
        lines.push_back(fmt::format("  not compared: {}: {}", a.mine.operators[finding.op].name, d.reason));
  const size_t shown = std::min(kShown, lines.size());
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += lines[i] + "\n";
  return shown < lines.size() ? text + fmt::format("  and {} more\n", lines.size() - shown) : text;
}

/// How much stayed within what is allowed.
std::string agreement_text(const Account& a) {
  const Deviation* worst = nullptr;
  const Operator* op = nullptr;
  for (const Finding& finding : a.verdict.findings)
    for (const Deviation& d : finding.outputs)
      if (d.known && !d.exact() && (worst == nullptr || d.relative() > worst->relative()))
        worst = &d, op = &a.mine.operators[finding.op];
  if (worst == nullptr || worst->absolute == 0) return "no difference: all that was compared is equal\n";
  return fmt::format("no difference beyond roundings; the largest: {}, {:.3g} of its largest element\n", op->name,
                     worst->relative());
}

}  // namespace

std::string operator_text(const Operator& op) {
  std::string text = fmt::format("{} ({})", op.name, op.type);
  if (op.originals.size() > 1) text += fmt::format(" of {}", listed(op.originals));
  return text;
}

std::string text_of(const Account& a) {
  std::string text = fmt::format("run:    {}\ngolden: {}\n", a.mine_folder, a.golden_folder);
  if (a.verdict.causes.empty()) {
    text += a.pairing.matched == 0 ? "nothing could be compared\n" : agreement_text(a);
  } else {
    const Finding& first = a.verdict.findings[a.verdict.causes[0]];
    text += fmt::format("first: {}\n", sentence(a, first)) + finding_text(a, first) + others_text(a);
    if (a.verdict.consequences > 0)
      text += fmt::format("{} operators differ as a consequence\n", a.verdict.consequences);
  }
  return text + coverage_text(a) + unreadable_text(a);
}

}  // namespace npu::compare
