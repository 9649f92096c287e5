// SPDX-License-Identifier: Apache-2.0
// What the chip would have taken, as a part of the pages: tables, and what they suppose.
#pragma once

#include "tools/profile/report/model/modelled.h"

namespace npu::profile {

struct Grid {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

struct ChipSection {
  std::string title;  ///< says that it is modelled
  std::vector<std::string> refusals;
  std::vector<Grid> grids;
  std::vector<std::string> assumptions;
};

ChipSection chip_section(const Modelled& model);
std::string text_of(const ChipSection& section);
std::string html_of(const ChipSection& section);

}  // namespace npu::profile
