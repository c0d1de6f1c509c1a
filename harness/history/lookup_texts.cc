// Commit and image out of manifests' texts.
#include "harness/history/lookup_texts.h"

#include <optional>

#include "harness/base/json.h"

namespace rharness {
namespace {

std::string TextIn(const Json& object, const char* name) {
  if (object.kind() != Json::Kind::kObject) return "";
  const Json* member = object.Find(name);
  return member != nullptr && member->kind() == Json::Kind::kString ? member->AsString() : "";
}

LookupTexts TextsOf(const Json& code, const Json& image) {
  Image parts;
  parts.registry = TextIn(image, "registry");
  parts.repository = TextIn(image, "repository");
  parts.location = TextIn(image, "location");
  parts.tag = TextIn(image, "tag");
  parts.digest = TextIn(image, "digest");
  return {TextIn(code, "commit"), LookupImage(parts)};
}

// The object that begins at this place of a JSON text, up to its own brace; empty: it has no end.
std::string_view ObjectAt(std::string_view text, std::size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return text.substr(begin, at + 1 - begin);
    }
  }
  return {};
}

// The first object by this name, spelled as ToJson(Manifest) does; of other names it is found
// behind. Empty: it is not there.
std::optional<Json> FirstObject(std::string_view text, std::string_view begins) {
  const auto at = text.find(begins);
  if (at == text.npos) return std::nullopt;
  const auto json = ParseJson(ObjectAt(text, at + begins.size() - 1), "");
  return json.ok() ? std::optional(*json) : std::nullopt;
}

}  // namespace

std::string LookupImage(const Image& image) {
  std::string text = image.registry.empty() ? "" : image.registry + "/";
  text += image.repository + image.location;
  if (!image.tag.empty()) text += ":" + image.tag;
  if (!image.digest.empty()) text += "@" + image.digest;
  return text;
}

bool AreLookupsOf(std::string_view manifest, const LookupTexts& texts) {
  const auto code = FirstObject(manifest, R"("code":{)");
  const auto image = code ? FirstObject(manifest, R"("image":{)") : std::nullopt;
  if (image && TextsOf(*code, *image) == texts) return true;
  const auto whole = ParseJson(manifest, "");
  if (!whole.ok() || whole->kind() != Json::Kind::kObject) return true;
  const Json* all_code = whole->Find("code");
  const Json* all_image = whole->Find("image");
  const Json none = Json::MakeObject();
  return TextsOf(all_code == nullptr ? none : *all_code,
                 all_image == nullptr ? none : *all_image) == texts;
}

}  // namespace rharness
