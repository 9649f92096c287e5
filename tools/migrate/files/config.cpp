// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/files/config.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

namespace npu::migrate {
namespace {

constexpr const char* kRule = "config-devices";

struct Word {
  size_t begin, end;  // in the line
  std::string_view text;
};

bool is_one_of(std::string_view set, char c) { return set.find(c) != set.npos; }

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || is_one_of("_:./-", c); }

std::vector<Word> words(std::string_view line) {
  std::vector<Word> out;
  for (size_t i = 0; i < line.size();) {
    if (!in_word(line[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < line.size() && in_word(line[end])) ++end;
    size_t last = end;
    while (last > i && line[last - 1] == ':') --last;  // of a key
    out.push_back({i, last, line.substr(i, last - i)});
    i = end;
  }
  return out;
}

/// What a word becomes; "" where it names no device.
std::string moved(std::string_view word) {
  if (word == "cuda" || word.starts_with("cuda:")) {
    for (const char c : word.substr(std::min<size_t>(word.size(), 5)))
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return {};
    return "npu" + std::string(word.substr(4));
  }
  if (word == "nccl" || word == "NCCL") return "hccl";
  if (word == "CUDA_VISIBLE_DEVICES") return "ASCEND_RT_VISIBLE_DEVICES";
  return {};
}

bool names_gpus(std::string_view word) {
  std::string low(word.substr(word.find_first_not_of('-') == word.npos ? 0 : word.find_first_not_of('-')));
  for (char& c : low) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low == "gpu" || low == "gpus" || low == "gpu_id" || low == "gpu_ids" || low == "use_gpu" ||
         low == "use_cuda" || low == "num_gpus" || low == "cudnn_benchmark";
}

char before(std::string_view line, size_t at) {
  while (at > 0 && line[at - 1] == ' ') --at;
  return at == 0 ? '\0' : line[at - 1];
}

char after(std::string_view line, size_t at) {
  while (at < line.size() && (line[at] == ' ' || line[at] == '\r')) ++at;
  return at == line.size() ? '\0' : line[at];
}

bool is_quote(char c) { return c == '"' || c == '\''; }

bool is_key(std::string_view line, const Word& word) {
  size_t at = word.end;
  if (at < line.size() && is_quote(line[at])) ++at;
  return after(line, at) == ':';
}

/// Whether the word is a whole value of YAML or JSON, not one of the words of a sentence.
bool is_value(std::string_view line, const Word& word) {
  if (word.begin > 0 && word.end < line.size() && is_quote(line[word.begin - 1]))
    return line[word.end] == line[word.begin - 1];
  return is_one_of(":-[,{", before(line, word.begin)) &&
         is_one_of(std::string_view("\0,]}#", 5), after(line, word.end));
}

class Config {
 public:
  Config(const Source& source, const std::string& path, bool change)
      : source_(source), change_(change), shell_(path.ends_with(".sh") || path.ends_with(".bash")) {
    out_.path = path;
    out_.before = out_.after = source.bytes();
  }

  FileResult done() {
    for (size_t line = 1; line <= source_.line_count(); ++line) look_at(line);
    if (!edits_.empty()) {
      edits_.settle();
      out_.after = edits_.applied(source_);
      out_.lines = edits_.lines(source_, Source(source_.path(), out_.after));
    }
    return std::move(out_);
  }

 private:
  void look_at(size_t number) {
    const size_t begin = source_.line_begin(number);
    const size_t end = number < source_.line_count() ? source_.line_begin(number + 1) : source_.bytes().size();
    std::string_view line = std::string_view(source_.bytes()).substr(begin, end - begin);
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    if (const size_t first = line.find_first_not_of(" \t"); first == line.npos || line[first] == '#') return;
    for (const Word& word : words(line)) take(number, begin, line, word);
  }

  void take(size_t number, size_t begin, std::string_view line, const Word& word) {
    const bool key = !shell_ && is_key(line, word);
    const std::string text = moved(word.text);
    if (names_gpus(word.text) || (key && !text.empty())) {
      row(number, word, "", fmt::format("{} names GPUs; check what the program makes of it on NPUs", word.text));
    } else if (!text.empty() && (shell_ || is_value(line, word))) {
      const size_t index = row(number, word, text, fmt::format("change {} to {}", word.text, text));
      if (change_) edits_.replace(begin + word.begin, begin + word.end, text, index);
    }
  }

  size_t row(size_t number, const Word& word, const std::string& text, std::string message) {
    Change& made = out_.changes.emplace_back();
    made.rule = kRule;
    made.line = made.last_line = number;
    made.before = word.text;
    if (!text.empty() && change_) {
      made.after = text;
    } else {
      made.kind = Change::Kind::kNote;
      made.report = "manual";
      if (!text.empty()) message += " by hand, or let --configs do it";
    }
    made.message = std::move(message);
    return out_.changes.size() - 1;
  }

  const Source& source_;
  const bool change_, shell_;
  FileResult out_;
  Edits edits_;
};

}  // namespace

FileResult migrated_config(const Source& source, const std::string& path, bool change) {
  return Config(source, path, change).done();
}

}  // namespace npu::migrate
