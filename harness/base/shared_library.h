// A library of the system that is loaded when it is first needed, by its name alone, so that a
// program starts where it is not installed.
//
// Role: dlopen and dlsym, with the words for what is missing. It is never closed: what was found in
// it lives as long as the process.
#ifndef RHARNESS_HARNESS_BASE_SHARED_LIBRARY_H_
#define RHARNESS_HARNESS_BASE_SHARED_LIBRARY_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

class SharedLibrary {
 public:
  // The first of these names that can be loaded; they have no folder. Errors: unsupported, as "WHAT
  // needs NAME (of Debian's package PACKAGE): why not".
  static Result<SharedLibrary> Load(std::string_view what, std::string_view package,
                                    std::initializer_list<std::string> names);

  // The function of this name; null where it has none, which status() says.
  template <class Function>
  void Find(const char* symbol, Function** function) {
    *function = reinterpret_cast<Function*>(Symbol(symbol));
  }
  // Errors: unsupported where something was not found, with the first such name.
  Status status() const;

 private:
  explicit SharedLibrary(std::string name, void* handle)
      : name_(std::move(name)), handle_(handle) {}
  void* Symbol(const char* symbol);

  std::string name_;
  void* handle_;
  std::string missing_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SHARED_LIBRARY_H_
