// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <utility>

#include "base/error.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/face/arguments.h"
#include "tools/compare/face/face.h"

namespace npu::compare {
namespace {

constexpr int kUsage = 2;
using Face = int (*)(const Words&);
constexpr std::array<std::pair<std::string_view, Face>, 9> kFaces = {{{"compare", compare_face},
                                                                      {"convert", convert_face},
                                                                      {"overflow", overflow_face},
                                                                      {"file_compare", file_compare_face},
                                                                      {"list", list_face},
                                                                      {"show", show_face},
                                                                      {"summary", summary_face},
                                                                      {"difference", difference_face},
                                                                      {"digest", digest_face}}};

constexpr const char* kHelp =
    "usage: msaccucmp COMMAND [options]\n\n"
    "  compare       all operators of a run with those of another one; one operator; two files\n"
    "  convert       dump files to arrays of NumPy, in another format where wanted\n"
    "  overflow      which operators overflowed, and what went in and out of them\n"
    "  file_compare  two arrays of NumPy\n"
    "  list          the operators of a dump (ours)\n"
    "  show          what is in files: extremes, what is not finite, a histogram (ours)\n"
    "  summary       shape, type and range of tensors, in a line each; their elements as text (ours)\n"
    "  difference    where two tensors differ by more than is allowed (ours)\n"
    "  digest        two runs, by digests of what each operator read and wrote (ours)\n\n"
    "msaccucmp COMMAND -h tells the options.\n";

int run(Face face, const Words& arguments) {
  const auto start = std::chrono::steady_clock::now();
  int code = static_cast<int>(Exit::kUnknown);
  try {
    code = face(arguments);
  } catch (const UsageError& error) {
    fmt::print(stderr, "msaccucmp: error: {}\n", error.text);
    return kUsage;
  } catch (const Refusal& reason) {
    say("ERROR", reason.what());
    code = static_cast<int>(reason.code());
  } catch (const std::exception& reason) {
    say("ERROR", reason.what());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  inform(fmt::format("The command was completed and took {} seconds.", static_cast<int64_t>(took.count())));
  return code;
}

}  // namespace

void say(std::string_view level, std::string_view text) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "%Y-%m-%d %H:%M:%S", &parts);
  fmt::print(stderr, "{} ({}) - [{}] {}\n", time.data(), getpid(), level, text);
}

int dispatch(const Words& arguments) {
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (name == "runs") return runs_face({arguments.begin() + 1, arguments.end()});  // has words and codes of its own
  for (const auto& [known, face] : kFaces)
    if (known == name) return run(face, {arguments.begin() + 1, arguments.end()});
  const bool help = name == "-h" || name == "--help";
  fmt::print(help ? stdout : stderr, "{}", kHelp);
  return help ? 0 : arguments.empty() ? static_cast<int>(Exit::kParameter) : kUsage;
}

}  // namespace npu::compare
