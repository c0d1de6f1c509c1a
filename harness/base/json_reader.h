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
    if (Has(key)) {
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
  // f(reader) on an object member if it is there; `required` makes absence an error.
  void ReadObject(std::string_view key, bool required, const std::function<void(JsonReader&)>& f);

  // The value itself as a T, for elements and members handed to the callbacks.
  template <class T>
  void Get(T* out);

  bool Has(std::string_view key) const;  // present and not null
  const Json& json() const { return *value_; }
  std::string path() const;
  // Records an error at this path (or at path.key), unless one is already held.
  void Fail(std::string message, std::string_view key = {});
  // The schema member must be `name`/v1../v`newest`; returns the version, 0 on error.
  int ReadSchema(std::string_view name, int newest);

  bool ok() const { return !error_->has_value(); }
  Status status() const;

 private:
  // Of a nested value: the member `key` of `parent`'s, of that the element at `index` or the member
  // `name`. All outlive it: its path is put together when it is asked for.
  JsonReader(const Json& value, const JsonReader& parent, std::string_view key,
             std::string_view name = {}, std::optional<std::size_t> index = {});
  const std::string& file() const { return parent_ == nullptr ? file_ : parent_->file(); }
  std::string PathOf(std::string_view key) const;
  bool CanRead(std::string_view key);  // no error so far and the member is there

  const Json* value_;
  std::string file_;  // these two at the root
  std::string path_;
  const JsonReader* parent_ = nullptr;
  std::string_view key_;
  std::string_view name_;
  std::optional<std::size_t> index_;
  std::optional<Error> own_error_;
  std::optional<Error>* error_;  // shared with the readers of nested values
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_READER_H_
