// SPDX-License-Identifier: Apache-2.0
// Which operator was the first to compute something else: its inputs agree with the golden's, its output does not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/compare/culprit/deviation.h"
#include "tools/compare/culprit/pairing.h"

namespace npu::compare {

enum class Standing {
  kUnknown,  ///< nothing of it was compared
  kAgrees,
  kDiffers,      ///< all that it reads agrees: it is the cause
  kReadsOther,   ///< it reads a constant, a variable or data that differ already
  kConsequence,  ///< what it reads differs
};

struct Finding {
  size_t op = 0;
  Standing standing = Standing::kUnknown;
  std::vector<Deviation> outputs, inputs;  ///< as the pairing has them; unknown where it has none
  size_t worst = 0;                        ///< the output (or input, of kReadsOther) that is furthest off
  double allowed = 0;                      ///< of that output
  double reduction = 1, input_error = 0;
  bool coarser = false;              ///< within the run's type, but not within the golden's finer one
  std::vector<std::string> through;  ///< operators between it and what was compared, which left no file
  std::string maker;                 ///< an operator without a partner that made what it reads otherwise; "" for none
  std::string missing;              ///< an operator of the golden alone, which stands behind `maker` there; "" for none
  std::vector<std::string> unseen;  ///< inputs of which nothing is known

  const Deviation* seen() const;
  /// How often the difference is what is allowed.
  double severity() const;
};

struct Verdict {
  std::vector<Finding> findings;  ///< one for each operator of the run
  std::vector<size_t> causes;     ///< operators, in the order in which they ran: the first is the answer
  size_t consequences = 0;
};

Verdict judge(const Run& mine, const Run& golden, const Pairing& pairing);

std::string_view word_of(Standing standing);

}  // namespace npu::compare
