// Statements that were verified, in words and as JSON.
#include "harness/cli/verify_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "harness/base/files.h"
#include "harness/cli/verb.h"
#include "harness/trust/attestation/endorsed_file.h"
#include "reports/text.h"

namespace rharness {
namespace {

std::string SignersText(const Verified& one) {
  std::string text;
  for (const AcceptedKey& key : one.signed_by) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", key.name, key.owner);
  }
  return text;
}

std::string SaidText(const Verified& one) {
  if (const Endorsement* said = one.endorsement()) {
    return fmt::format("{} with sha256 {} is answered for, since {}{}", said->file.name,
                       said->file.sha256, FormatTime(said->made),
                       said->reason.empty() ? "" : fmt::format(" ({})", said->reason));
  }
  if (const SignedModel* said = one.model()) {
    return fmt::format(
        "model '{}' of {}, sha256 {}{}", said->name,
        Counted(said->resources.size(), said->serialization.shard_bytes == 0 ? "file" : "shard"),
        ModelRoot(said->resources),
        said->tensors ? fmt::format(", {} with {}", Counted(said->tensors->tensors, "tensor"),
                                    said->tensors->sha256)
                      : "");
  }
  const std::string people = one.people() > 1 ? "" : " (by one person: not approved)";
  if (const auto* said = std::get_if<Retirement>(&one.said)) {
    return fmt::format("retirement of {}, asked for {}{}: {}", said->run_id,
                       FormatTime(said->requested), people, said->reason);
  }
  if (const auto* said = std::get_if<Deletion>(&one.said)) {
    return fmt::format("deletion of {} of list {}, asked for {}{}", Counted(said->items, "item"),
                       said->list.sha256, FormatTime(said->requested), people);
  }
  if (const auto* said = std::get_if<Withdrawal>(&one.said)) {
    if (said->run_id.empty()) {
      return fmt::format("the deletion {} is taken back, {}: {}", said->statement.sha256,
                         FormatTime(said->withdrawn), said->reason);
    }
    return fmt::format("the retirement {} of {} is taken back, {}: {}", said->statement.sha256,
                       said->run_id, FormatTime(said->withdrawn), said->reason);
  }
  const AttestedVerdict& said = *one.verdict();
  return fmt::format("{} {}, decided {} by drill {}, of family '{}'", said.run_id,
                     VerdictName(said.verdict), FormatTime(said.decided), said.drill_id,
                     said.family);
}

bool IsOlder(const Verified& one, const Looked& looked) {
  return one.endorsement() != nullptr && IsOlder(*one.endorsement(), looked.statements);
}

std::string OlderText(const Verified& one, const Looked& looked) {
  return IsOlder(one, looked) ? " (an older content: a newer one is signed)" : "";
}

}  // namespace

SaidOf RunOf(const Verified& one) {
  if (const AttestedVerdict* said = one.verdict()) return {said->run_id, said->family};
  if (const auto* said = std::get_if<Retirement>(&one.said)) return {said->run_id, said->family};
  if (const auto* said = std::get_if<Withdrawal>(&one.said)) return {said->run_id, said->family};
  return {};
}

std::string VerifyText(const std::vector<Looked>& all) {
  std::string text;
  for (const Looked& one : all) {
    if (one.refused) {
      text += OneLine("refused: " + one.refused->ToString());
      continue;
    }
    if (Globals().quiet) continue;
    for (const Verified& verified : one.statements) {
      text += OneLine(fmt::format("{}: {}{}, signed by {}, under rule {}", one.file.string(),
                                  SaidText(verified), OlderText(verified, one),
                                  SignersText(verified), verified.rule + 1));
    }
    for (const Error& line : one.not_counted) {
      text += OneLine("not counted: " + line.ToString());
    }
    if (one.held > 0) {
      text += OneLine(
          fmt::format("{}: {} of its files looked at, as signed", one.file.string(), one.held));
    }
  }
  return text;
}

namespace {

Json SaidJson(const Verified& one) {
  if (const Endorsement* said = one.endorsement()) {
    return Json::MakeObject({{"predicate", kEndorsementPredicate},
                             {"name", said->file.name},
                             {"sha256", said->file.sha256},
                             {"made", FormatTime(said->made)},
                             {"reason", said->reason}});
  }
  if (const SignedModel* said = one.model()) {
    Json json = Json::MakeObject({{"predicate", kModelPredicate},
                                  {"name", said->name},
                                  {"sha256", ModelRoot(said->resources)},
                                  {"resources", std::uint64_t{said->resources.size()}}});
    if (said->tensors) json.Set("tensors", TensorsJson(*said->tensors));
    return json;
  }
  if (const auto* said = std::get_if<Retirement>(&one.said)) {
    return Json::MakeObject({{"predicate", kRetirementPredicate},
                             {"run_id", said->run_id},
                             {"reason", said->reason},
                             {"requested", FormatTime(said->requested)},
                             {"people", std::uint64_t{one.people()}}});
  }
  if (const auto* said = std::get_if<Deletion>(&one.said)) {
    return Json::MakeObject({{"predicate", kDeletionPredicate},
                             {"list", said->list.sha256},
                             {"items", said->items},
                             {"bytes", said->bytes},
                             {"requested", FormatTime(said->requested)},
                             {"people", std::uint64_t{one.people()}}});
  }
  if (const auto* said = std::get_if<Withdrawal>(&one.said)) {
    return Json::MakeObject({{"predicate", kWithdrawalPredicate},
                             {"run_id", said->run_id},
                             {"statement", said->statement.sha256},
                             {"withdrawn", FormatTime(said->withdrawn)}});
  }
  const AttestedVerdict& said = *one.verdict();
  return Json::MakeObject({{"predicate", kVerdictPredicate},
                           {"run_id", said.run_id},
                           {"family", said.family},
                           {"verdict", VerdictName(said.verdict)},
                           {"headline", said.headline},
                           {"drill_id", said.drill_id},
                           {"decided", FormatTime(said.decided)}});
}

Json StatementJson(const Looked& looked, const Verified& one) {
  Json keys = Json::MakeArray();
  for (const AcceptedKey& key : one.signed_by) {
    keys.Append(Json::MakeObject({{"name", key.name}, {"owner", key.owner}, {"keyid", key.id}}));
  }
  Json json = SaidJson(one);
  json.Set("file", looked.file.string());
  json.Set("signed_by", std::move(keys));
  json.Set("threshold", std::uint64_t{one.threshold});
  json.Set("rule", std::uint64_t{one.rule + 1});
  if (one.endorsement() != nullptr) json.Set("older", IsOlder(one, looked));
  return json;
}

}  // namespace

Json VerifyJson(const std::vector<Looked>& all) {
  Json verified = Json::MakeArray();
  Json not_counted = Json::MakeArray();
  Json refused = Json::MakeArray();
  std::uint64_t held = 0;
  for (const Looked& one : all) {
    held += one.held;
    for (const Verified& statement : one.statements) {
      verified.Append(StatementJson(one, statement));
    }
    for (const Error& line : one.not_counted) {
      not_counted.Append(Json::MakeObject(
          {{"file", one.file.string()}, {"where", line.where}, {"message", line.message}}));
    }
    if (!one.refused) continue;
    refused.Append(Json::MakeObject({{"file", one.file.string()},
                                     {"where", one.refused->where},
                                     {"code", ErrorCodeName(one.refused->code)},
                                     {"message", one.refused->message}}));
  }
  return Json::MakeObject({{"schema", "rharness.verify/v1"},
                           {"verified", std::move(verified)},
                           {"not_counted", std::move(not_counted)},
                           {"refused", std::move(refused)},
                           {"files_as_signed", held}});
}

}  // namespace rharness
