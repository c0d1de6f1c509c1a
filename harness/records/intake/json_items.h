// The JSON values of a file one by one, with one in memory at a time: the elements of one array,
// else consecutive values, as in JSON Lines.
//
// Role: private to this folder, for sources with very many runs.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_JSON_ITEMS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_JSON_ITEMS_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/descriptor.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

struct JsonItem {
  std::string where;  // "FILE: $[3]" of an array, "FILE: line 17" of other values
  Result<Json> json;  // invalid_input: the text there is no JSON
};

// Invalid JSON is an item with its error, and reading continues after it: in an array at the next
// comma outside of all brackets, else at the next line. Values may take several lines until one of
// them is invalid: from there on each line is a value, so that a file costs at most two readings.
class JsonItems {
 public:
  // Errors: those of opening a regular file.
  static Result<JsonItems> Open(const std::filesystem::path& path, std::uint64_t most_bytes);

  // None at the end. Errors: io; invalid_input for a value of more than `most_bytes`, and for an
  // array that is cut off or followed by text.
  Result<std::optional<JsonItem>> Next();

 private:
  enum class Form { kUnknown, kArray, kValues, kEnded };
  JsonItems(Descriptor fd, std::string name, std::uint64_t most_bytes)
      : fd_(std::move(fd)), name_(std::move(name)), most_bytes_(most_bytes) {}

  // Reads more; false: there is none. Errors: io, invalid_input if `at` bytes are there already and
  // exceed the limit.
  Result<bool> Fill(std::size_t at);
  // Distance to the first remaining byte for which `ends` is true; else all of the rest.
  template <class F>
  Result<std::size_t> Find(F ends);
  // Skips blanks, and returns the next character; NUL at the end of the file.
  Result<char> First();
  void Take(std::size_t count);
  // Distance to the next comma or closing bracket outside of all brackets and strings.
  Result<std::size_t> LengthOfElement();
  // Distance to the end of the line, and to the end after the first bracket that opens.
  Result<std::size_t> LengthOfLine();
  Result<std::size_t> LengthOfValue();
  Result<Json> Parse(std::size_t length, const std::string& where) const;
  Result<std::optional<JsonItem>> NextElement();
  Result<std::optional<JsonItem>> NextValue();
  Error Wrong(std::string_view what) const;

  Descriptor fd_;
  std::string name_;
  std::uint64_t most_bytes_;
  Form form_ = Form::kUnknown;
  std::string buffer_;
  std::size_t taken_ = 0;     // of the buffer
  std::uint64_t offset_ = 0;  // in the file, of the rest
  std::uint64_t line_ = 1;
  std::size_t index_ = 0;  // of the next element
  bool by_lines_ = false;  // a value of several lines was invalid
  bool complete_ = false;  // the rest of the file is in the buffer
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_JSON_ITEMS_H_
