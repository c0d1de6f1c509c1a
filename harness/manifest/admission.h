// Admission: is a manifest complete and consistent enough to be rerun and judged one day?
#ifndef RHARNESS_HARNESS_MANIFEST_ADMISSION_H_
#define RHARNESS_HARNESS_MANIFEST_ADMISSION_H_

#include <string>
#include <vector>

#include "harness/manifest/manifest.h"

namespace rharness {

struct AdmissionFinding {
  std::string code;     // "unpinned_image", "missing_seed", ...
  std::string path;     // JSON path: "$.image.digest"
  std::string message;  // what is wrong and what was expected
};

// Empty: admitted. Pure; looks at no file. In the order of the manifest's fields.
std::vector<AdmissionFinding> Admit(const Manifest& manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_MANIFEST_ADMISSION_H_
