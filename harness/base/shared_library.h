// A system library, loaded by name at first use, so that a program starts without it.
//
// Role: dlopen and dlsym, with the message for missing parts. It is never closed: its symbols live
// as long as the process.
#ifndef RHARNESS_HARNESS_BASE_SHARED_LIBRARY_H_
#define RHARNESS_HARNESS_BASE_SHARED_LIBRARY_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

class SharedLibrary {
 public:
  // The first of these names, which have no folder, that loads. Errors: unsupported, as "WHAT needs
  // NAME (of Debian's package PACKAGE): why not".
  static Result<SharedLibrary> Load(std::string_view what, std::string_view package,
                                    std::initializer_list<std::string> names);

  // The function of this name; null if it is missing, which status() reports.
  template <class Function>
  void Find(const char* symbol, Function** function) {
    *function = reinterpret_cast<Function*>(Symbol(symbol));
  }
  // Errors: unsupported if something is missing, with the first such name.
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
