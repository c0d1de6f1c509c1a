// Typed reading of JSON members with errors that name the file and the JSON path.
#include "harness/base/json_reader.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace rharness {
namespace {

// What a reader expects, in words, for its error messages.
template <class T>
constexpr std::string_view kExpected = "";
template <>
constexpr std::string_view kExpected<bool> = "true or false";
template <>
constexpr std::string_view kExpected<std::string> = "a string";
template <>
constexpr std::string_view kExpected<int> = "an integer";
template <>
constexpr std::string_view kExpected<std::int64_t> = "an integer";
template <>
constexpr std::string_view kExpected<std::uint32_t> = "an integer from 0 to 4294967295";
template <>
constexpr std::string_view kExpected<std::uint64_t> = "an integer from 0 to 18446744073709551615";
template <>
constexpr std::string_view kExpected<double> = "a number, \"nan\", \"inf\" or \"-inf\"";

template <class T, class Wide>
bool Narrow(const std::optional<Wide>& wide, T* out) {
  if (!wide || !std::in_range<T>(*wide)) return false;
  *out = static_cast<T>(*wide);
  return true;
}

bool Convert(const Json& json, bool* out) {
  if (json.kind() != Json::Kind::kBool) return false;
  *out = json.AsBool();
  return true;
}
bool Convert(const Json& json, std::string* out) {
  if (json.kind() != Json::Kind::kString) return false;
  *out = json.AsString();
  return true;
}
bool Convert(const Json& json, int* out) { return Narrow(json.ToInt64(), out); }
bool Convert(const Json& json, std::int64_t* out) { return Narrow(json.ToInt64(), out); }
bool Convert(const Json& json, std::uint32_t* out) { return Narrow(json.ToUint64(), out); }
bool Convert(const Json& json, std::uint64_t* out) { return Narrow(json.ToUint64(), out); }
bool Convert(const Json& json, double* out) {
  const std::optional<double> value = json.ToDouble();
  if (value) *out = *value;
  return value.has_value();
}

const Json kNoJson;

}  // namespace

JsonReader::JsonReader(const Json& value, std::string file, std::string path)
    : value_(&value), file_(std::move(file)), path_(std::move(path)), error_(&own_error_) {}

JsonReader::JsonReader(OverValues, std::string file)
    : value_(&kNoJson),
      over_values_(true),
      file_(std::move(file)),
      path_("$"),
      error_(&own_error_) {}

JsonReader::JsonReader(const Json& value, const JsonReader& parent, std::string_view key,
                       std::string_view name, std::optional<std::size_t> index)
    : value_(&value),
      over_values_(parent.over_values_),
      parent_(&parent),
      key_(key),
      name_(name),
      index_(index),
      error_(parent.error_) {}

std::string JsonReader::path() const {
  if (parent_ == nullptr) return path_;
  std::string path = parent_->PathOf(key_);
  if (index_) path += fmt::format("[{}]", *index_);
  if (name_.data() != nullptr) path += fmt::format(".{}", name_);
  return path;
}

std::string JsonReader::PathOf(std::string_view key) const {
  return key.empty() ? path() : fmt::format("{}.{}", path(), key);
}

void JsonReader::Fail(std::string message, std::string_view key) {
  if (!ok()) return;
  *error_ = InvalidInput(std::move(message), fmt::format("{}: {}", file(), PathOf(key)));
}

Status JsonReader::status() const {
  if (ok()) return {};
  return **error_;
}

bool JsonReader::Has(std::string_view key) const {
  if (over_values_) return true;
  const Json* member = value_->Find(key);
  return member != nullptr && !member->IsNull();
}

bool JsonReader::CanRead(std::string_view key) {
  if (!value_->IsObject() && !value_->IsNull()) {
    Fail(fmt::format("expected an object, found {}", value_->KindName()));
  }
  return ok() && Has(key);
}

template <class T>
void JsonReader::Read(std::string_view key, T* out) {
  if (over_values_ || !ok()) return;
  if (!value_->IsObject()) {
    return Fail(fmt::format("expected an object, found {}", value_->KindName()));
  }
  if (!Has(key)) return Fail(fmt::format("missing; expected {}", kExpected<T>), key);
  ReadOptional(key, out);
}

template <class T>
void JsonReader::ReadOptional(std::string_view key, T* out) {
  if (over_values_ || !CanRead(key)) return;
  JsonReader member(*value_->Find(key), *this, key);
  member.Get(out);
}

template <class T>
void JsonReader::Get(T* out) {
  if (over_values_ || !ok()) return;
  if (!Convert(*value_, out)) {
    std::string found =
        value_->IsArray() || value_->IsObject() ? std::string(value_->KindName()) : value_->Dump();
    if (found.size() > 80) {
      std::size_t end = 77;
      while ((static_cast<unsigned char>(found[end]) & 0xc0) == 0x80) --end;
      found = found.substr(0, end) + "...";
    }
    Fail(fmt::format("expected {}, found {}", kExpected<T>, found));
  }
}

template <class T>
void JsonReader::ReadArray(std::string_view key, std::vector<T>* out) {
  if (over_values_ || !CanRead(key)) return;
  std::vector<T> values;
  ForEach(key, [&](JsonReader& element) {
    T value{};
    element.Get(&value);
    values.push_back(std::move(value));
  });
  if (ok()) *out = std::move(values);
}

void JsonReader::ForEach(std::string_view key, const std::function<void(JsonReader&)>& f) {
  if (over_values_ || !CanRead(key)) return;
  const Json& member = *value_->Find(key);
  if (!member.IsArray()) {
    return Fail(fmt::format("expected an array, found {}", member.KindName()), key);
  }
  std::size_t index = 0;
  for (const Json& element : member.AsArray()) {
    JsonReader reader(element, *this, key, {}, index++);
    f(reader);
    if (!ok()) return;
  }
}

void JsonReader::ForEachMember(std::string_view key,
                               const std::function<void(const std::string&, JsonReader&)>& f) {
  if (over_values_ || !CanRead(key)) return;
  const Json& member = *value_->Find(key);
  if (!member.IsObject()) {
    return Fail(fmt::format("expected an object, found {}", member.KindName()), key);
  }
  for (const auto& [name, value] : member.AsObject()) {
    JsonReader reader(value, *this, key, name);
    f(name, reader);
    if (!ok()) return;
  }
}

void JsonReader::ReadObject(std::string_view key, bool required,
                            const std::function<void(JsonReader&)>& f) {
  if (!CanRead(key)) {
    if (required) Fail("missing; expected an object", key);
    return;
  }
  const Json& member = over_values_ ? *value_ : *value_->Find(key);
  if (!over_values_ && !member.IsObject()) {
    return Fail(fmt::format("expected an object, found {}", member.KindName()), key);
  }
  JsonReader reader(member, *this, key);
  f(reader);
}

int JsonReader::ReadSchema(std::string_view name, int newest) {
  std::string schema;
  Read("schema", &schema);
  if (!ok()) return 0;
  for (int version = 1; version <= newest; ++version) {
    if (schema == fmt::format("{}/v{}", name, version)) return version;
  }
  Fail(fmt::format("expected \"{}/v{}\" or older, found \"{}\"", name, newest, schema), "schema");
  return 0;
}

#define RHARNESS_INSTANTIATE(T)                                              \
  template void JsonReader::Read<T>(std::string_view, T*);                   \
  template void JsonReader::ReadOptional<T>(std::string_view, T*);           \
  template void JsonReader::ReadArray<T>(std::string_view, std::vector<T>*); \
  template void JsonReader::Get<T>(T*);
RHARNESS_INSTANTIATE(std::string)
RHARNESS_INSTANTIATE(int)
RHARNESS_INSTANTIATE(std::int64_t)
RHARNESS_INSTANTIATE(std::uint32_t)
RHARNESS_INSTANTIATE(std::uint64_t)
RHARNESS_INSTANTIATE(double)
#undef RHARNESS_INSTANTIATE
template void JsonReader::Read<bool>(std::string_view, bool*);
template void JsonReader::ReadOptional<bool>(std::string_view, bool*);
template void JsonReader::Get<bool>(bool*);

}  // namespace rharness
