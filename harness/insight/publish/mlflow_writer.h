// Verdicts written to the MLflow server that the runs came from: tags, a metric, an alias.
//
// Role: the effects. What is written is decided in mlflow_verdicts.h and, for aliases, in
// mlflow_aliases.h. The drill's folder is not touched.
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
  int attempts = 3;                             // of a run, where the server is not there or fails
  std::chrono::milliseconds first_wait{1'000};  // twice as long the next time
  std::function<bool()> should_cancel;
  Clock* clock = &SystemClock();
};

enum class PublishState { kUnchanged, kWritten, kWouldWrite, kFailed, kNotTried };
std::string_view PublishStateName(PublishState state);  // "unchanged", "would_write", ...

// What became of one run's verdict, or of one model's alias.
struct Published {
  std::string subject;  // the run's id here, or "model NAME"
  std::string mlflow_id;
  PublishState state = PublishState::kNotTried;
  std::vector<std::string> changes;  // "rharness.verdict: drifted (was identical)"
  std::string message;               // of a failure; of what was left as it is, why
};

// Of requests that write, one attempt each: each run is read again before it is written again, so
// that no request that was answered unseen is made twice.
HttpLimits PublishLimits();

// One a verdict, in their order, then one for each model whose alias is looked at. What is there
// already is not written again: a drill that is written twice changes nothing. A run of which a
// later drill has said something keeps its tags, and gets the metric's point alone. After three
// runs in a row at which the server failed, was too slow or refused, the rest is not tried.
std::vector<Published> PublishToMlflow(HttpClient* client,
                                       const std::vector<MlflowVerdict>& verdicts,
                                       const PublishOptions& options);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_WRITER_H_
