// The origin of an imported manifest: another tool's record of a run, with a grade for each field.
//
// Role: a member of manifests from harness/records/intake; `rharness record` writes none.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_ORIGIN_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_ORIGIN_H_

#include <string>
#include <vector>

namespace rharness {

// The grade of a field from another tool.
//   exact:   the source holds it to be an identity or the value itself (a full commit, a SHA-256, a
//            metric as it was logged)
//   hint:    it may be so: a short or truncated digest, a tag, a heuristic, a file as it is today
//   missing: the source does not say; nothing was put in its place
enum class Grade { kExact, kHint, kMissing };
std::string_view GradeName(Grade grade);  // "exact", "hint", "missing"

struct FieldOrigin {
  std::string path;  // JSON path in the manifest without "$.": "code.commit", "seeds.init"
  Grade grade = Grade::kMissing;
  std::string from;  // where it stood: "tag mlflow.source.git.commit"; of a hint, and why it is one
};

struct Origin {
  std::string kind;                  // "mlflow", "dvc", ...
  std::string source;                // folder, file or URL, without credentials
  std::string id;                    // the run's name there
  std::vector<FieldOrigin> fields;   // by path
  std::vector<std::string> remarks;  // unreadable parts, one sentence each
  std::vector<std::string> unread;   // of these, where the machine failed: to be imported again
  std::string imported_sha256;       // with `unread`: of the manifest's JSON without this member
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_ORIGIN_H_
