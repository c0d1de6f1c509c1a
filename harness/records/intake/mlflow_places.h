// Where artifacts lie that a database of MLflow's speaks of.
//
// Role: private to the files of MLflow's importer.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_PLACES_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_PLACES_H_

#include <filesystem>
#include <optional>
#include <string>

namespace rharness {

// A folder below the database's own: where `uri` says, or at `usual`, relative to it, where MLflow
// puts such files, if all of it was moved. Empty: there is none.
std::optional<std::filesystem::path> FindMlflowFolder(const std::filesystem::path& database,
                                                      const std::string& uri,
                                                      const std::string& usual);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_PLACES_H_
