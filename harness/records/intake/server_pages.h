// The pages of a list that a server gives one by one.
//
// Role: private to the files of MLflow's importer.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_SERVER_PAGES_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_SERVER_PAGES_H_

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {

// They end when a server says so, and must go on until then.
class ServerPages {
 public:
  explicit ServerPages(std::string what) : what_(std::move(what)) {}
  const std::string& token() const { return token_; }
  // Whether there is another one after this. Errors: invalid_input for a token that was there
  // before, and for pages without anything on them, one after the other.
  Result<bool> Next(const Json& page, std::size_t elements) {
    constexpr std::size_t kMostEmpty = 100;
    token_ = LooseText(page, "next_page_token");
    if (token_.empty()) return false;
    empty_ = elements == 0 ? empty_ + 1 : 0;
    if (!seen_.insert(Sha256HexOf(token_)).second || empty_ > kMostEmpty) {
      return InvalidInput("the server's pages do not end; expected each to bring more", what_);
    }
    return true;
  }

 private:
  std::string what_;
  std::string token_;
  std::set<std::string> seen_;
  std::size_t empty_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_SERVER_PAGES_H_
