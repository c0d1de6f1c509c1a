// Binds functions of an open library by name, and reports all missing ones at once.
//
// Role: the basis of every wrapper of this folder. A wrapper lists the functions it needs in a
// macro of its own, LIST(X); RHARNESS_DECLARE and RHARNESS_BIND turn the list into typed pointers.
// The vendor's header renames some functions (cuMemAlloc is cuMemAlloc_v2): the list has the plain
// name, and the renamed one is looked up.
#ifndef RHARNESS_PROBES_LIBRARY_SYMBOLS_H_
#define RHARNESS_PROBES_LIBRARY_SYMBOLS_H_

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "probes/library/loader.h"

namespace rharness {

class Symbols {
 public:
  explicit Symbols(const Library& library) : library_(library) {}

  template <class Function>
  void Bind(std::string_view name, Function** function) {
    *function = library_.Get<Function>(name);
    if (*function != nullptr) return;
    if (!missing_.empty()) missing_ += ", ";
    missing_ += name;
  }

  // unsupported, naming the library and every missing function.
  Status Check() const {
    if (missing_.empty()) return {};
    return Unsupported("the library lacks " + missing_, library_.path().filename().string());
  }

 private:
  const Library& library_;
  std::string missing_;
};

}  // namespace rharness

#define RHARNESS_SYMBOL_TEXT(name) #name
// A member of the table of functions, of the type that the vendor's header declares.
#define RHARNESS_DECLARE(name) decltype(::name)* name = nullptr;
// Expects `symbols` and a table `f`.
#define RHARNESS_BIND(name) symbols.Bind(RHARNESS_SYMBOL_TEXT(name), &f.name);

#endif  // RHARNESS_PROBES_LIBRARY_SYMBOLS_H_
