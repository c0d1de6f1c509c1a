// The fence around RapidJSON's reader; it appears in no other file.
#include "harness/base/json_quick.h"

#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "harness/base/json_events.h"

namespace rharness {
namespace {

// Of a longer document all values at once, and the containers that they go into, would take more
// memory than the careful way.
constexpr std::size_t kLongestDocument = std::size_t{16} << 20;

// Keeps values in two stacks: a closed container takes its own off the end.
class QuickBuilder {
 public:
  using Size = rapidjson::SizeType;

  bool Null() { return Add(Json()); }
  bool Bool(bool value) { return Add(value); }
  bool RawNumber(const char* text, Size size, bool) {
    const std::string_view number(text, size);
    if (number.find_first_of(".eE") != std::string_view::npos) return AddNumber<double>(number);
    return number.starts_with('-') ? AddNumber<std::int64_t>(number)
                                   : AddNumber<std::uint64_t>(number);
  }
  bool String(const char* text, Size size, bool) { return Add(std::string(text, size)); }
  bool StartObject() { return ++depth_ <= kMaxJsonDepth; }
  bool Key(const char* text, Size size, bool) {
    keys_.emplace_back(text, size);
    return true;
  }
  bool EndObject(Size count) {
    const auto first_key = keys_.end() - count;
    const auto first_value = values_.end() - count;
    if (HasDuplicate({first_key, keys_.end()})) return false;
    Json::Members members;
    members.reserve(count);
    for (Size i = 0; i < count; ++i) {
      members.emplace_back(std::move(first_key[i]), std::move(first_value[i]));
    }
    keys_.erase(first_key, keys_.end());
    return Close(count, Json::MakeObject(std::move(members)));
  }
  bool StartArray() { return ++depth_ <= kMaxJsonDepth; }
  bool EndArray(Size count) {
    const auto first = std::make_move_iterator(values_.end() - count);
    return Close(count, Json::MakeArray({first, std::make_move_iterator(values_.end())}));
  }
  // All numbers come as they are written.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

  Json Take() { return std::move(values_.front()); }

 private:
  static bool HasDuplicate(std::span<const std::string> keys) {
    constexpr std::size_t kFew = 16;
    if (keys.size() <= kFew) {
      for (std::size_t i = 1; i < keys.size(); ++i) {
        const auto before = keys.first(i);
        if (std::find(before.begin(), before.end(), keys[i]) != before.end()) return true;
      }
      return false;
    }
    std::vector<std::string_view> sorted(keys.begin(), keys.end());
    std::ranges::sort(sorted);
    return std::ranges::adjacent_find(sorted) != sorted.end();
  }

  template <class T>
  bool AddNumber(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && Add(value);
  }
  bool Add(Json value) {
    values_.push_back(std::move(value));
    return ++count_ <= kMaxJsonValues;
  }
  bool Close(Size count, Json container) {
    --depth_;
    values_.erase(values_.end() - count, values_.end());
    return Add(std::move(container));
  }

  std::vector<Json> values_;
  std::vector<std::string> keys_;
  std::size_t depth_ = 0;
  std::size_t count_ = 0;
};

template <unsigned kFlags>
std::optional<Json> Parse(std::string_view text) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  QuickBuilder builder;
  if (reader.Parse<kFlags>(stream, builder).IsError()) return std::nullopt;
  return builder.Take();
}

// Passes the reader's events on.
class EventRelay {
 public:
  using Size = rapidjson::SizeType;

  explicit EventRelay(JsonEvents* events) : events_(*events) {}
  bool Null() { return events_.Word("null"); }
  bool Bool(bool value) { return events_.Word(value ? "true" : "false"); }
  bool RawNumber(const char* text, Size size, bool) { return events_.Number({text, size}); }
  bool Int(int) { return false; }  // numbers come as text
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  bool String(const char* text, Size size, bool) { return events_.String({text, size}); }
  bool Key(const char* text, Size size, bool) { return events_.Key({text, size}); }
  bool StartObject() { return events_.Open('{'); }
  bool EndObject(Size) { return events_.Close('}'); }
  bool StartArray() { return events_.Open('['); }
  bool EndArray(Size) { return events_.Close(']'); }

 private:
  JsonEvents& events_;
};

}  // namespace

bool ReadJsonEvents(char* text, JsonEvents* events) {
  constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseInsituFlag;
  rapidjson::InsituStringStream stream(text);
  rapidjson::Reader reader;
  EventRelay relay(events);
  return !reader.Parse<kFlags>(stream, relay).IsError();
}

std::optional<Json> ParseJsonQuickly(std::string_view text) {
  constexpr unsigned kNumbers = rapidjson::kParseNumbersAsStringsFlag;
  if (text.size() > kLongestDocument) return std::nullopt;
  // It accepts the second half of a surrogate pair as a character.
  if (text.find("\\ud") != text.npos || text.find("\\uD") != text.npos) return std::nullopt;
  const bool ascii = std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; });
  return ascii ? Parse<kNumbers>(text)
               : Parse<kNumbers | rapidjson::kParseValidateEncodingFlag>(text);
}

}  // namespace rharness
