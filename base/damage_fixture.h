// SPDX-License-Identifier: Apache-2.0
// Damage for tests of what reads files and messages: rounds that are the same every time, and texts with something
// else in them. ANYNPU_FUZZ_SECONDS makes more rounds than the few of a usual run, ANYNPU_FUZZ_FIRST starts at a later
// one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "base/error.h"

namespace npu {

using Random = std::mt19937_64;

inline size_t below(Random& random, size_t n) { return n == 0 ? 0 : random() % n; }

inline int number_of_variable(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// What became of the rounds.
struct Rounds {
  size_t refused = 0, accepted = 0;
};

/// Calls `read(round, random)` `usual` times, or for as long as is asked. It may raise an Error with a text; anything
/// else is a failure of the test. `shown` is how many rounds pass between two lines that tell how far a long run is.
template <class Read>
Rounds fuzz(size_t usual, Read&& read, size_t shown = 10000) {
  const std::chrono::seconds limit(number_of_variable("ANYNPU_FUZZ_SECONDS", 0));
  const auto end = std::chrono::steady_clock::now() + limit;
  const auto first = static_cast<size_t>(number_of_variable("ANYNPU_FUZZ_FIRST", 0));
  Rounds out;
  for (size_t round = first; round < first + usual || std::chrono::steady_clock::now() < end; ++round) {
    if (limit.count() > 0 && round % shown == 0) std::cerr << "round " << round << std::endl;
    Random random(round);
    try {
      read(round, random);
      ++out.accepted;
    } catch (const Error& e) {
      EXPECT_FALSE(e.message().empty()) << "round " << round;
      ++out.refused;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "round " << round << ": " << e.what();
    }
  }
  if (limit.count() > 0) std::cerr << out.refused << " refused, " << out.accepted << " accepted" << std::endl;
  return out;
}

/// One change of a text: signs put in, taken out, doubled or overwritten, a number that is too large, words of `words`
/// put in, or the rest cut off.
inline std::string damaged_text(Random& random, std::string text, std::string_view words = "") {
  static constexpr std::string_view kSigns = "{}[]():;,.~'\"\\#-+0129eE \n\t\x80\xff";
  static constexpr std::string_view kNumbers[] = {"-1", "0", "9223372036854775808", "1e308", "1e999", "-0.0", "nan"};
  const size_t at = below(random, text.size() + 1), length = below(random, std::min<size_t>(text.size() - at, 24) + 1);
  switch (below(random, 9)) {
    case 0: return text.insert(at, 1, kSigns[below(random, kSigns.size())]);
    case 1: return text.erase(at, length);
    case 2: return text.insert(at, text.substr(at, length));
    case 3: return text.insert(below(random, text.size() + 1), text.substr(at, 1 + below(random, 200)));
    case 4: return text.insert(at, kNumbers[below(random, std::size(kNumbers))]);
    case 5: return text.insert(at, words.substr(below(random, words.size()), below(random, 24)));
    case 6: return below(random, 4) == 0 ? text.substr(0, at) : text;
    default:
      if (at < text.size()) text[at] = static_cast<char>(random());
      return text;
  }
}

/// A text with one to four changes.
inline std::string damaged_text_often(Random& random, std::string text, std::string_view words = "") {
  for (size_t n = 1 + below(random, 4); n > 0; --n) text = damaged_text(random, std::move(text), words);
  return text;
}

}  // namespace npu
