// SPDX-License-Identifier: Apache-2.0
// A comparison told: as text, as a table and as a page.
#pragma once

#include <string>

#include "tools/compare/culprit/verdict.h"

namespace npu::compare {

/// All that there is to tell of one step.
struct Account {
  const Run &mine, &golden;
  const Pairing& pairing;
  const Verdict& verdict;
  std::string mine_folder, golden_folder;
};

/// The answer first, then the others, then what was not compared.
std::string text_of(const Account& account);
/// A line for each output that was compared, in the order in which they were made.
std::string table_of(const Account& account);
/// One file of HTML that needs no other: the graph coloured by error, and the first operator's numbers.
std::string page_of(const Account& account);

/// "layer/MatMul (MatMulV2)", with what it holds.
std::string operator_text(const Operator& op);

}  // namespace npu::compare
