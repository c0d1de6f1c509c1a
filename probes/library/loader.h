// Shared libraries of the stack under test: which file was found, what it is, and its symbols.
//
// Role: the only place that calls dlopen. Only named sonames are loaded, from the library paths
// given or the loader's own search; never a path out of an input.
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

// An open library; closed never, since GPU libraries do not survive it.
class Library {
 public:
  // Tries each soname ("libcublas.so.13", "libcublas.so.12") in each of `paths`, then by the
  // loader's search. A name with * in it ("libscipy_openblas64_-*.so": what packs libraries into a
  // Python wheel puts a digest there) is looked for in `paths` alone, and soname() is that pattern:
  // the first file by name. What a library of `paths` needs and the loader does not find is taken
  // from `paths`, too. Errors: not_found (none is there; names what was tried), io (it is there and
  // cannot be loaded; with the loader's error text), unsupported (one of `paths` has it in another
  // version alone: the system's own is no answer to that).
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

// Of the library paths that this process was given, those that something was taken from.
const std::set<std::string>& FoldersUsed();

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_LOADER_H_
