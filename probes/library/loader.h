// Shared libraries of the stack under test: the file found, its identity, and its symbols.
//
// Role: the only code that calls dlopen. Loads only named sonames, from the given library paths or
// the loader's own search; never a path from an input.
#ifndef RHARNESS_PROBES_LIBRARY_LOADER_H_
#define RHARNESS_PROBES_LIBRARY_LOADER_H_

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// An open library; never closed, since GPU libraries do not survive it.
class Library {
 public:
  // Tries each soname ("libcublas.so.13", "libcublas.so.12") in each of `paths`, then by the
  // loader's search. A name with * in it ("libscipy_openblas64_-*.so": what packs libraries into a
  // Python wheel puts a digest there) is searched in `paths` alone, and soname() is that pattern:
  // the first file by name. Dependencies of a library of `paths` that the loader does not find are
  // also taken from `paths`. Errors: not_found (none exists; lists the names tried), io (it exists
  // and cannot be loaded; with the loader's error text), unsupported (one of `paths` has it in a
  // different version only: it does not fall back to the system's library).
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

 private:
  Library(void* handle, std::filesystem::path path, std::string soname)
      : handle_(handle), path_(std::move(path)), soname_(std::move(soname)) {}

  void* handle_;
  std::filesystem::path path_;
  std::string soname_;
};

// {"soname", "path" (file name alone), "build_id", "file" (its whole path), "version"}.
Json DescribeLibrary(const Library& library, const std::string& version);
// The same for a fingerprint's stack: "sha256", of the file, in place of "file"; empty if it cannot
// be read. A process reads each file once.
Json WithDigest(const Json& described);

// The library paths given to this process that were used.
const std::set<std::string>& FoldersUsed();

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_LOADER_H_
