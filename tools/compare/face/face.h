// SPDX-License-Identifier: Apache-2.0
// The commands of msaccucmp. Each gives the exit code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::compare {

using Words = std::vector<std::string>;

int compare_face(const Words& arguments);       ///< a network, an operator, two files
int convert_face(const Words& arguments);       ///< dump files to arrays of NumPy
int overflow_face(const Words& arguments);      ///< what operators overflowed
int file_compare_face(const Words& arguments);  ///< two arrays of NumPy
int list_face(const Words& arguments);          ///< which operators were dumped
int digest_face(const Words& arguments);        ///< two runs, by digests of what each operator read and wrote
int show_face(const Words& arguments);          ///< what is in files: extremes, what is not finite, a histogram
int summary_face(const Words& arguments);       ///< shape, type and range of tensors; their elements as text
int difference_face(const Words& arguments);    ///< where two tensors differ by more than is allowed

/// Why -c is refused. The published tool imports modules of Python, which get arrays of NumPy in its own process.
inline constexpr const char* kNoScripts =
    "-c: conversions and algorithms of one's own are modules of Python that the published tool imports; here they are "
    "built in. Write the tensors with convert -t npy and apply yours to the arrays, or use the published msaccucmp.";

/// `anynpu compare`: the first operator that differs. 0: none, 1: one, 2: the command line, 3: nothing to compare,
/// 4: too little of it.
int runs_face(const Words& arguments);

/// Chooses by the first argument, and turns what is raised into a line on stderr and the exit code.
int dispatch(const Words& arguments);

/// "2026-01-02 03:04:05 (pid) - [INFO] …" on stderr, as scripts that read the vendor's tool expect it.
void say(std::string_view level, std::string_view text);
inline void inform(std::string_view text) { say("INFO", text); }
inline void warn(std::string_view text) { say("WARNING", text); }

}  // namespace npu::compare
