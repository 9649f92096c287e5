// SPDX-License-Identifier: Apache-2.0
// The names of one file by Python's rules: scopes, and every place that binds a name in them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/migrate/names/access_path.h"
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
  int place = -1;     ///< of an unpacked element: which of them, where that is sure
  /// Nodes of this scope in [sure, past) stand where it has surely been passed; none where sure == past.
  uint32_t sure = 0, past = 0;
};

class SymbolTable {
 public:
  using Bindings = std::unordered_map<std::string_view, std::vector<Binding>>;

  explicit SymbolTable(const Tree& tree);

  /// The scope where Python looks for `name` at `use`; the module for what nobody binds.
  Node holder(std::string_view name, Node use) const;
  /// Bindings that may reach the use of `name` at `use`: in the scope that Python would look in. Where the use stands
  /// in that very scope, bindings that a later one surely hides are left out. Of very many, some and one of anything.
  std::vector<const Binding*> reaching(std::string_view name, Node use) const;
  /// Everything a name of this scope (a module, class or function node) may be bound to.
  std::vector<const Binding*> all(std::string_view name, Node scope) const;
  /// Everything a name is bound to anywhere in the file.
  std::vector<const Binding*> everywhere(std::string_view name) const;
  /// The names bound in a scope.
  std::vector<std::string> names(Node scope) const;
  /// `self.x = value` in the methods of a class: by attribute.
  const Bindings& attributes(Node type) const;
  /// Modules of `from m import *`, as bindings whose `dotted` is the module.
  const std::vector<Binding>& stars() const { return stars_; }

  /// The module, class, function, lambda or comprehension a node stands in. Defaults, annotations and base classes
  /// belong to the scope around.
  Node scope_of(Node node) const;
  /// The class whose method's first parameter is `name` at this place, or none.
  Node class_of_self(std::string_view name, Node use) const;
  /// The function a node stands in, or none.
  static Node function_around(Node node);
  /// C.method: the definition's name behind those of the classes around it. What stands in a function begins there.
  static AccessPath qualified(Node definition);
  /// Whether a definition has this decorator, by its last name.
  static bool decorated(Node definition, std::string_view by);
  static bool is_property(Node function) { return decorated(function, "property") || decorated(function, "getter"); }

 private:
  struct Scope {
    Bindings bindings;
    std::unordered_map<std::string_view, bool> elsewhere;  // global: true, nonlocal: false
  };
  void find_scopes();
  void bind(Node scope, std::string_view name, Binding binding);
  void bind_target(Node target, Node value, Binding::How how);
  void bind_parameters(Node function);
  void bind_import(Node statement);
  void bind_capture(Node pattern);
  void declare(Node statement);
  void read(Node node);
  Node home(Node scope, std::string_view name) const;
  const std::vector<Binding>* found(Node scope, std::string_view name) const;

  const Tree& tree_;
  std::vector<uint32_t> scope_, loop_;  // of every node: its scope, the nearest loop around it
  std::unordered_map<uint32_t, Scope> scopes_;
  std::unordered_map<uint32_t, Bindings> attributes_;
  std::vector<std::pair<Node, Binding>> nonlocal_;  // bound last: whose they are shows when all else is bound
  std::vector<Binding> stars_;
};

}  // namespace npu::migrate
