// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/culprit/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/thread_pool.h"
#include "graph/dump/record/dump_name.h"
#include "tools/compare/culprit/tolerance.h"

namespace npu::compare {
namespace {

constexpr double kSourceSteps = 1024;  // epsilons by which weights of a later step may drift apart
constexpr double kGrown = 16;          // what lies between a maker and its reader may let an error grow as much
constexpr double kJumpShare = 64;      // elements that an error of the inputs lets jump, times that error
constexpr double kFewCoarser = 0.25;   // more operators of a type than these are a precision that was asked for

/// What is known of a tensor that an operator reads.
struct Trace {
  bool known = false, differs = false;
  double error = 0;
  std::vector<std::string> through;
  const Deviation* deviation = nullptr;  ///< of the compared output it comes from
};

void merge(Trace& into, const Trace& other) {
  into.known |= other.known, into.differs |= other.differs;
  into.error = std::max(into.error, other.error);
  into.through.insert(into.through.end(), other.through.begin(), other.through.end());
}

class Judge {
 public:
  Judge(const Run& mine, const Run& golden, const Pairing& pairing) : mine_(mine), golden_(golden), pairing_(pairing) {
    verdict_.findings.resize(mine.operators.size());
  }

  Verdict run() {
    measure_all();
    for (size_t i = 0; i < mine_.operators.size(); ++i)
      if (mine_.operators[i].ran) judge(i);
    drop_usual_precision();
    for (size_t i = 0; i < verdict_.findings.size(); ++i) {
      const Standing standing = verdict_.findings[i].standing;
      if (standing == Standing::kReadsOther) name_maker(verdict_.findings[i]);
      if (standing == Standing::kDiffers) name_missing(i);
      if (standing == Standing::kDiffers || standing == Standing::kReadsOther) verdict_.causes.push_back(i);
      verdict_.consequences += standing == Standing::kConsequence;
    }
    return std::move(verdict_);
  }

 private:
  void measure_all() {
    parallel_parts(static_cast<int64_t>(mine_.operators.size()), [&](int64_t part) {
      const auto i = static_cast<size_t>(part);
      const Operator& op = mine_.operators[i];
      Finding& finding = verdict_.findings[i];
      finding.op = i;
      const auto measured = [](const std::vector<Port>& ports, const std::vector<const Port*>& golden) {
        std::vector<Deviation> found(ports.size());
        for (size_t k = 0; k < ports.size(); ++k)
          if (golden[k] != nullptr) found[k] = deviation(ports[k], *golden[k]);
        return found;
      };
      finding.outputs = measured(op.outputs, pairing_.outputs[i]);
      finding.inputs = measured(op.inputs, pairing_.inputs[i]);
    });
  }

  /// An operator's output, or, where it was not compared, all that it is made of.
  Trace trace(const std::string& name, size_t output, std::set<std::string>& on_the_way) const {
    Trace found;
    const auto at = mine_.by_name.find(name);
    if (at == mine_.by_name.end() || !on_the_way.insert(name).second) return found;
    const Operator& op = mine_.operators[at->second];
    const Finding& finding = verdict_.findings[at->second];
    if (output < finding.outputs.size() && finding.outputs[output].known) {
      found.known = true, found.deviation = &finding.outputs[output];
      found.differs = finding.standing != Standing::kAgrees && finding.standing != Standing::kUnknown;
      found.error = error_of(*found.deviation);
      return found;
    }
    for (const Port& input : op.inputs) merge(found, trace(input.maker, input.output, on_the_way));
    if (op.ran || !(op.inputs.empty() || reads_variable(op))) found.through.push_back(name);
    return found;
  }

  static double error_of(const Deviation& d) {
    return std::isfinite(d.relative()) ? d.relative() : d.not_finite_apart > 0 ? 1 : d.absolute > 0 ? 1 : 0;
  }

  static bool source_differs(const Deviation& d) {
    if (d.identical) return false;
    const double epsilon = std::max(d.epsilon_mine, d.epsilon_golden);
    return d.exact() ? d.absolute > 0 || d.not_finite_apart > 0 : d.relative() > kSourceSteps * epsilon;
  }

  /// Takes one input in. What it tells by itself counts where nobody is known to have made it.
  void read(size_t i, size_t k, Finding& finding, std::vector<Reading>& readings, bool& differs) const {
    const Port& input = mine_.operators[i].inputs[k];
    std::set<std::string> on_the_way = {mine_.operators[i].name};
    const Trace made = input.maker.empty() ? Trace{} : trace(input.maker, input.output, on_the_way);
    const Deviation& own = finding.inputs[k];
    const Deviation* seen = own.known ? &own : made.deviation;
    Reading reading;
    reading.count = elements(input.shape).value_or(0);
    const Deviation size = seen == nullptr ? deviation(input, input) : *seen;
    reading.largest = size.largest, reading.root_mean_square = size.root_mean_square;
    reading.error = own.known ? error_of(own) : made.error;
    readings.push_back(reading);
    differs |= made.differs;
    if (own.known && !made.differs && source_differs(own) && own.relative() > kGrown * made.error) {
      const bool flipped = made.known && own.exact() && made.error > 0;  // whole numbers made of what moved a little
      if (!flipped && finding.standing != Standing::kReadsOther)
        finding.standing = Standing::kReadsOther, finding.worst = k, finding.through = made.through;
    }
    if (!own.known && !made.known && !is_source(input.maker)) finding.unseen.push_back(input.label);
    if (!own.known && !made.differs) append(finding.through, made.through);
  }

  bool is_source(const std::string& maker) const {
    const Operator* op = mine_.find(maker);
    return op != nullptr && op->inputs.empty();
  }

  static void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
    for (const std::string& name : more)
      if (std::ranges::find(to, name) == to.end()) to.push_back(name);
  }

  void judge(size_t i) {
    const Operator& op = mine_.operators[i];
    Finding& finding = verdict_.findings[i];
    std::vector<Reading> readings;
    bool differs = false;
    for (size_t k = 0; k < op.inputs.size(); ++k) read(i, k, finding, readings, differs);
    const bool reads_other = finding.standing == Standing::kReadsOther;
    const bool compared = std::ranges::any_of(finding.outputs, &Deviation::known);
    if (differs) {
      finding.standing =
          compared ? outputs_agree(i, readings) ? Standing::kAgrees : Standing::kConsequence : Standing::kConsequence;
      finding.through.clear();
    } else if (reads_other) {
      const size_t worst = finding.worst;
      if (compared && outputs_agree(i, {})) finding.standing = Standing::kAgrees;
      finding.allowed = 0;
      if (finding.standing == Standing::kReadsOther) finding.worst = worst;
      if (follows(i)) finding.standing = Standing::kConsequence;
    } else {
      finding.standing = !compared                    ? Standing::kUnknown
                         : outputs_agree(i, readings) ? Standing::kAgrees
                         : follows(i)                 ? Standing::kConsequence
                                                      : Standing::kDiffers;
    }
    caused_ |= finding.standing == Standing::kDiffers || finding.standing == Standing::kReadsOther;
  }

  /// An operator without a partner in the golden, the last one on the way to a value that differs.
  void name_maker(Finding& finding) const {
    for (const bool ran : {true, false})
      for (size_t k = finding.through.size(); k-- > 0;) {
        const Operator* op = mine_.find(finding.through[k]);
        if (op == nullptr || op->ran != ran || op->inputs.empty() || reads_variable(*op)) continue;
        finding.maker = op->name;
        return;
      }
  }

  /// Where the layer of an operator has its names; a fused one may end with a sum that stands outside of it.
  static std::string scope_of(const Operator& op) {
    const std::string& name = op.originals.size() < 2 ? op.name : op.originals.front();
    return graph::record::path_word(name.substr(0, name.rfind('/') + 1));
  }

  /// An operator that the golden alone has (a bias that was dropped), in the scope of one that this one reads: the
  /// golden reads its result instead.
  void name_missing(size_t i) {
    for (const Port& input : mine_.operators[i].inputs) {
      const auto at = mine_.by_name.find(input.maker);
      if (at == mine_.by_name.end() || input.shape.empty()) continue;
      const Operator& maker = mine_.operators[at->second];
      const std::string scope = scope_of(maker);
      for (const std::string& name : pairing_.golden_only) {
        const Operator* alone = golden_.find(name);
        if (scope.empty() || !graph::record::path_word(name).starts_with(scope) || alone->outputs.empty()) continue;
        if (elements(alone->outputs[0].shape) != elements(input.shape) || !differs(maker, input, alone->outputs[0]))
          continue;
        verdict_.findings[i].maker = maker.name, verdict_.findings[i].missing = name;
        return;
      }
    }
  }
  static bool differs(const Operator& maker, const Port& input, const Port& golden) {
    const Port& mine = input.source || input.output >= maker.outputs.size() ? input : maker.outputs[input.output];
    const Deviation d = deviation(mine, golden);
    return d.known && d.relative() > kSourceSteps * d.epsilon_golden;
  }

  static bool reads_variable(const Operator& op) {
    return op.type.find("Variable") != op.type.npos || op.type == "Identity" || op.type == "Cast";
  }

  /// Where nobody tells who made the inputs, and for modules, which end after what they hold: behind a cause all that
  /// differs may come of it.
  bool follows(size_t i) const {
    const Operator& op = mine_.operators[i];
    const bool untold =
        verdict_.findings[i].standing == Standing::kReadsOther && op.inputs[verdict_.findings[i].worst].maker.empty();
    return caused_ && (untold || op.name.starts_with("Module."));
  }

  bool outputs_agree(size_t i, const std::vector<Reading>& readings) {
    Finding& finding = verdict_.findings[i];
    double most = 0;
    bool agree = true;
    for (size_t k = 0; k < finding.outputs.size(); ++k) {
      const Deviation& d = finding.outputs[k];
      if (!d.known || d.identical) continue;
      const Tolerance tolerance = tolerance_of(mine_.operators[i], readings, d);
      const double epsilon = std::max(d.epsilon_mine, d.epsilon_golden);
      const double allowed = std::max(d.exact() ? 0 : tolerance.allowed(epsilon), 1e-37);
      const double severity = d.not_finite_apart > 0 ? INFINITY : d.absolute / allowed;
      if (severity > most || most == 0) {
        most = severity, finding.worst = k, finding.allowed = allowed;
        finding.reduction = tolerance.reduction, finding.input_error = tolerance.input_error;
      }
      if (severity > 1 && !is_jump(i, k, tolerance, allowed)) agree = false;
      const double fine = tolerance.allowed(d.epsilon_golden);
      if (severity <= 1 && d.epsilon_mine > d.epsilon_golden && d.epsilon_golden > 0 && d.absolute > fine)
        finding.coarser = true, finding.worst = k, finding.allowed = fine;
    }
    if (agree && finding.coarser) agree = false;
    return agree;
  }

  /// A few elements that fell on the other side of an edge, as the inputs' error makes likely.
  bool is_jump(size_t i, size_t k, const Tolerance& tolerance, double allowed) const {
    const Operator& op = mine_.operators[i];
    const Deviation& d = verdict_.findings[i].outputs[k];
    if (tolerance.input_error == 0 || (!d.exact() && !jumps(op)) || !op.outputs[k].source) return false;
    const double likely = kJumpShare * tolerance.input_error * static_cast<double>(d.count) + 1;
    return static_cast<double>(count_apart(op.outputs[k], *pairing_.outputs[i][k], allowed)) <= likely;
  }

  /// Where most operators of a type compute in a coarser type than the golden's, the run was asked to.
  void drop_usual_precision() {
    std::map<std::string, std::pair<size_t, size_t>> counts;
    for (const Finding& finding : verdict_.findings) {
      const Operator& op = mine_.operators[finding.op];
      if (!op.ran || std::ranges::none_of(finding.outputs, &Deviation::known)) continue;
      auto& [all, coarser] = counts[op.type];
      ++all, coarser += finding.coarser;
    }
    for (Finding& finding : verdict_.findings) {
      const auto& [all, coarser] = counts[mine_.operators[finding.op].type];
      if (finding.coarser && finding.standing == Standing::kDiffers && coarser > 1 &&
          static_cast<double>(coarser) > kFewCoarser * static_cast<double>(all))
        finding.standing = Standing::kAgrees;
    }
  }

  const Run &mine_, &golden_;
  const Pairing& pairing_;
  Verdict verdict_;
  bool caused_ = false;  ///< an operator before is a cause
};

}  // namespace

const Deviation* Finding::seen() const {
  const auto& side = standing == Standing::kReadsOther ? inputs : outputs;
  return worst < side.size() && side[worst].known ? &side[worst] : nullptr;
}

double Finding::severity() const {
  const Deviation* d = seen();
  if (d == nullptr || d->identical) return 0;
  if (d->not_finite_apart > 0) return INFINITY;
  return allowed == 0 ? d->relative() * 0x1p23 : d->absolute / allowed;
}

Verdict judge(const Run& mine, const Run& golden, const Pairing& pairing) { return Judge(mine, golden, pairing).run(); }

std::string_view word_of(Standing standing) {
  constexpr std::array<std::string_view, 5> kWords = {"unknown", "agrees", "differs", "reads another value",
                                                      "consequence"};
  return kWords[static_cast<size_t>(standing)];
}

}  // namespace npu::compare
