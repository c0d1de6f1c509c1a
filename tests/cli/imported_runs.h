// Recorded runs that say, in tests, that they were imported from MLflow.
#ifndef RHARNESS_TESTS_CLI_IMPORTED_RUNS_H_
#define RHARNESS_TESTS_CLI_IMPORTED_RUNS_H_

#include <string>

#include "harness/records/manifest/manifest.h"
#include "tests/cli/drill_program.h"

namespace rharness {

class ImportedRuns : public DrillProgram {
 protected:
  void RecordImported(const std::string& name, const std::string& id,
                      const std::vector<std::string>& options = {}) {
    Record(name, options);
    auto manifest = LoadManifest(At("runs/" + name + ".json"));
    ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
    manifest->origin = Origin{.kind = "mlflow", .source = "https://mlflow.example", .id = id};
    ASSERT_TRUE(WriteJsonFile(At("runs/" + name + ".json"), ToJson(*manifest)).ok());
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_IMPORTED_RUNS_H_
