// Folders of sources in tests: files, links and pipes put where an importer looks.
#ifndef RHARNESS_TESTS_RECORDS_INTAKE_SOURCE_TREE_H_
#define RHARNESS_TESTS_RECORDS_INTAKE_SOURCE_TREE_H_

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/files.h"
#include "tests/records/intake/intake_world.h"

namespace rharness {

class SourceTree : public testing::Test {
 protected:
  void Put(const std::string& name, std::string_view content) {
    ASSERT_TRUE(WriteFileAtomic(root() / name, content).ok());
  }
  void PutLink(const std::string& name, const std::string& target) {
    std::filesystem::create_symlink(target, root() / name);
  }
  void PutPipe(const std::string& name) { ASSERT_EQ(::mkfifo((root() / name).c_str(), 0600), 0); }
  std::filesystem::path root() const { return folder_.path() / "source"; }

  ImportOutcome Import(std::string_view kind = "", const std::string& name = "",
                       bool artifacts = true) {
    ImportRequest request;
    request.source = name.empty() ? root().string() : (root() / name).string();
    request.artifacts = artifacts;
    return ImportAll(request, kind);
  }

 private:
  ScopedTempDir folder_ = *ScopedTempDir::Make();
};

inline double MetricOf(const Manifest& manifest, std::string_view name) {
  for (const Metric& metric : manifest.metrics) {
    if (metric.name == name) return metric.value;
  }
  ADD_FAILURE() << "no metric " << name;
  return -1.0;
}

inline const Curve* CurveOf(const Manifest& manifest, std::string_view name) {
  for (const Curve& curve : manifest.curves) {
    if (curve.name == name) return &curve;
  }
  return nullptr;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_INTAKE_SOURCE_TREE_H_
