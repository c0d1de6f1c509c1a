// Maps a task of ClearML to a manifest, with the grade of each field.
//
// Role: private to the files of ClearML's importer. Pure. Source: task.json, metrics.jsonl and
// log.jsonl as clearml 2.1 writes them offline; backend_api/services, tasks, of the same.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_CLEARML_TASK_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_CLEARML_TASK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/intake/imported_run.h"

namespace rharness {

inline constexpr std::size_t kMostClearmlPoints = 1'000'000;  // of one task; more are a remark

// What a session logged while it ran, line by line.
class ClearmlEvents {
 public:
  // metrics.jsonl and log.jsonl: an array of events per line. Reports an invalid line.
  void Add(std::string_view text, const std::string& file);
  // Curves "loss/train" and the last value of each as a metric; single values as metrics; first
  // and last times; a remark for everything left out.
  void AddTo(ImportedRun* run) const;

 private:
  struct Series {
    std::vector<std::int64_t> steps;
    std::vector<double> values;
  };
  void AddEvent(const Json& event, const std::string& where);
  void Tell(std::string sentence);

  std::map<std::string, Series> series_;
  std::map<std::string, double> singles_;
  std::vector<std::string> remarks_;
  std::size_t further_ = 0, points_ = 0, beyond_ = 0, of_the_machine_ = 0, others_ = 0;
  std::int64_t first_ms_ = 0, last_ms_ = 0;
  bool replaced_ = false;  // NaN or infinity by another value
};

// Code, container, parameters, configurations and packages.
void AddClearmlTask(const Json& task, ImportedRun* run);

struct ClearmlArtifact {
  std::string key;
  std::string uri;     // where it was stored; without credentials
  std::string file;    // below the session; empty: missing
  std::string sha256;  // ClearML's hash; often of the whole file
  std::uint64_t size_bytes = 0;
};

// Those of task.json, outputs alone.
std::vector<ClearmlArtifact> ClearmlArtifactsOf(const Json& task);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_CLEARML_TASK_H_
