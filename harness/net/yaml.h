// YAML as JSON, for the files that other tools write.
//
// Role: for importers, fetchers and trust files; yaml.cc is a fence around yaml-cpp. Not here:
// policies, which give the line of every value (yaml_reader.h).
#ifndef RHARNESS_HARNESS_NET_YAML_H_
#define RHARNESS_HARNESS_NET_YAML_H_

#include <cstddef>
#include <string_view>

#include "harness/base/json.h"

namespace rharness {

inline constexpr std::size_t kMostYamlBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMostYamlValues = std::size_t{1} << 20;  // an alias is what it names
inline constexpr std::size_t kMostYamlDepth = 100;

enum class YamlScalars {
  kTyped,
  kDvc,  // as DVC reads them, with ruamel.yaml: see below
  kText  // every scalar is its text, but for null: for ids, which may look like numbers
};

// One document; an empty one is null. Scalars without quotes are typed by the core schema of YAML
// 1.2.2 (section 10.3.2): null, true, 12, 0x1f, 0o17, 1.5e3, .inf, .nan; so NO, on and 2024-01-01
// are texts. Two exceptions keep every value: numbers with leading zeros (007) and those beyond a
// double (1e999) are texts. With kDvc numbers may also have underscores and leading zeros (10_000,
// 007) and be binary (0b101), as in ruamel.yaml's construct_yaml_int and construct_yaml_float. A
// tag makes a scalar a text, except for those of the core schema, and changes nothing else. An
// alias is a copy of its target; "<<" is an ordinary key. Keys are texts, as written. Errors:
// invalid_input with "FILE:LINE" for invalid YAML, control characters, duplicate keys, keys that
// are no scalars, aliases of their own containers, more than one document, and more bytes, values
// or levels than above.
Result<Json> ParseYamlAsJson(std::string_view text, std::string_view file,
                             YamlScalars scalars = YamlScalars::kTyped);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_NET_YAML_H_
