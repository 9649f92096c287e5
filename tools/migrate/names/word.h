// SPDX-License-Identifier: Apache-2.0
// Words of programs, each kept once: files name the same ones by the million.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace npu::migrate {

/// Equal words are one and the same, so copies and comparisons cost nothing. From any thread.
class Word {
 public:
  Word() : kept_(empty()) {}
  explicit Word(std::string_view text);
  std::string_view text() const { return kept_->text; }
  /// Of its letters: the same in every run.
  size_t hash() const { return kept_->hash; }
  bool operator==(const Word&) const = default;

 private:
  struct Kept {
    std::string text;
    size_t hash;
  };
  static const Kept* keep(std::string_view text, size_t hash);
  static const Kept* empty() {  // of calls and elements, which are most steps of a path
    static const Kept* const word = Word("").kept_;
    return word;
  }
  const Kept* kept_;
};

struct WordHash {
  size_t operator()(Word word) const { return word.hash(); }
};

}  // namespace npu::migrate
