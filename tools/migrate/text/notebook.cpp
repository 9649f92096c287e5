// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/notebook.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tools/migrate/text/magic.h"

namespace npu::migrate {
namespace {

constexpr std::string_view kBetween = "#%%\n";      // between two cells: no edit touches it
constexpr std::string_view kStandIn = "anynpu:%%";  // behind the `#` of what stands for a line of IPython

bool ends_line(std::string_view text) { return text.ends_with('\n') || text.ends_with('\r'); }

/// `metadata.kernelspec.language`, `metadata.language_info.name`, or "".
std::string said_language(std::string_view json, const Json& root) {
  const Json* data = root.member("metadata");
  for (const auto& [part, key] : {std::pair("language_info", "name"), std::pair("kernelspec", "language")}) {
    const Json* found = data == nullptr ? nullptr : data->member(part);
    found = found == nullptr ? nullptr : found->member(key);
    if (found != nullptr && found->kind == Json::Kind::kString) return read_string(json, *found).text;
  }
  return "";
}

bool is_code(std::string_view json, const Json& cell) {
  const Json* type = cell.member("cell_type");
  return type != nullptr && type->kind == Json::Kind::kString && read_string(json, *type).text == "code";
}

/// Neighbours as one.
std::vector<LineSpan> merged(const std::vector<LineSpan>& lines) {
  std::vector<LineSpan> out;
  for (const LineSpan& span : lines)
    if (!out.empty() && out.back().end == span.begin && out.back().after_end == span.after_begin)
      out.back().end = span.end, out.back().after_end = span.after_end;
    else
      out.push_back(span);
  return out;
}

}  // namespace

Notebook::Notebook(Source source)
    : source_(std::move(source)),
      ascii_(std::ranges::all_of(source_.bytes(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
  const Json root = parse_json(source_.path(), source_.bytes());
  if (std::string said = said_language(source_.bytes(), root); !said.empty()) language_ = std::move(said);
  std::ranges::transform(language_, language_.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!language_.starts_with("python") && !language_.starts_with("ipython")) return;
  language_ = "python";
  if (const Json* cells = root.member("cells")) take_cells(*cells, "source");
  if (const Json* sheets = root.member("worksheets"))  // before format 4
    for (const Json& sheet : sheets->items)
      if (const Json* cells = sheet.member("cells")) take_cells(*cells, "input");
}

bool Notebook::looks_like(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{' && text.find("\"nbformat\"") != text.npos;
}

void Notebook::take_cells(const Json& list, const char* key) {
  for (size_t i = 0; i < list.items.size(); ++i)
    if (const Json* source = list.items[i].member(key); source != nullptr && is_code(source_.bytes(), list.items[i]))
      take_cell(*source, i + 1);
}

void Notebook::take_cell(const Json& source, size_t number) {
  Cell cell{source, {}, {}, {}, number, 0};
  const std::vector<Json> one{source};
  for (const Json& each : source.kind == Json::Kind::kList ? source.items : one) {
    if (each.kind != Json::Kind::kString) return;
    cell.pieces.push_back({each, read_string(source_.bytes(), each), cell.text.size()});
    cell.text += cell.pieces.back().said.text;
  }
  put_python(cell);
  cells_.push_back(std::move(cell));
}

void Notebook::put_python(Cell& cell) {
  if (!cells_.empty()) python_ += kBetween;
  cell.first_line = cells_.empty() ? 1 : cells_.back().past_line() + 1;
  const std::vector<std::string_view> lines = split_lines(cell.text);
  const auto instead = stand_ins(lines);
  if (!instead) broken_.push_back(cell.first_line);
  for (size_t i = 0; i < lines.size(); ++i) {
    cell.lines.push_back(static_cast<size_t>(lines[i].data() - cell.text.data()));
    const std::string stand_in = instead ? (*instead)[i] : "#";
    if (stand_in.empty()) {
      python_ += lines[i];
      if (!ends_line(lines[i])) python_ += '\n';
      continue;
    }
    python_ += fmt::format("{}{}{}\n", stand_in, kStandIn, magics_.size());
    magics_.push_back({cell.first_line + i, std::string(lines[i])});
  }
}

const Notebook::Cell& Notebook::cell_at(size_t line) const {
  const auto past = std::ranges::upper_bound(cells_, line, {}, &Cell::first_line);
  return past == cells_.begin() ? cells_.front() : *(past - 1);
}

Notebook::Where Notebook::where(size_t line) const {
  if (cells_.empty()) return {1, 1, 1};
  const Cell& cell = cell_at(line);
  if (cell.lines.empty()) return {source_.line(cell.source.begin), cell.number, 1};
  const size_t own = std::min(line - std::min(line, cell.first_line), cell.lines.size() - 1);
  const auto piece = std::ranges::upper_bound(cell.pieces, cell.lines[own], {}, &Piece::begin) - 1;
  const size_t place = piece->said.places[cell.lines[own] - piece->begin];
  return {source_.line(place), cell.number, own + 1};
}

/// What stood for a line of IPython is that line again.
std::string Notebook::restored(std::string_view line) const {
  const size_t mark = line.rfind(kStandIn);
  size_t number = magics_.size();
  if (mark != line.npos) std::from_chars(line.data() + mark + kStandIn.size(), line.data() + line.size(), number);
  if (number >= magics_.size()) return std::string(line);
  return magics_[number].text + (ends_line(magics_[number].text) ? "" : "\n");
}

std::string Notebook::new_text(const Source& after, const LineSpan& span) const {
  std::string out;
  for (size_t line = span.after_begin; line < span.after_end; ++line) {
    const size_t begin = after.line_begin(line);
    const size_t end = line < after.line_count() ? after.line_begin(line + 1) : after.bytes().size();
    out += restored(std::string_view(after.bytes()).substr(begin, end - begin));
  }
  return out;
}

Edits Notebook::edits(const Source& after, const std::vector<LineSpan>& lines) const {
  Edits out;
  for (const LineSpan& span : merged(lines)) {
    const Cell& cell = cell_at(span.begin);
    const auto place = [&](size_t line) {
      const size_t own = line - cell.first_line;
      return own < cell.lines.size() ? cell.lines[own] : cell.text.size();
    };
    size_t begin = place(span.begin);
    std::string text = new_text(after, span);
    if (span.end >= cell.past_line() && !ends_line(cell.text)) {  // the last line of a cell ends without a newline
      if (begin == cell.text.size() && !cell.text.empty())
        text.insert(0, "\n");
      else if (text.empty() && begin > 0)
        begin -= cell.text.compare(begin - 2 + (begin < 2), 2, "\r\n") == 0 ? 2 : 1;
      if (text.size() > 1 && ends_line(text)) text.resize(text.size() - (text.ends_with("\r\n") ? 2 : 1));
    }
    put_back(cell, begin, place(span.end), text, out);
  }
  out.settle();
  return out;
}

std::string Notebook::quoted(std::string_view text) const { return '"' + json_escaped(text, ascii_) + '"'; }

/// What stands between two strings of the list.
std::string Notebook::separator(const Cell& cell) const {
  const std::string& bytes = source_.bytes();
  const size_t first = cell.pieces[0].json.begin;
  if (cell.pieces.size() == 1) return "," + bytes.substr(cell.source.begin + 1, first - cell.source.begin - 1);
  return bytes.substr(cell.pieces[0].json.end, cell.pieces[1].json.begin - cell.pieces[0].json.end);
}

std::string Notebook::joined(const Cell& cell, std::string_view text) const {
  std::string out;
  for (const std::string_view line : split_lines(text)) out += (out.empty() ? "" : separator(cell)) + quoted(line);
  return out;
}

void Notebook::put_back(const Cell& cell, size_t begin, size_t end, const std::string& text, Edits& out) const {
  if (cell.pieces.empty()) return out.replace(cell.source.begin, cell.source.end, "[" + quoted(text) + "]", 0);
  if (cell.source.kind == Json::Kind::kList) return put_pieces(cell, begin, end, text, out);
  const std::vector<size_t>& places = cell.pieces[0].said.places;
  out.replace(places[begin], places[end], json_escaped(text, ascii_), 0);
}

/// Into a list of strings, which is usually one of lines, so that it stays one where it was.
void Notebook::put_pieces(const Cell& cell, size_t begin, size_t end, const std::string& text, Edits& out) const {
  const std::vector<Piece>& pieces = cell.pieces;
  const auto past = [](const Piece& piece) { return piece.begin + piece.said.text.size(); };
  const auto first = std::ranges::find_if(pieces, [&](const Piece& piece) { return past(piece) > begin; });
  if (first == pieces.end()) {  // behind all: `text` begins with the newline that the last line had not
    const Json& last = pieces.back().json;
    const size_t newline = cell.text.empty() || ends_line(cell.text) ? 0 : 1;
    out.insert(last.end - 1, json_escaped(text.substr(0, newline), ascii_), 0);
    return out.insert(last.end, separator(cell) + joined(cell, text.substr(newline)), 0);
  }
  if (begin == end && first->begin == begin)
    return out.insert(first->json.begin, joined(cell, text) + separator(cell), 0);
  const auto next = std::ranges::find_if(first, pieces.end(), [&](const Piece& piece) { return past(piece) >= end; });
  const bool whole = first->begin == begin && past(*next) == end;
  if (whole && !text.empty()) return out.replace(first->json.begin, next->json.end, joined(cell, text), 0);
  if (whole && next + 1 != pieces.end()) return out.replace(first->json.begin, (next + 1)->json.begin, "", 0);
  if (whole && first != pieces.begin()) return out.replace((first - 1)->json.end, next->json.end, "", 0);
  out.replace(first->said.places[begin - first->begin], next->said.places[end - next->begin],
              json_escaped(text, ascii_), 0);
}

}  // namespace npu::migrate
