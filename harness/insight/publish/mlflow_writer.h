// Verdicts written to the MLflow server that the runs came from: tags, a metric, an alias.
//
// Role: the effects. mlflow_verdicts.h and, for aliases, mlflow_aliases.h decide what is written.
// Never changes the drill's folder.
#ifndef RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_WRITER_H_
#define RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_WRITER_H_

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/insight/publish/mlflow_verdicts.h"
#include "harness/net/http.h"

namespace rharness {

struct PublishOptions {
  std::string alias;  // of the model versions that the runs are; empty: none
  bool dry_run = false;
  int attempts = 3;                             // per run, if the server is unreachable or fails
  std::chrono::milliseconds first_wait{1'000};  // doubles each time
  std::function<bool()> should_cancel;
  Clock* clock = &SystemClock();
};

enum class PublishState { kUnchanged, kWritten, kWouldWrite, kFailed, kNotTried };
std::string_view PublishStateName(PublishState state);  // "unchanged", "would_write", ...

// The result for one run's verdict, or for one model's alias.
struct Published {
  std::string subject;  // the run's id here, or "model NAME"
  std::string mlflow_id;
  PublishState state = PublishState::kNotTried;
  std::vector<std::string> changes;  // "rharness.verdict: drifted (was identical)"
  std::string message;               // of a failure; or why it was left unchanged
};

// For writing requests, one attempt each: each run is read again before a second write, so that a
// request with a lost answer is not repeated.
HttpLimits PublishLimits();

// One per verdict, in their order, then one for each model with a checked alias. Existing values
// are not written again: a repeated drill changes nothing. A run with a verdict of a later drill
// keeps its tags, and gets only the metric's point. After three runs in a row at which the server
// failed, was too slow or refused, the rest is not tried.
std::vector<Published> PublishToMlflow(HttpClient* client,
                                       const std::vector<MlflowVerdict>& verdicts,
                                       const PublishOptions& options);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_WRITER_H_
