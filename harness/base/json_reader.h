// A typed reader of JSON members whose errors name the file and the JSON path.
//
// Role: every record that comes from outside is turned into values here. Not here: any knowledge of
// a schema.
#ifndef RHARNESS_HARNESS_BASE_JSON_READER_H_
#define RHARNESS_HARNESS_BASE_JSON_READER_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// Reads the members of an object into typed variables. The first error sticks and later reads do
// nothing, so a parser is a plain list of fields with one check at its end.
class JsonReader {
 public:
  // `value` must outlive the reader. `path` is the JSON path of `value`, "$" at the root.
  JsonReader(const Json& value, std::string file, std::string path = "$");
  // Reads values that a program assembled: a parser's checks, as if they had been read. Targets
  // keep their value, every member is present, and ForEach and ForEachMember find none; ReadEach,
  // ReadEachMember and ReadOptionalObject iterate over the values.
  struct OverValues {};
  JsonReader(OverValues, std::string file);
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  // Required member: absent, null or of another type is an error. Types: bool, std::string,
  // int, int64_t, uint32_t, uint64_t, double.
  template <class T>
  void Read(std::string_view key, T* out);
  // Optional member: absent or null leaves *out as it is. Here and below, reading a member of a
  // value that is neither an object nor null is an error.
  template <class T>
  void ReadOptional(std::string_view key, T* out);
  template <class T>
  void ReadOptional(std::string_view key, std::optional<T>* out) {
    T value{};
    if (!over_values_ && Has(key)) {
      ReadOptional(key, &value);
      if (ok()) *out = std::move(value);
    }
  }
  // Array of strings or numbers; absent leaves *out as it is.
  template <class T>
  void ReadArray(std::string_view key, std::vector<T>* out);
  // Calls f(reader) for each element of an array member / f(name, reader) for each member of an
  // object member. Absent or null: no call. Another type: an error.
  void ForEach(std::string_view key, const std::function<void(JsonReader&)>& f);
  void ForEachMember(std::string_view key,
                     const std::function<void(const std::string&, JsonReader&)>& f);
  // f(reader, element) of each element of an array member, appended to *out / f(name, reader,
  // value) of each member of an object member, entered into the map *out.
  template <class T, class F>
  void ReadEach(std::string_view key, std::vector<T>* out, F f);
  template <class Map, class F>
  void ReadEachMember(std::string_view key, Map* out, F f);
  // f(reader, value) on an object member if present.
  template <class T, class F>
  void ReadOptionalObject(std::string_view key, std::optional<T>* out, F f);
  // f(reader) on an object member if present; `required` makes absence an error.
  void ReadObject(std::string_view key, bool required, const std::function<void(JsonReader&)>& f);

  // The value itself as a T, for elements and members handed to the callbacks.
  template <class T>
  void Get(T* out);

  bool Has(std::string_view key) const;         // present and not null
  const Json& json() const { return *value_; }  // null over values
  bool over_values() const { return over_values_; }
  std::string path() const;
  // Records an error at this path (or at path.key), unless there is one already.
  void Fail(std::string message, std::string_view key = {});
  // The schema member must be `name`/v1../v`newest`; returns the version, 0 on error.
  int ReadSchema(std::string_view name, int newest);

  bool ok() const { return !error_->has_value(); }
  Status status() const;

 private:
  // Of a nested value: the member `key` of `parent`'s, of that the element at `index` or the member
  // `name`. All outlive it: its path is built on demand.
  JsonReader(const Json& value, const JsonReader& parent, std::string_view key,
             std::string_view name = {}, std::optional<std::size_t> index = {});
  const std::string& file() const { return parent_ == nullptr ? file_ : parent_->file(); }
  std::string PathOf(std::string_view key) const;
  bool CanRead(std::string_view key);  // no error so far and the member is present

  const Json* value_;
  bool over_values_ = false;
  std::string file_;  // these two at the root
  std::string path_;
  const JsonReader* parent_ = nullptr;
  std::string_view key_;
  std::string_view name_;
  std::optional<std::size_t> index_;
  std::optional<Error> own_error_;
  std::optional<Error>* error_;  // shared with the readers of nested values
};

template <class T, class F>
void JsonReader::ReadEach(std::string_view key, std::vector<T>* out, F f) {
  if (!over_values_) {
    return ForEach(key, [&](JsonReader& element) { f(element, &out->emplace_back()); });
  }
  for (std::size_t i = 0; ok() && i < out->size(); ++i) {
    JsonReader element(*value_, *this, key, {}, i);
    f(element, &(*out)[i]);
  }
}

template <class Map, class F>
void JsonReader::ReadEachMember(std::string_view key, Map* out, F f) {
  if (!over_values_) {
    return ForEachMember(
        key, [&](const std::string& name, JsonReader& member) { f(name, member, &(*out)[name]); });
  }
  for (auto& [name, value] : *out) {
    if (!ok()) return;
    JsonReader member(*value_, *this, key, name);
    f(name, member, &value);
  }
}

template <class T, class F>
void JsonReader::ReadOptionalObject(std::string_view key, std::optional<T>* out, F f) {
  if (over_values_ && !*out) return;
  ReadObject(key, false, [&](JsonReader& member) {
    if (!over_values_) out->emplace();
    f(member, &**out);
  });
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_READER_H_
