// SPDX-License-Identifier: Apache-2.0
// The names of one file by Python's rules: scopes, and every place that binds a name in them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/migrate/text/tree.h"

namespace npu::migrate {

/// A place that binds a name.
struct Binding {
  enum class How : uint8_t {
    kImport,     ///< `dotted`: what is imported, relative ones resolved by the caller
    kAssign,     ///< = `value`
    kElement,    ///< an element of `value`: for loops, unpacked targets
    kParameter,  ///< `value` its default, `type` its annotation; both may be missing
    kFunction,   ///< `node` is the definition
    kClass,
    kOther  ///< except … as, match, del: nothing is known
  };
  How how = How::kOther;
  Node node;   ///< the target, or the definition
  Node value;  ///< of an assignment …
  Node type;
  std::string dotted;
  int level = 0;      ///< of a relative import: its dots
  bool from = false;  ///< `dotted` is a name in a module: all but its last component is the module
};

class SymbolTable {
 public:
  explicit SymbolTable(const Tree& tree);

  /// Bindings that may reach the use of `name` at `use`: in the scope that Python would look in. Where the use stands
  /// in that very scope, bindings that a later one surely hides are left out.
  std::vector<const Binding*> reaching(std::string_view name, Node use) const;
  /// Everything a name of this scope (a module, class or function node) may be bound to.
  std::vector<const Binding*> all(std::string_view name, Node scope) const;
  /// Everything a name is bound to anywhere in the file.
  std::vector<const Binding*> everywhere(std::string_view name) const;
  /// The names bound in a scope.
  std::vector<std::string> names(Node scope) const;
  /// `self.x = value` in the methods of a class: by attribute.
  const std::unordered_map<std::string, std::vector<Binding>>& attributes(Node type) const;
  /// Modules of `from m import *`, as bindings whose `dotted` is the module.
  const std::vector<Binding>& stars() const { return stars_; }

  /// The module, class, function, lambda or comprehension a node stands in. Defaults, annotations and base classes
  /// belong to the scope around.
  Node scope_of(Node node) const;
  /// The class whose method's first parameter is `name` at this place, or none.
  Node class_of_self(std::string_view name, Node use) const;
  /// The function a node stands in, or none.
  static Node function_around(Node node);
  /// "C.method": the definition's name with those of the classes around it; "" inside functions.
  static std::string qualified(Node definition);

 private:
  struct Scope {
    std::unordered_map<std::string, std::vector<Binding>> bindings;
    std::unordered_map<std::string, bool> elsewhere;  // global: true, nonlocal: false
  };
  void bind(Node scope, std::string_view name, Binding binding);
  void bind_target(Node target, Node value, Binding::How how);
  void bind_parameters(Node function);
  void bind_import(Node statement);
  void read(Node node);
  Node home(Node scope, std::string_view name) const;

  const Tree& tree_;
  std::unordered_map<uint32_t, Scope> scopes_;
  std::unordered_map<uint32_t, std::unordered_map<std::string, std::vector<Binding>>> attributes_;
  std::vector<Binding> stars_;
};

}  // namespace npu::migrate
