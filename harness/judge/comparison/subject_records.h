// One loader per kind of subject, private to LoadSubject.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_SUBJECT_RECORDS_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_SUBJECT_RECORDS_H_

#include <cstddef>
#include <filesystem>
#include <string>

#include "harness/base/result.h"
#include "harness/judge/comparison/subject.h"

namespace rharness {

// The first bytes of a regular file, at most `limit`. Errors: not_found, io, invalid_input for
// anything but a regular file.
Result<std::string> ReadHead(const std::filesystem::path& path, std::size_t limit);

Result<Subject> LoadManifestSubject(const std::filesystem::path& path,
                                    const SubjectOptions& options);
// Looks for artifacts in the folder of the evidence.
Result<Subject> LoadEvidenceSubject(const std::filesystem::path& path,
                                    const SubjectOptions& options);
Result<Subject> LoadCheckpointSubject(const std::filesystem::path& path,
                                      const SubjectOptions& options);
Result<Subject> LoadEnvironmentSubject(const std::filesystem::path& path);
Result<Subject> LoadFingerprintSubject(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_SUBJECT_RECORDS_H_
