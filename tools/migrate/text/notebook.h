// SPDX-License-Identifier: Apache-2.0
// A Jupyter notebook as its bytes are, and its cells of code as one text of Python. What changes there is put back into
// the cells; no other byte of the notebook moves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/migrate/text/edit.h"
#include "tools/migrate/text/json.h"

namespace npu::migrate {

class Notebook {
 public:
  /// A line that is IPython's (%magic, !command, name?), and stands as a comment in the Python.
  struct Magic {
    size_t line = 0;  ///< in python()
    std::string text;
  };
  /// Where a line of python() stands in the notebook; all from 1.
  struct Where {
    size_t line = 0;  ///< of the file
    size_t cell = 0, line_in_cell = 0;
  };

  /// Refuses what is no JSON. Without cells, there is no Python in it.
  explicit Notebook(Source source);
  static bool is_path(std::string_view path) { return path.ends_with(".ipynb"); }
  /// Whether a text that nobody names is a notebook.
  static bool looks_like(std::string_view text);

  const Source& source() const { return source_; }
  /// The language of its cells, "python" where it says none; others have no Python in them.
  const std::string& language() const { return language_; }
  /// Between cells stands a line of its own, a comment.
  const std::string& python() const { return python_; }
  const std::vector<Magic>& magics() const { return magics_; }
  /// Cells that are no Python by themselves (a bracket or a text stays open), by their first line in python(), where
  /// they are left out.
  const std::vector<size_t>& broken() const { return broken_; }
  Where where(size_t line) const;
  /// The edits that put `lines` of `after`, which python() became, into the cells.
  Edits edits(const Source& after, const std::vector<LineSpan>& lines) const;

 private:
  struct Piece {  ///< one string of a cell's source
    Json json;
    JsonText said;
    size_t begin = 0;  ///< in the cell's text
  };
  struct Cell {
    Json source;  ///< the list of strings, or the one string
    std::vector<Piece> pieces;
    std::string text;
    std::vector<size_t> lines;          ///< where they begin in `text`
    size_t number = 0, first_line = 0;  ///< among all cells; in python()
    size_t past_line() const { return first_line + lines.size(); }
  };

  void take_cells(const Json& list, const char* key);
  void take_cell(const Json& source, size_t number);
  void put_python(Cell& cell);
  const Cell& cell_at(size_t line) const;
  std::string restored(std::string_view line) const;
  std::string new_text(const Source& after, const LineSpan& span) const;
  void put_back(const Cell& cell, size_t begin, size_t end, const std::string& text, Edits& out) const;
  void put_pieces(const Cell& cell, size_t begin, size_t end, const std::string& text, Edits& out) const;
  std::string quoted(std::string_view text) const;
  std::string joined(const Cell& cell, std::string_view text) const;
  std::string separator(const Cell& cell) const;

  Source source_;
  bool ascii_;
  std::string language_ = "python", python_;
  std::vector<Cell> cells_;
  std::vector<Magic> magics_;
  std::vector<size_t> broken_;
};

}  // namespace npu::migrate
