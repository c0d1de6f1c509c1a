// A fingerprint as facts: what the stack is, and what each probe saw it do.
#include <fmt/format.h>

#include "compare/fingerprints/fingerprint.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/comparison/subject.h"
#include "harness/comparison/subject_records.h"

namespace rharness {
namespace {

constexpr int kMaxDepth = 8;

// Members of members as "stack.libraries.cublas.version"; arrays as one value.
void Flatten(const std::string& key, const Json& value, int depth, std::vector<Fact>* facts) {
  if (value.IsObject() && depth < kMaxDepth) {
    for (const auto& [name, member] : value.AsObject()) {
      Flatten(fmt::format("{}.{}", key, name), member, depth + 1, facts);
    }
    return;
  }
  const bool text = value.kind() == Json::Kind::kString;
  facts->push_back(
      {LayerOfStack(key), key, text ? value.AsString() : value.Dump(), FactWeight::kContext});
}

void ReadProbe(JsonReader& reader, std::vector<Fact>* facts) {
  std::string name;
  reader.Read("name", &name);
  if (!reader.ok()) return;
  for (const char* part : {"status", "choice", "tree", "bits", "deterministic"}) {
    const Json* value = reader.json().Find(part);
    if (value == nullptr || value->IsNull()) continue;
    const bool text = value->kind() == Json::Kind::kString;
    facts->push_back({Layer::kEnvironment, fmt::format("probe.{}.{}", name, part),
                      text ? value->AsString() : value->Dump(), FactWeight::kContext});
  }
}

}  // namespace

Result<std::vector<Fact>> FactsOfFingerprint(const Json& json, std::string_view file) {
  std::vector<Fact> facts;
  JsonReader reader(json, std::string(file));
  reader.ReadSchema("rharness.fingerprint", kFingerprintVersion);
  reader.ReadObject("stack", true,
                    [&](JsonReader& stack) { Flatten("stack", stack.json(), 0, &facts); });
  bool any_ok = false;
  reader.ForEach("probes", [&](JsonReader& probe) {
    ReadProbe(probe, &facts);
    const Json* status = probe.json().Find("status");
    any_ok |=
        status != nullptr && status->kind() == Json::Kind::kString && status->AsString() == "ok";
  });
  RETURN_IF_ERROR(reader.status());
  if (!any_ok) {
    return InvalidInput("the fingerprint shows nothing: none of its probes is ok",
                        std::string(file));
  }
  return facts;
}

Result<Subject> LoadFingerprintSubject(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  Subject subject;
  ASSIGN_OR_RETURN(subject.facts, FactsOfFingerprint(json, path.string()));
  subject.side = {path.string(), "fingerprint", fmt::format("{} facts", subject.facts.size())};
  return subject;
}

}  // namespace rharness
