// .dvcignore: files below a tracked directory that do not belong to it.
//
// Role: private to the files of DVC's importer. Pure. Sources: git-scm.com/docs/gitignore, "Pattern
// format"; dvc/ignore.py of DVC 3: DVC's built-in patterns, and files that are read from the root
// down to the folder around a tracked path.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_IGNORE_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_IGNORE_H_

#include <string>
#include <string_view>
#include <vector>

namespace rharness {

class DvcIgnore {
 public:
  static constexpr std::size_t kMostPatterns = 10'000;  // further ones are ignored

  DvcIgnore();  // with .git, .hg/ and .dvc/
  // The lines of folder/.dvcignore; `folder` is relative to the root, "" for the root. Add outer
  // folders before inner ones.
  void Add(std::string_view folder, std::string_view text);
  // Of a path relative to the root. The caller checks the folders around it.
  bool Ignores(std::string_view path, bool directory) const;

 private:
  struct Pattern {
    std::string base;                // "a/b/": the folder that it is relative to
    std::vector<std::string> parts;  // globs of names, and "**"
    bool negated = false;
    bool directories_only = false;
  };
  std::vector<Pattern> patterns_;
};

// Of one name: '*' and '?' as in globs, [a-z], [!a-z], '\' escapes.
bool IgnoreGlobMatches(std::string_view glob, std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_IGNORE_H_
