// The names of the members of a noun, from their list (strict_members.h).
//
// Role: a strict reader refuses all others before it reads any.
#ifndef RHARNESS_HARNESS_BASE_STRICT_NAMES_H_
#define RHARNESS_HARNESS_BASE_STRICT_NAMES_H_

#include <string_view>
#include <vector>

#include "harness/base/member_facts.h"

namespace rharness {

class StrictNames {
 public:
  template <class T>
  static const std::vector<std::string_view>& Of() {
    static const std::vector<std::string_view> names = [] {
      StrictNames io;
      T noun{};
      Members(io, noun);
      return io.names_;
    }();
    return names;
  }

  void Noun(const char*) {}
  void NotEmpty() {}
  void Schema(std::string_view, int) { names_.push_back("schema"); }
  void Must(std::string_view key, auto&&...) { names_.push_back(key); }
  void May(std::string_view key, auto&&...) { names_.push_back(key); }
  void UnlessEmpty(std::string_view key, auto&&...) { names_.push_back(key); }
  void Unless(std::string_view key, auto&&...) { names_.push_back(key); }
  template <MemberKind K>
  void Must(K, std::string_view key, auto&&...) {
    names_.push_back(key);
  }
  template <MemberKind K>
  void May(K, std::string_view key, auto&&...) {
    names_.push_back(key);
  }
  template <MemberKind K>
  void UnlessEmpty(K, std::string_view key, auto&&...) {
    names_.push_back(key);
  }
  void Object(std::string_view key, auto&&...) { names_.push_back(key); }
  void MayObject(std::string_view key, auto&&...) { names_.push_back(key); }
  void ObjectUnlessEmpty(std::string_view key, auto&&...) { names_.push_back(key); }
  void List(std::string_view key, auto&&...) { names_.push_back(key); }
  void ListUnlessEmpty(std::string_view key, auto&&...) { names_.push_back(key); }

 private:
  std::vector<std::string_view> names_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_STRICT_NAMES_H_
