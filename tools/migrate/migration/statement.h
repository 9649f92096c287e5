// SPDX-License-Identifier: Apache-2.0
// Steps that put whole statements: a new body of a function, lines around what the program does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/migrate/migration/migration.h"

namespace npu::migrate {

/// The name of a function's first parameter that is not the object or class of a method; "" where there is none.
std::string_view parameter_of(Node definition);

/// `text` becomes the body of the function, behind its docstring. False where the function has no parameter, has this
/// body, or calls nothing of the framework that the rule needs.
bool put_body(Migration& migration, const Rule& rule, const std::string& text, Node definition, size_t change);

/// In the file the program begins in: `before` as the first and the lines of `after` as the last statements below its
/// main guard; without one, behind its first imports and at its end. False in other files, and where the file calls
/// the function that `before` calls.
bool put_around_program(Migration& migration, const std::string& before, const std::string& after, size_t change);

/// The statement a node stands in: what its block or the module holds.
Node statement_of(Node node);

/// Takes the statement away that this expression is the whole of, or this import, with its line; `pass` where its block
/// would be empty, or where something else stands on that line. False where the expression is a part of a statement.
bool drop_statement(Migration& migration, Node expression, size_t change);

/// Whole lines before a statement, or behind the line it ends on; each as deep as the statement. The row of the report
/// that they make comes back.
size_t put_before(Migration& migration, const Rule& rule, Node statement, const std::vector<std::string>& lines,
                  std::string message);
size_t put_behind(Migration& migration, const Rule& rule, Node statement, const std::vector<std::string>& lines,
                  std::string message);

}  // namespace npu::migrate
