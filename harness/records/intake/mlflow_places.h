// Finds artifacts that a database of MLflow refers to.
//
// Role: private to MLflow's importer.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_PLACES_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_PLACES_H_

#include <filesystem>
#include <optional>
#include <string>

namespace rharness {

// A folder below the database's own: at `uri`, or at `usual`, relative to it, where MLflow stores
// such files, if all of it was moved. Empty: there is none.
std::optional<std::filesystem::path> FindMlflowFolder(const std::filesystem::path& database,
                                                      const std::string& uri,
                                                      const std::string& usual);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_PLACES_H_
