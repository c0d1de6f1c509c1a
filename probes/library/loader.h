// Shared libraries of the stack under test: which file was found, what it is, and its symbols.
//
// Role: the only place that calls dlopen. Only named sonames are loaded, from the library paths
// given or the loader's own search; never a path out of an input.
#ifndef RHARNESS_PROBES_LIBRARY_LOADER_H_
#define RHARNESS_PROBES_LIBRARY_LOADER_H_

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// An open library; closed never, since GPU libraries do not survive it.
class Library {
 public:
  // Tries each soname ("libcublas.so.13", "libcublas.so.12") in each of `paths`, then by the
  // loader's search. A name with * in it ("libscipy_openblas64_-*.so": what packs libraries into a
  // Python wheel puts a digest there) is looked for in `paths` alone, and soname() is that pattern:
  // the first file by name. What a library of `paths` needs and the loader does not find is taken
  // from `paths`, too. Errors: not_found (none is there; names what was tried), io (it is there and
  // cannot be loaded; with the loader's error text).
  static Result<std::shared_ptr<Library>> Open(const std::vector<std::string>& sonames,
                                               const std::vector<std::filesystem::path>& paths);

  // The address of a symbol; nullptr when it has none of this name.
  void* Find(std::string_view symbol) const;
  template <class Function>
  Function* Get(std::string_view symbol) const {
    return reinterpret_cast<Function*>(Find(symbol));
  }

  const std::filesystem::path& path() const { return path_; }  // resolved, as mapped
  const std::string& soname() const { return soname_; }
  std::string BuildId() const;  // of the ELF note, hex; empty if it has none
  std::string Sha256() const;   // of the file; empty if it cannot be read

 private:
  Library(void* handle, std::filesystem::path path, std::string soname)
      : handle_(handle), path_(std::move(path)), soname_(std::move(soname)) {}

  void* handle_;
  std::filesystem::path path_;
  std::string soname_;
};

// {"soname", "path" (file name alone), "build_id", "sha256", "version"} for a fingerprint's stack.
Json DescribeLibrary(const Library& library, const std::string& version);

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_LOADER_H_
