// Reads a YAML document that people write: mappings with known keys, lists, texts and numbers;
// errors name file and line.
//
// Role: for policies (harness/records/policy). Throws YAML::Exception, as yaml-cpp does; policy.cc
// catches it.
#ifndef RHARNESS_HARNESS_NET_YAML_READER_H_
#define RHARNESS_HARNESS_NET_YAML_READER_H_

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

inline constexpr std::uint64_t kMostPolicyBytes = 1 << 20;

class YamlReader {
 public:
  explicit YamlReader(std::string_view file) : file_(file) {}

  using Handler = std::function<Status(const YAML::Node&)>;
  struct Member {
    std::string_view name;
    bool required;
    Handler read;
  };

  // The one document of a text; refuses a second one, or more values than a policy may have
  // (aliases expanded), before any is kept.
  Result<YAML::Node> Load(const std::string& text) const;

  Status ReadMap(const YAML::Node& node, std::string_view what, const std::vector<Member>& members);
  Status ReadList(const YAML::Node& node, std::string_view what, const Handler& read);
  // A mapping whose keys are names.
  Status ReadNamed(const YAML::Node& node, std::string_view what,
                   const std::function<Status(const std::string&, const YAML::Node&)>& read);
  Status ReadText(const YAML::Node& node, std::string_view what, std::string* out);
  // A number in (above, most]; `what` as in "a stake".
  Status ReadNumber(const YAML::Node& node, std::string_view what, double above, double most,
                    double* out);

  Error Fail(const YAML::Mark& mark, std::string message) const;
  std::string Where(const YAML::Node& node) const;  // "policy.yaml:12"
  const std::string& file() const { return file_; }

 private:
  Status Count(const YAML::Node& node);

  std::string file_;
  std::size_t values_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_NET_YAML_READER_H_
