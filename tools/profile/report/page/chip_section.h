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

/// What is supposed of all devices is said where `is_last`.
ChipSection chip_section(const Modelled& model, bool is_last = true);
std::string text_of(const ChipSection& section);
std::string html_of(const ChipSection& section);

/// Of several devices, one after another, with their pictures.
std::string chip_text(const std::vector<Modelled>& models);
std::string chip_html(const std::vector<Modelled>& models);

}  // namespace npu::profile
