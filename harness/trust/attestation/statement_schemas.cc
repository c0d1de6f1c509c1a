// Builds the schemas of statements; see statement_schemas.h. A first drill does not compile them.
#include "harness/trust/attestation/statement_schemas.h"

#include <utility>

#include "harness/base/member_schema.h"
#include "harness/trust/attestation/approval_members.h"

namespace rharness {
namespace {

// What a statement is about, and the name of that.
struct FrameWords {
  const char* type;
  const char* subject;
  const char* name;
};

Json Text(const char* description) {
  return Json::MakeObject({{"description", description}, {"type", "string"}});
}

Json Constant(const char* description, const char* value) {
  return Json::MakeObject({{"description", description}, {"const", value}});
}

Json ObjectOf(Json::Array required, Json properties) {
  return Json::MakeObject({{"type", "object"},
                           {"required", Json::MakeArray(std::move(required))},
                           {"properties", std::move(properties)}});
}

// Exactly one subject.
Json SubjectSchema(const FrameWords& words) {
  Json sha256 = Text("In hexadecimal.").Set("pattern", "^[0-9a-f]{64}$");
  Json digest = ObjectOf({"sha256"}, Json::MakeObject({{"sha256", std::move(sha256)}}));
  digest.Set("description", "Of its content.");
  Json name = Text(words.name).Set("minLength", 1);
  Json subject =
      ObjectOf({"name", "digest"},
               Json::MakeObject({{"name", std::move(name)}, {"digest", std::move(digest)}}));
  return Json::MakeObject({{"description", words.subject},
                           {"type", "array"},
                           {"minItems", 1},
                           {"maxItems", 1},
                           {"items", std::move(subject)}});
}

template <class T, const FrameWords& kWords>
Json StatementSchema(const char* description) {
  return BuildSchema(
      {.id = kWords.type, .title = kWords.type, .description = description}, [](MemberSchema& io) {
        io.Add("_type", Constant("Name and version of statements.", kStatementType), true, {});
        io.Add("subject", SubjectSchema(kWords), true, {});
        io.Add("predicateType", Constant("Name and version of this form.", kWords.type), true, {});
        io.Object("predicate", T(), "What its signers say.");
      });
}

constexpr FrameWords kRetirementWords = {kRetirementPredicate, "The run's manifest.", "RUN.json."};
constexpr FrameWords kWithdrawalWords = {kWithdrawalPredicate, "The statement that is taken back.",
                                         "RUN.retirement, or deletion.json."};
constexpr FrameWords kDeletionWords = {kDeletionPredicate, "The list.", "deletion.json."};
constexpr FrameWords kEndorsementWords = {kEndorsementPredicate, "The file.",
                                          "Its name, without folders."};

}  // namespace

Json RetirementSchema() {
  return StatementSchema<Retirement, kRetirementWords>(
      "That a run be taken out of drills and of its family's statistics, which takes two people's "
      "signatures. As an in-toto Statement v1: the payload of a DSSE envelope.");
}

Json WithdrawalSchema() {
  return StatementSchema<Withdrawal, kWithdrawalWords>(
      "That what was asked for be no longer approved. As an in-toto Statement v1: the payload of a "
      "DSSE envelope.");
}

Json DeletionSchema() {
  return StatementSchema<Deletion, kDeletionWords>(
      "That exactly what a list names be deleted, which takes two people's signatures. As an "
      "in-toto Statement v1: the payload of a DSSE envelope.");
}

Json EndorsementSchema() {
  return StatementSchema<Endorsement, kEndorsementWords>(
      "That somebody answers for a file, as an in-toto Statement v1: the payload of a DSSE "
      "envelope.");
}

std::vector<NamedSchema> StatementSchemas() {
  return {{"retirement", RetirementSchema},
          {"withdrawal", WithdrawalSchema},
          {"deletion", DeletionSchema},
          {"endorsement", EndorsementSchema}};
}

}  // namespace rharness
