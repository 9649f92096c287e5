// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/files/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "tools/migrate/rule/environment.h"

namespace npu::migrate {
namespace {

constexpr const char* kRule = "config-devices";

enum class Form { kYaml, kJson, kShell };

bool is_one_of(std::string_view set, char c) { return set.find(c) != set.npos; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Letters of other alphabets are bytes over 127.
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) > 127 ||
         is_one_of("_:./-", c);
}

struct Word {
  size_t begin, end;  // in the line
  std::string_view text;
};

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
    const std::string_view number = word.substr(std::min<size_t>(word.size(), 5));
    return number.find_first_not_of("0123456789") == number.npos ? "npu" + std::string(word.substr(4)) : "";
  }
  if (word == "nccl" || word == "NCCL") return "hccl";
  if (word.starts_with("torch.cuda.") && word.ends_with("Tensor")) return "torch.npu." + std::string(word.substr(11));
  return {};
}

bool names_gpus(std::string_view word) {
  static constexpr std::string_view kNames[] = {"gpu",     "gpus",     "gpu_id",   "gpu_ids",
                                                "use_gpu", "use_cuda", "num_gpus", "cudnn_benchmark"};
  std::string low(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  for (char& c : low) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(kNames, low) != std::end(kNames);
}

/// One line: where it is quoted, and where its comment begins.
class Line {
 public:
  Line(std::string_view text, Form form) : text_(text), form_(form) {
    char open = '\0';
    size_t begin = 0;
    for (size_t i = 0; i < text.size() && !ended_; ++i) {
      const char before = i == 0 ? ' ' : text[i - 1];
      if (open != '\0' && text[i] == open && before != '\\') {
        quoted_.push_back({begin, i, text.substr(begin, i - begin)});
        open = '\0';
      } else if (open == '\0' && is_quote(text[i]) && opens(before)) {
        open = text[i];
        begin = i + 1;
      } else if (open == '\0' && text[i] == '#' && form != Form::kJson && is_blank(before)) {
        text_ = text.substr(0, i);
        ended_ = true;
      }
    }
  }

  std::string_view text() const { return text_; }

  bool is_key(const Word& word) const {
    const size_t at = word.end + (word.end < text_.size() && is_quote(text_[word.end]) ? 1 : 0);
    return form_ != Form::kShell && after(at) == ':';
  }

  /// Whether the word is a whole value, not one of the words of a sentence.
  bool is_value(const Word& word) const {
    const Word* quote = quote_around(word);
    if (quote != nullptr && quote->begin == word.begin && quote->end == word.end) return true;
    if (form_ != Form::kShell)
      return quote == nullptr && is_one_of(":-[,{", before(word.begin)) &&
             is_one_of(std::string_view("\0,]}", 4), after(word.end));
    const size_t opened = word.begin - (word.begin > 0 && is_quote(text_[word.begin - 1]) ? 1 : 0);
    if (opened > 0 && text_[opened - 1] == '=') return true;
    if (behind_option(word)) return true;
    const size_t first = text_.find_first_not_of(" \t");
    return quote == nullptr && !text_.substr(first).starts_with("echo ") && !text_.substr(first).starts_with("printf ");
  }

  /// "|" and ">" begin a text of several lines; so does "<<WORD" in a shell, which is given back.
  bool begins_block() const {
    const size_t last = text_.find_last_not_of(" \t+-0123456789");
    return form_ == Form::kYaml && last != text_.npos && is_one_of("|>", text_[last]) && is_one_of(":-", before(last));
  }
  std::string_view document() const {
    const size_t at = form_ == Form::kShell ? text_.find("<<") : text_.npos;
    if (at == text_.npos || text_.substr(at).starts_with("<<<") || text_.substr(0, at).find("((") != text_.npos)
      return {};  // a word is handed in, a number is shifted
    const size_t begin = text_.find_first_not_of("-'\" ", at + 2);
    if (begin == text_.npos) return {};
    return text_.substr(begin, std::min(text_.find_first_of("'\" ;|>", begin), text_.size()) - begin);
  }

 private:
  bool opens(char before) const { return form_ == Form::kShell ? before != '\\' : is_one_of(" \t:[{,(-", before); }

  const Word* quote_around(const Word& word) const {
    for (const Word& each : quoted_)
      if (each.begin <= word.begin && word.end <= each.end) return &each;
    return nullptr;
  }

  /// `--device cuda`
  bool behind_option(const Word& word) const {
    size_t end = word.begin;
    while (end > 0 && is_blank(text_[end - 1])) --end;
    if (end == word.begin || end == 0) return false;
    const size_t begin = text_.find_last_of(" \t\"'", end - 1);
    return text_[begin == text_.npos ? 0 : begin + 1] == '-';
  }

  /// The last character before it that is no blank; anchors and tags of YAML ("&name", "!!str") are passed over.
  char before(size_t at) const {
    while (at > 0 && is_blank(text_[at - 1])) --at;
    if (at == 0) return '\0';
    const size_t blank = text_.find_last_of(" \t", at - 1);
    const size_t begin = blank == text_.npos ? 0 : blank + 1;
    return is_one_of("&!", text_[begin]) && begin < at ? before(begin) : text_[at - 1];
  }

  char after(size_t at) const {
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at == text_.size() ? '\0' : text_[at];
  }

  std::string_view text_;
  const Form form_;
  bool ended_ = false;
  std::vector<Word> quoted_;
};

Form form_of(const std::string& path) {
  if (path.ends_with(".sh") || path.ends_with(".bash")) return Form::kShell;
  return path.ends_with(".json") ? Form::kJson : Form::kYaml;
}

class Config {
 public:
  Config(const Source& source, const std::string& path, bool change)
      : source_(source), change_(change), form_(form_of(path)) {
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
    std::string_view text = std::string_view(source_.bytes()).substr(begin, end - begin);
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    const size_t indent = text.find_first_not_of(" \t");
    if (indent == text.npos) return;
    const bool free = is_free_text(text, indent);
    const Line line(text, form_);
    for (const Word& word : words(line.text())) take(number, begin, line, word, free);
    if (free) return;
    if (line.begins_block()) block_ = indent;
    document_ = line.document();
  }

  /// Whether the line belongs to a text of several lines that began before it.
  bool is_free_text(std::string_view text, size_t indent) {
    if (block_ && indent > *block_) return true;
    block_.reset();
    if (document_.empty()) return false;
    if (text.substr(indent) != document_) return true;
    document_ = {};
    return false;
  }

  void take(size_t number, size_t begin, const Line& line, const Word& word, bool free) {
    if (const EnvironmentVariable* variable = environment_variable(word.text)) {
      if (!variable->becomes.empty()) change(number, begin, word, variable->becomes);
      if (!variable->told.empty()) row(number, word, "", fmt::format("{}: {}", word.text, variable->told));
      return;
    }
    if (word.text == "nvidia-smi") row(number, word, "", "nvidia-smi is not there beside NPUs; npu-smi info is theirs");
    const std::string text = moved(word.text);
    if (names_gpus(word.text) || (!text.empty() && line.is_key(word)))
      row(number, word, "", fmt::format("{} names GPUs; check what the program makes of it on NPUs", word.text));
    else if (!text.empty() && free)
      row(number, word, "", fmt::format("{} stands in a text; where that is run or read, it is {}", word.text, text));
    else if (!text.empty() && line.is_value(word))
      change(number, begin, word, text);
  }

  void change(size_t number, size_t begin, const Word& word, const std::string& text) {
    const size_t index = row(number, word, text, fmt::format("change {} to {}", word.text, text));
    if (change_) edits_.replace(begin + word.begin, begin + word.end, text, index);
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
  const bool change_;
  const Form form_;
  FileResult out_;
  Edits edits_;
  std::optional<size_t> block_;  // the indentation of the key whose text this is
  std::string_view document_;    // the word that ends a shell's text
};

}  // namespace

FileResult migrated_config(const Source& source, const std::string& path, bool change) {
  return Config(source, path, change).done();
}

}  // namespace npu::migrate
