// SPDX-License-Identifier: Apache-2.0
// What a node of a syntax tree is.
#pragma once

#include <cstdint>

namespace npu::migrate {

// Names of the grammar; only what rules and names ask for. Everything else is kOther; a token without a name kToken.
// clang-format off: it never comes to rest on these.
#define NPU_SYNTAX_KINDS(V) \
  V(module) V(block) V(comment) V(identifier) V(dotted_name) V(aliased_import) V(wildcard_import) \
  V(relative_import) V(import_prefix) V(import_statement) V(import_from_statement) V(future_import_statement) \
  V(expression_statement) V(assignment) V(augmented_assignment) V(named_expression) V(return_statement) \
  V(delete_statement) V(global_statement) V(nonlocal_statement) V(if_statement) V(elif_clause) V(else_clause) \
  V(for_statement) V(while_statement) V(try_statement) V(except_clause) V(except_group_clause) V(finally_clause) \
  V(with_statement) V(with_clause) V(with_item) V(match_statement) V(case_clause) V(function_definition) \
  V(class_definition) V(decorated_definition) V(decorator) V(lambda) V(parameters) V(lambda_parameters) \
  V(default_parameter) V(typed_parameter) V(typed_default_parameter) V(list_splat_pattern) \
  V(dictionary_splat_pattern) V(list_splat) V(dictionary_splat) V(parenthesized_list_splat) V(argument_list) \
  V(keyword_argument) V(call) V(attribute) V(subscript) V(slice) V(string) V(concatenated_string) V(string_start) \
  V(string_content) V(string_end) V(interpolation) V(escape_sequence) V(integer) V(float) V(none) V(true) V(false) \
  V(list) V(tuple) V(set) V(dictionary) V(pair) V(expression_list) V(pattern_list) V(tuple_pattern) \
  V(list_pattern) V(as_pattern) V(as_pattern_target) V(case_pattern) V(splat_pattern) V(keyword_pattern) \
  V(parenthesized_expression) V(conditional_expression) V(boolean_operator) V(not_operator) V(binary_operator) \
  V(unary_operator) V(comparison_operator) V(await) V(yield) V(list_comprehension) V(set_comprehension) \
  V(dictionary_comprehension) V(generator_expression) V(for_in_clause) V(if_clause) V(type) V(generic_type) \
  V(print_statement) V(exec_statement) V(pass_statement) V(raise_statement) V(assert_statement) V(ERROR)

#define NPU_SYNTAX_FIELDS(V) \
  V(alias) V(alternative) V(argument) V(arguments) V(attribute) V(body) V(condition) V(consequence) V(definition) \
  V(function) V(key) V(left) V(module_name) V(name) V(object) V(operators) V(parameters) V(return_type) V(right) \
  V(subject) V(subscript) V(superclasses) V(type) V(value)

// clang-format on

enum class Kind : uint8_t {
  kToken,
  kOther,
#define NPU_ONE(name) k_##name,
  NPU_SYNTAX_KINDS(NPU_ONE)
#undef NPU_ONE
};

enum class Field : uint8_t {
  kNone,
#define NPU_ONE(name) k_##name,
  NPU_SYNTAX_FIELDS(NPU_ONE)
#undef NPU_ONE
};

/// A node as trees keep it. Children follow it, its parent stands before it; of the text it has [begin, end), of the
/// nodes all up to `past`.
struct FlatNode {
  uint32_t begin, end, parent, past;
  Kind kind;
  Field field;
};

}  // namespace npu::migrate
