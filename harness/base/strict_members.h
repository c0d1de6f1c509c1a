// The list of members of a record that is read strictly: what is not in the list is an error, but
// for "x-...". As json_members.h, the list writes, reads and, by member_schema.h, describes.
//
//   template <class Io, Is<CodeFile> T> void Members(Io& io, T& file) {
//     io.Noun("A source file.");
//     io.Must(kRelativePath, "path", file.path, "Below the root.");  // absent: an error
//     io.May(kSha256, "sha256", file.sha256);       // written always; absent: stays as it is
//     io.UnlessEmpty("lines", file.lines);          // written if it is not empty
//   }
//
// A kind of member says what a C++ type does not:
//   struct Word {
//     static void Read(JsonReader& reader, std::string_view key, bool required, std::string* out);
//     static Json Describe(SchemaNoun& schema);     // or a template, of the C++ type
//     static Json Write(const std::string& value);  // may be missing
//   };
#ifndef RHARNESS_HARNESS_BASE_STRICT_MEMBERS_H_
#define RHARNESS_HARNESS_BASE_STRICT_MEMBERS_H_

#include <string>
#include <string_view>
#include <utility>

#include "harness/base/json.h"
#include "harness/base/json_arrays.h"
#include "harness/base/member_facts.h"
#include "harness/base/member_values.h"

namespace rharness {

class StrictWriter {
 public:
  explicit StrictWriter(Json* json) : json_(*json) {}

  void Noun(const char*) {}
  void NotEmpty() {}  // it has one member at least, or more
  void Schema(std::string_view name, int version) {
    Append("schema", std::string(name) + "/v" + std::to_string(version));
  }
  void Must(std::string_view key, const auto& value, const About& = {}) {
    Append(key, JsonOf(value));
  }
  void May(std::string_view key, const auto& value, const About& = {}) {
    Append(key, JsonOf(value));
  }
  void UnlessEmpty(std::string_view key, const auto& value, const About& = {}) {
    if (!SaysNothing(value)) Append(key, JsonOf(value));
  }
  // Written if it is not what its absence means.
  void Unless(std::string_view key, const auto& absent, const auto& value, const About& = {}) {
    if (value != absent) Append(key, JsonOf(value));
  }
  template <MemberKind K>
  void Must(K, std::string_view key, const auto& value, const About& = {}) {
    Append(key, OfKind<K>(value));
  }
  template <MemberKind K>
  void May(K, std::string_view key, const auto& value, const About& = {}) {
    Append(key, OfKind<K>(value));
  }
  template <MemberKind K>
  void UnlessEmpty(K, std::string_view key, const auto& value, const About& = {}) {
    if (!SaysNothing(value)) Append(key, OfKind<K>(value));
  }
  void Object(std::string_view key, const auto& noun, const About& = {}) {
    Append(key, Written(noun));
  }
  void MayObject(std::string_view key, const auto& noun, const About& = {}) {
    Append(key, Written(noun));
  }
  void ObjectUnlessEmpty(std::string_view key, const auto& noun, const About& = {}) {
    if (!SaysNothing(noun)) Append(key, Written(Inner(noun)));
  }
  void List(std::string_view key, const auto& nouns, const About& = {}) {
    Append(key, ArrayOf(nouns, [](const auto& noun) { return Written(noun); }));
  }
  void ListUnlessEmpty(std::string_view key, const auto& nouns, const About& = {}) {
    if (!SaysNothing(nouns)) List(key, Inner(nouns));
  }

  template <class T>
  static Json Written(const T& noun) {
    Json json = Json::MakeObject();
    StrictWriter writer(&json);
    Members(writer, noun);
    return json;
  }
  template <class K, class T>
  static Json OfKind(const T& value) {
    if constexpr (requires { K::Write(value); }) {
      return K::Write(value);
    } else if constexpr (requires { K::Write(Inner(value)); }) {
      return K::Write(Inner(value));
    } else {
      return JsonOf(Inner(value));
    }
  }

 private:
  void Append(std::string_view key, Json value) {
    json_.AppendMember(std::string(key), std::move(value));
  }

  Json& json_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_STRICT_MEMBERS_H_
