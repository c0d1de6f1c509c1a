// A JSON document as events, without values made of it.
//
// Role: for readers of millions of small documents that keep a few numbers of each. Whoever needs
// values takes ParseJson.
#ifndef RHARNESS_HARNESS_BASE_JSON_EVENTS_H_
#define RHARNESS_HARNESS_BASE_JSON_EVENTS_H_

#include <cstddef>
#include <string_view>

namespace rharness {

// Texts are valid within the call. An event that returns false ends the reading.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual bool Key(std::string_view name) = 0;
  virtual bool String(std::string_view value) = 0;
  virtual bool Number(std::string_view text) = 0;  // as it is spelled
  virtual bool Word(std::string_view word) = 0;    // "true", "false", "null"
  virtual bool Open(char bracket) = 0;             // '{' or '['
  virtual bool Close(char bracket) = 0;            // '}' or ']'
};

// Past the end of a text, its terminator included, that many bytes are read and must be there.
inline constexpr std::size_t kJsonEventPadding = 16;

// `text` ends with a NUL, and is overwritten. False: no JSON document (RFC 8259), or an event
// returned false, which an Open must do where nesting is too deep for the stack. UTF-8 is not
// checked. In json_quick.cc.
bool ReadJsonEvents(char* text, JsonEvents* events);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_EVENTS_H_
