// The readers of loosely typed JSON.
#include "harness/records/intake/loose_json.h"

#include "compare/curves/printed_number.h"

namespace rharness {

bool IsJsonScalar(const Json& json) {
  return !json.IsNull() && !json.IsObject() && !json.IsArray();
}

std::string LooseText(const Json* json) {
  if (json == nullptr || !IsJsonScalar(*json)) return "";
  return json->kind() == Json::Kind::kString ? json->AsString() : json->Dump();
}

std::string LooseText(const Json& object, std::string_view key) {
  return LooseText(object.Find(key));
}

std::optional<double> LooseNumber(const Json* json) {
  if (json == nullptr || json->kind() == Json::Kind::kBool) return std::nullopt;
  if (json->kind() != Json::Kind::kString) return json->ToDouble();
  const auto inner = ParseJson(json->AsString(), "");
  return inner.ok() ? inner->ToDouble() : std::nullopt;
}

Result<Json> ParseLooseJson(std::string_view text, std::string_view where) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return ParseJsonWithNonFinite(text, where);
}

Result<Json> ReadLooseJson(const HeldFolder& folder, const std::filesystem::path& relative,
                           std::uint64_t limit_bytes, std::string_view where) {
  ASSIGN_OR_RETURN(const std::string text, folder.ReadFile(relative, limit_bytes));
  return ParseLooseJson(text, where);
}

}  // namespace rharness
