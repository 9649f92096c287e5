// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/refusal.h"

#include <array>
#include <utility>

namespace npu::atc {
namespace {

using Meaning = std::pair<std::string_view, std::string_view>;

// In our words; the numbers are those of the vendor's public tables.
constexpr std::array kMeanings = {
    Meaning{"E10001", "the value of a flag is not one that it can have"},
    Meaning{"E10002", "--input_shape cannot be read"},
    Meaning{"E10003", "an argument is none that atc takes"},
    Meaning{"E10004", "a flag has no value"},
    Meaning{"E10005", "a flag is true or false"},
    Meaning{"E10006", "a flag is 1 or 0"},
    Meaning{"E10007", "a flag that is needed is missing"},
    Meaning{"E10009", "flags of gears exclude each other"},
    Meaning{"E10010", "the level of the log is none"},
    Meaning{"E10011", "a size is not positive"},
    Meaning{"E10014", "a number cannot be read"},
    Meaning{"E10016", "a node that a flag names is not in the model"},
    Meaning{"E10017", "a node that a flag names is no input"},
    Meaning{"E10018", "with gears of the batch only the first size may be -1"},
    Meaning{"E10019", "with gears of images only height and width may be -1"},
    Meaning{"E10020", "sizes of images cannot be read"},
    Meaning{"E10021", "a path is too long"},
    Meaning{"E10022", "a path names no file"},
    Meaning{"E10035", "there are too few gears"},
    Meaning{"E10036", "there are too many gears"},
    Meaning{"E10037", "gears have different lengths"},
    Meaning{"E10038", "a gear has a size that is not positive"},
    Meaning{"E10039", "a gear stands there twice"},
    Meaning{"E10040", "there are gears and no size of -1"},
    Meaning{"E10041", "the model cannot be read; the framework may be another one"},
    Meaning{"E10045", "a gear has another number of sizes than there are of -1"},
    Meaning{"E10047", "two flags exclude each other"},
    Meaning{"E10048", "a range of sizes cannot be read"},
    Meaning{"E10049", "an input has another number of sizes"},
    Meaning{"E10052", "the configuration of AIPP is wrong"},
    Meaning{"E10410", "a file cannot be read"},
    Meaning{"E10501", "there is no operator of that type"},
    Meaning{"E16002", "the model has operators that are not known"},
    Meaning{"E19000", "a file cannot be written"},
    Meaning{"E19014", "a node of the model does not hold together"},
    Meaning{"E19022", "memory is used up"},
    Meaning{"E19999", "a fault of atc itself; please report it"},
};

bool coded(std::string_view text) {
  return text.size() > 8 && text[0] == 'E' && text.substr(6, 2) == ": " &&
         text.substr(1, 5).find_first_not_of("0123456789") == text.npos;
}

}  // namespace

std::string_view meaning_of(std::string_view code) {
  for (const auto& [name, meaning] : kMeanings)
    if (name == code) return meaning;
  return "";
}

std::string_view code_of(const Error& error) {
  if (coded(error.message())) return std::string_view(error.message()).substr(0, 6);
  switch (error.code()) {
    case Code::kInvalidFile: return "E10410";
    case Code::kParseFile: return "E10041";
    case Code::kOpNotFound: return "E16002";
    case Code::kNnInvalidParam:
    case Code::kUnsupportedDataType: return "E19014";
    case Code::kMemoryAllocation:
    case Code::kBadAlloc: return "E19022";
    case Code::kInvalidParam:
    case Code::kFeatureUnsupported: return "E10001";
    default: return static_cast<int>(error.code()) == 100012 ? "E10041" : "E19999";
  }
}

std::string_view text_of(const Error& error) {
  const std::string_view text = error.message();
  return coded(text) ? text.substr(8) : text;
}

}  // namespace npu::atc
