// SPDX-License-Identifier: Apache-2.0
// What ends a command or one comparison, with the exit code that scripts know.
#pragma once

#include <stdexcept>
#include <string>

namespace npu::compare {

/// Those of the published msaccucmp.
enum class Exit : int {
  kOk = 0,
  kUnknown = 1,
  kNoDump = 2,         ///< no dump file for it
  kPath = 3,           ///< a path is none, or of the wrong kind
  kParameter = 6,      ///< the command line
  kOpen = 7,           ///< a file cannot be opened
  kDamaged = 11,       ///< what a dump file holds
  kIndex = 12,         ///< no input or output of that number
  kJson = 13,          ///< a graph that cannot be read
  kDumpFile = 18,      ///< a folder without dump files, or of several kinds
  kWrite = 19,         ///< a result cannot be written
  kDumpType = 20,      ///< these two sides are not compared with these options
  kElementType = 21,   ///< elements that are no numbers, or unknown
  kFormat = 22,        ///< an unknown format, or no conversion
  kShape = 23,         ///< shapes that do not fit
  kFileType = 24,      ///< a file with the wrong ending
  kConversion = 26,    ///< a conversion that does not fit its tensor
  kUnsupported = 30,   ///< an operator that is not compared alone
  kAlgorithm = 31,     ///< none of the algorithms named is known
  kFractalNz = 34,     ///< a shape that a FRACTAL_NZ does not hold
  kOverflowType = 35,  ///< an overflow record of an unknown kind
  kMissing = 38,       ///< a file that should be there
};

class Refusal : public std::runtime_error {
 public:
  Refusal(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Exit code() const { return code_; }

 private:
  Exit code_;
};

}  // namespace npu::compare
