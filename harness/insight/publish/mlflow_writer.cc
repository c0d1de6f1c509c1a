// Requests that write verdicts. Source: mlflow/protos/service.proto and model_registry.proto of
// MLflow 3; a missing alias is answered with 400, a run in the trash with 200 and its stage.
#include "harness/insight/publish/mlflow_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "harness/insight/publish/mlflow_aliases.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/loose_json.h"
#include "harness/records/intake/mlflow_run.h"

namespace rharness {
namespace {

constexpr std::string_view kApi = "/api/2.0/mlflow";
constexpr int kMostPages = 100;
constexpr int kMostFailuresInARow = 3;

std::string At(std::string_view call) { return fmt::format("{}/{}", kApi, call); }

// Whether the server may yet do it.
bool IsPassing(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kTimeout;
}

Json Object(std::initializer_list<std::pair<std::string_view, std::string>> members) {
  Json object = Json::MakeObject();
  for (const auto& [name, value] : members) object.Set(name, value);
  return object;
}

template <class F>
void ForObjectsOf(const Json& json, std::string_view member, F f) {
  ForEachElement(json.Find(member), [&](const Json& element) {
    if (element.IsObject()) f(element);
  });
}

class MlflowWriter {
 public:
  MlflowWriter(HttpClient* client, const PublishOptions& options)
      : client_(client), options_(options) {}

  std::vector<Published> Write(const std::vector<MlflowVerdict>& verdicts) {
    std::vector<Published> all;
    std::vector<const MlflowVerdict*> current;  // that no later drill has superseded
    for (const MlflowVerdict& verdict : verdicts) {
      all.push_back(WriteOne(verdict));
      if (all.back().state != PublishState::kFailed &&
          all.back().state != PublishState::kNotTried && !superseded_) {
        current.push_back(&verdict);
      }
    }
    if (options_.alias.empty() || current.empty()) return all;
    const auto models = FindModels(current, &all);
    for (const auto& [model, drilled] : models) all.push_back(MoveAlias(model, drilled));
    return all;
  }

 private:
  bool Cancelled() const { return options_.should_cancel && options_.should_cancel(); }

  // Repeats `once` as needed; each try begins by reading.
  Published Try(Published one, const std::function<Status(Published*)>& once) {
    if (Cancelled() || failures_ >= kMostFailuresInARow) {
      one.message = Cancelled() ? "was interrupted" : "not tried, after other failures";
      return one;
    }
    sent_ = false;
    std::chrono::milliseconds wait = options_.first_wait;
    for (int attempt = 1;; ++attempt, wait *= 2) {
      std::vector<std::string> earlier = std::move(one.changes);
      one.changes.clear();
      const Status status = once(&one);
      one.changes.insert(one.changes.begin(), earlier.begin(), earlier.end());
      if (status.ok()) return Succeeded(std::move(one));
      if (!IsPassing(status.error()) || attempt >= options_.attempts || Cancelled()) {
        return Failed(std::move(one), status.error());
      }
      options_.clock->SleepFor(wait);
    }
  }

  Published Succeeded(Published one) {
    failures_ = 0;
    const bool changed = sent_ || !one.changes.empty();
    one.state = !changed           ? PublishState::kUnchanged
                : options_.dry_run ? PublishState::kWouldWrite
                                   : PublishState::kWritten;
    return one;
  }

  // A missing run says nothing about the server.
  Published Failed(Published one, const Error& error) {
    failures_ = error.code == ErrorCode::kNotFound ? 0 : failures_ + 1;
    one.state = PublishState::kFailed;
    one.message = error.ToString();
    if (!one.changes.empty()) one.message += " (what is listed was written before that)";
    return one;
  }

  Published WriteOne(const MlflowVerdict& verdict) {
    superseded_ = false;
    return Try({verdict.run_id, verdict.mlflow_id, PublishState::kNotTried, {}, {}},
               [&](Published* one) { return WriteVerdict(verdict, one); });
  }

  Status WriteVerdict(const MlflowVerdict& verdict, Published* one) {
    ASSIGN_OR_RETURN(const Json answer,
                     client_->Get(At("runs/get"), {{"run_id", verdict.mlflow_id}}));
    const Json* run = answer.Find("run");
    const Json* info = run == nullptr ? nullptr : run->Find("info");
    if (info == nullptr || !info->IsObject()) {
      return InvalidInput("answers without 'run.info'; expected an MLflow server",
                          client_->url() + At("runs/get"));
    }
    if (LooseText(*info, "lifecycle_stage") == "deleted") {
      return NotFound("the run was deleted there; restored, it takes the verdict",
                      client_->url() + " run " + verdict.mlflow_id);
    }
    std::map<std::string, std::string> tags;
    if (const Json* data = run->Find("data")) {
      ForObjectsOf(*data, "tags",
                   [&](const Json& tag) { tags[LooseText(tag, "key")] = LooseText(tag, "value"); });
    }
    RETURN_IF_ERROR(LogMetric(verdict, one));
    if (IsSuperseded(verdict, tags)) {
      superseded_ = true;
      one->message =
          fmt::format("keeps its tags: the drill {} is later", QuotedShort(tags[kDrillTag]));
      return {};
    }
    return SetTags(verdict, tags, one);
  }

  static bool IsSuperseded(const MlflowVerdict& verdict,
                           const std::map<std::string, std::string>& tags) {
    const auto decided = tags.find(kDecidedTag);
    if (decided == tags.end()) return false;
    const auto time = ParseTime(decided->second);
    return time.ok() && *time > verdict.decided;
  }

  Status SetTags(const MlflowVerdict& verdict, const std::map<std::string, std::string>& tags,
                 Published* one) {
    for (const auto& [name, value] : verdict.tags) {
      const auto there = tags.find(name);
      if (there != tags.end() && there->second == value) continue;
      if (!options_.dry_run) {
        RETURN_IF_ERROR(
            Send("runs/set-tag",
                 Object({{"run_id", verdict.mlflow_id}, {"key", name}, {"value", value}})));
      }
      one->changes.push_back(there == tags.end()
                                 ? fmt::format("{}: {}", name, value)
                                 : fmt::format("{}: {} (was {})", name, value, there->second));
    }
    return {};
  }

  Status LogMetric(const MlflowVerdict& verdict, Published* one) {
    if (!verdict.reproduced) return {};
    ASSIGN_OR_RETURN(const bool there, HasPoint(verdict));
    if (there) return {};
    if (!options_.dry_run) {
      RETURN_IF_ERROR(Send("runs/log-metric", Json::MakeObject({{"run_id", verdict.mlflow_id},
                                                                {"key", kReproducedMetric},
                                                                {"value", *verdict.reproduced},
                                                                {"timestamp", verdict.timestamp_ms},
                                                                {"step", 0}})));
    }
    one->changes.push_back(fmt::format("{}: {} at {}", kReproducedMetric, *verdict.reproduced,
                                       FormatTime(verdict.decided)));
    return {};
  }

  Result<bool> HasPoint(const MlflowVerdict& verdict) {
    std::string token;
    for (int page = 0; page < kMostPages; ++page) {
      HttpQuery query = {{"run_id", verdict.mlflow_id}, {"metric_key", kReproducedMetric}};
      if (!token.empty()) query.emplace_back("page_token", token);
      ASSIGN_OR_RETURN(const Json answer, client_->Get(At("metrics/get-history"), query));
      bool found = false;
      ForObjectsOf(answer, "metrics", [&](const Json& point) {
        const Json* value = point.Find("value");
        found = found || (MlflowInteger(point.Find("timestamp")) == verdict.timestamp_ms &&
                          value != nullptr && MlflowNumber(*value) == verdict.reproduced);
      });
      token = LooseText(answer, "next_page_token");
      if (found || token.empty()) return found;
    }
    return InvalidInput("the server's pages do not end",
                        client_->url() + At("metrics/get-history"));
  }

  Status Send(std::string_view call, const Json& body) {
    sent_ = true;
    const auto answer = client_->Post(At(call), body);
    return answer.ok() ? Status() : Status(answer.error());
  }

  // The registered versions of the runs, by model. A run whose versions cannot be queried gets a
  // line of its own.
  std::map<std::string, DrilledVersions> FindModels(
      const std::vector<const MlflowVerdict*>& verdicts, std::vector<Published>* all) {
    std::map<std::string, DrilledVersions> models;
    for (const MlflowVerdict* verdict : verdicts) {
      if (!verdict->reproduced) continue;
      Published one = Try({verdict->run_id + ", its model versions",
                           verdict->mlflow_id,
                           PublishState::kNotTried,
                           {},
                           {}},
                          [&](Published*) { return FindVersions(*verdict, &models); });
      if (one.state != PublishState::kUnchanged) all->push_back(std::move(one));
    }
    return models;
  }

  Status FindVersions(const MlflowVerdict& verdict,
                      std::map<std::string, DrilledVersions>* models) {
    std::string token;
    for (int page = 0; page < kMostPages; ++page) {
      HttpQuery query = {{"filter", fmt::format("run_id='{}'", verdict.mlflow_id)}};
      if (!token.empty()) query.emplace_back("page_token", token);
      ASSIGN_OR_RETURN(const Json answer, client_->Get(At("model-versions/search"), query));
      ForObjectsOf(answer, "model_versions", [&](const Json& version) {
        const auto number = MlflowInteger(version.Find("version"));
        const std::string name = LooseText(version, "name");
        if (!number || name.empty() || LooseText(version, "run_id") != verdict.mlflow_id) return;
        DrilledVersions& drilled = (*models)[name];
        (*verdict.reproduced == 1.0 ? drilled.reproduced : drilled.drifted).insert(*number);
      });
      token = LooseText(answer, "next_page_token");
      if (token.empty()) return {};
    }
    return InvalidInput("the server's pages do not end",
                        client_->url() + At("model-versions/search"));
  }

  Published MoveAlias(const std::string& model, const DrilledVersions& drilled) {
    return Try({"model " + CleanText(model, 256), "", PublishState::kNotTried, {}, {}},
               [&](Published* one) { return MoveOnce(model, drilled, one); });
  }

  Status MoveOnce(const std::string& model, const DrilledVersions& drilled, Published* one) {
    ASSIGN_OR_RETURN(const Json answer,
                     client_->Get(At("registered-models/get"), {{"name", model}}));
    std::optional<std::int64_t> current;
    if (const Json* registered = answer.Find("registered_model")) {
      ForObjectsOf(*registered, "aliases", [&](const Json& alias) {
        if (LooseText(alias, "alias") == options_.alias) {
          current = MlflowInteger(alias.Find("version"));
        }
      });
    }
    const AliasDecision decision = DecideAlias(drilled, current);
    if (decision.change == AliasChange::kNone) return {};
    const bool set = decision.change == AliasChange::kSet;
    if (!options_.dry_run) RETURN_IF_ERROR(ChangeAlias(model, decision));
    one->changes.push_back(set ? fmt::format("alias {}: version {}{}", options_.alias,
                                             decision.version,
                                             current ? fmt::format(" (was {})", *current) : "")
                               : fmt::format("alias {}: taken from version {}, which drifted",
                                             options_.alias, decision.version));
    return {};
  }

  Status ChangeAlias(const std::string& model, const AliasDecision& decision) {
    Json body = Object({{"name", model}, {"alias", options_.alias}});
    const bool set = decision.change == AliasChange::kSet;
    sent_ = true;
    if (set) body.Set("version", std::to_string(decision.version));
    const auto answer = set ? client_->Post(At("registered-models/alias"), body)
                            : client_->Delete(At("registered-models/alias"), body);
    return answer.ok() ? Status() : Status(answer.error());
  }

  HttpClient* client_;
  const PublishOptions& options_;
  int failures_ = 0;         // in a row
  bool superseded_ = false;  // the run that was written last
  bool sent_ = false;        // of the same: something was, whether that was confirmed or not
};

}  // namespace

std::string_view PublishStateName(PublishState state) {
  constexpr std::string_view kNames[] = {"unchanged", "written", "would_write", "failed",
                                         "not_tried"};
  return kNames[static_cast<std::size_t>(state)];
}

HttpLimits PublishLimits() {
  HttpLimits limits;
  limits.request = std::chrono::seconds(30);
  limits.attempts = 1;
  return limits;
}

std::vector<Published> PublishToMlflow(HttpClient* client,
                                       const std::vector<MlflowVerdict>& verdicts,
                                       const PublishOptions& options) {
  return MlflowWriter(client, options).Write(verdicts);
}

}  // namespace rharness
