// The dynamic loader, and its reasons.
#include "harness/base/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

namespace rharness {

Result<SharedLibrary> SharedLibrary::Load(std::string_view what, std::string_view package,
                                          std::initializer_list<std::string> names) {
  std::string why;
  for (const std::string& name : names) {
    if (void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      return SharedLibrary(name, handle);
    }
    const char* const said = ::dlerror();
    if (why.empty() && said != nullptr) why = said;
  }
  return Unsupported(fmt::format("{} needs {} (of Debian's package {}): {}", what, *names.begin(),
                                 package, why.empty() ? "it cannot be loaded" : why));
}

void* SharedLibrary::Symbol(const char* symbol) {
  void* const found = ::dlsym(handle_, symbol);
  if (found == nullptr && missing_.empty()) missing_ = symbol;
  return found;
}

Status SharedLibrary::status() const {
  if (missing_.empty()) return {};
  return Unsupported(
      fmt::format("{} has no function {}; expected that of Debian 12 or later", name_, missing_));
}

}  // namespace rharness
