// .dvcignore: which files below a tracked directory are none of its own.
//
// Role: private to the files of DVC's importer. Pure. Sources: git-scm.com/docs/gitignore, "Pattern
// format"; dvc/ignore.py of DVC 3: the patterns that DVC has of its own, and files that are read
// from the root down to the folder around a tracked one.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_IGNORE_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_IGNORE_H_

#include <string>
#include <string_view>
#include <vector>

namespace rharness {

class DvcIgnore {
 public:
  static constexpr std::size_t kMostPatterns = 10'000;  // what comes later is left out

  DvcIgnore();  // with .git, .hg/ and .dvc/
  // The lines of folder/.dvcignore; `folder` is relative to the root, "" for the root. A folder's
  // comes after those of the folders around it.
  void Add(std::string_view folder, std::string_view text);
  // Of a path relative to the root. Whether folders around it are ignored is for the caller to ask.
  bool Ignores(std::string_view path, bool directory) const;

 private:
  struct Pattern {
    std::string base;                // "a/b/": what it counts from
    std::vector<std::string> parts;  // globs of names, and "**"
    bool negated = false;
    bool directories_only = false;
  };
  std::vector<Pattern> patterns_;
};

// Of one name: '*' and '?' as in globs, [a-z], [!a-z], '\' before what stands for itself.
bool IgnoreGlobMatches(std::string_view glob, std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_IGNORE_H_
