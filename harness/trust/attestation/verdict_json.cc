// The predicate of a verdict: how it is written, and how it is read.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_arrays.h"
#include "harness/base/json_member_reader.h"
#include "harness/records/manifest/fields.h"
#include "harness/trust/attestation/verdict_statement.h"
#include "reports/json_parts.h"
#include "reports/names.h"

namespace rharness {
namespace {

Json DigestJson(const std::string& sha256) {
  return Json::MakeObject({{"digest", Json::MakeObject({{"sha256", sha256}})}});
}

void ReadDigest(JsonReader& reader, std::string_view key, bool required, std::string* out) {
  reader.ReadObject(key, required, [&](JsonReader& one) { ReadSha256(one, out); });
}

Json ReasonJson(const Finding& finding) {
  Json json = Json::MakeObject({{"code", finding.code}, {"message", finding.message}});
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) json.Set(name, text);
  };
  add("subject", finding.subject);
  add("observed", finding.observed);
  add("limit", finding.limit);
  add("rule", finding.rule);
  json.Set("decisive", finding.decisive);
  return json;
}

Json ReasonsJson(const std::vector<Finding>& reasons) {
  Json list = Json::MakeArray();
  for (const Finding& one : reasons) list.Append(ReasonJson(one));
  return list;
}

void ReadReasons(JsonReader& reader, std::optional<Layer> layer, std::vector<Finding>* out) {
  if (!reader.Has("reasons")) reader.Fail("expected a list, which may be empty", "reasons");
  reader.ForEach("reasons", [&](JsonReader& one) {
    Finding& finding = out->emplace_back();
    finding.layer = layer;
    one.Read("code", &finding.code);
    one.Read("message", &finding.message);
    one.ReadOptional("subject", &finding.subject);
    one.ReadOptional("observed", &finding.observed);
    one.ReadOptional("limit", &finding.limit);
    one.ReadOptional("rule", &finding.rule);
    one.Read("decisive", &finding.decisive);
  });
}

Json SubjectsJson(const std::vector<SignedSubject>& subjects) {
  Json list = Json::MakeArray();
  for (const SignedSubject& one : subjects) list.Append(ToJson(one));
  return list;
}

Json LayersJson(const AttestedVerdict& verdict) {
  Json list = Json::MakeArray();
  for (const AttestedLayer& one : verdict.layers) {
    list.Append(Json::MakeObject({{"layer", LayerName(one.layer)},
                                  {"state", LayerStateName(one.state)},
                                  {"differs", PlainArray(one.differs)},
                                  {"reasons", ReasonsJson(one.reasons)}}));
  }
  return list;
}

std::optional<LayerState> LayerStateOf(std::string_view name) {
  for (const LayerState state :
       {LayerState::kSame, LayerState::kDiffers, LayerState::kUnknown, LayerState::kPartlyKnown}) {
    if (LayerStateName(state) == name) return state;
  }
  return std::nullopt;
}

void ReadLayers(JsonReader& reader, std::array<AttestedLayer, 5>* out) {
  std::set<Layer> seen;
  reader.ForEach("layers", [&](JsonReader& one) {
    std::string name, state_name;
    one.Read("layer", &name);
    one.Read("state", &state_name);
    if (!one.ok()) return;
    const auto layer = ParseLayer(name);
    const auto state = LayerStateOf(state_name);
    if (!layer.ok() || !seen.insert(*layer).second) {
      return one.Fail("is no layer, or one that is there already", "layer");
    }
    if (!state) return one.Fail("expected same, differs, unknown or partly_known", "state");
    AttestedLayer& into = (*out)[static_cast<std::size_t>(*layer)];
    into.layer = *layer;
    into.state = *state;
    one.ReadArray("differs", &into.differs);
    ReadReasons(one, *layer, &into.reasons);
  });
  if (reader.ok() && seen.size() != out->size()) {
    reader.Fail(fmt::format("{} layers; expected all five", seen.size()), "layers");
  }
}

Json RerunJson(const AttestedRerun& rerun) {
  Json json = Json::MakeObject({{"index", rerun.index},
                                {"state", NameIn(kRerunStateNames, rerun.state)},
                                {"outcome", rerun.outcome}});
  if (!rerun.reason.empty()) json.Set("reason", rerun.reason);
  if (!rerun.evidence_sha256.empty()) json.Set("evidence", DigestJson(rerun.evidence_sha256));
  json.Set("artifacts", SubjectsJson(rerun.artifacts));
  return json;
}

void ReadSubjects(JsonReader& reader, std::vector<SignedSubject>* out) {
  reader.ForEach("artifacts", [&](JsonReader& one) { ReadSubject(one, &out->emplace_back()); });
}

void ReadReruns(JsonReader& reader, std::vector<AttestedRerun>* out) {
  if (!reader.Has("reruns")) reader.Fail("expected a list, which may be empty", "reruns");
  reader.ForEach("reruns", [&](JsonReader& one) {
    AttestedRerun& rerun = out->emplace_back();
    one.Read("index", &rerun.index);
    ReadAs(one, "state", &rerun.state, ParserOf(kRerunStateNames));
    one.Read("outcome", &rerun.outcome);
    one.ReadOptional("reason", &rerun.reason);
    ReadDigest(one, "evidence", false, &rerun.evidence_sha256);
    ReadSubjects(one, &rerun.artifacts);
    if (one.ok() && rerun.state == RerunEnd::State::kCompared && rerun.evidence_sha256.empty()) {
      one.Fail("a rerun was compared, and there is no evidence of it", "evidence");
    }
  });
}

void ReadVerdictMembers(JsonReader& reader, AttestedVerdict* out) {
  std::string verdict;
  ReadRunId(reader, &out->run_id);
  reader.Read("family", &out->family);
  static constexpr std::array<std::string_view, 2> kPromises = {"bitwise", "statistical"};
  ReadChoice(reader, "declared", Presence::kRequired, kPromises, &out->declared);
  reader.ReadObject("manifest", true, [&](JsonReader& one) { ReadSubject(one, &out->manifest); });
  reader.ReadObject("drill", true, [&](JsonReader& one) {
    one.Read("id", &out->drill_id);
    ReadTime(one, "started", Presence::kRequired, &out->started);
    ReadTime(one, "ended", Presence::kRequired, &out->decided);
    ReadDigest(one, "report", true, &out->report_sha256);
  });
  reader.ReadObject("tool", true, [&](JsonReader& one) { one.Read("version", &out->version); });
  reader.Read("verdict", &verdict);
  if (reader.ok()) {
    const auto parsed = ParseVerdict(verdict);
    if (parsed.ok()) {
      out->verdict = *parsed;
    } else {
      reader.Fail(TerminalSafe(parsed.error().message.substr(0, 200)), "verdict");
    }
  }
  reader.Read("headline", &out->headline);
  ReadLayers(reader, &out->layers);
  ReadReasons(reader, std::nullopt, &out->reasons);
  std::uint64_t left_out = 0;
  reader.ReadOptional("reasons_left_out", &left_out);
  out->reasons_left_out = left_out;
  reader.ReadArray("unproven", &out->unproven);
  ReadReruns(reader, &out->reruns);
}

}  // namespace

SignedStatement VerdictStatement(const AttestedVerdict& verdict) {
  SignedStatement statement;
  statement.subjects = verdict.artifacts;
  statement.subjects.push_back(verdict.manifest);
  statement.predicate_type = kVerdictPredicate;
  Json reruns = Json::MakeArray();
  for (const AttestedRerun& one : verdict.reruns) reruns.Append(RerunJson(one));
  Json drill = Json::MakeObject({{"id", verdict.drill_id},
                                 {"started", FormatTime(verdict.started)},
                                 {"ended", FormatTime(verdict.decided)},
                                 {"report", DigestJson(verdict.report_sha256)}});
  Json tool = Json::MakeObject({{"name", "rharness"}, {"version", verdict.version}});
  statement.predicate = Json::MakeObject({{"run_id", verdict.run_id},
                                          {"family", verdict.family},
                                          {"declared", verdict.declared},
                                          {"manifest", ToJson(verdict.manifest)},
                                          {"drill", std::move(drill)},
                                          {"tool", std::move(tool)},
                                          {"verdict", VerdictName(verdict.verdict)},
                                          {"headline", verdict.headline},
                                          {"layers", LayersJson(verdict)},
                                          {"reasons", ReasonsJson(verdict.reasons)}});
  if (verdict.reasons_left_out > 0) {
    statement.predicate.Set("reasons_left_out", std::uint64_t{verdict.reasons_left_out});
  }
  if (!verdict.unproven.empty()) {
    statement.predicate.Set("unproven", PlainArray(verdict.unproven));
  }
  statement.predicate.Set("reruns", std::move(reruns));
  return statement;
}

Result<AttestedVerdict> ReadVerdictStatement(const SignedStatement& statement,
                                             std::string_view where) {
  if (statement.predicate_type != kVerdictPredicate) {
    return IntegrityError(
        fmt::format("predicateType '{}'; expected {}",
                    TerminalSafe(statement.predicate_type.substr(0, 200)), kVerdictPredicate),
        std::string(where));
  }
  AttestedVerdict verdict;
  JsonReader reader(statement.predicate, std::string(where), "$.predicate");
  ReadVerdictMembers(reader, &verdict);
  const auto manifest = std::ranges::find(statement.subjects, verdict.manifest);
  if (reader.ok() && manifest == statement.subjects.end()) {
    reader.Fail("is not among the statement's subjects", "manifest");
  }
  if (!reader.ok()) {
    const Status status = reader.status();
    return IntegrityError("is no verdict: " + status.error().message, status.error().where);
  }
  for (const SignedSubject& one : statement.subjects) {
    if (one != verdict.manifest) verdict.artifacts.push_back(one);
  }
  return verdict;
}

}  // namespace rharness
