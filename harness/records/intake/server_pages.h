// The pages of a list that a server serves one by one.
//
// Role: private to MLflow's importer.
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

// The server marks the last page; until then every page must make progress.
class ServerPages {
 public:
  explicit ServerPages(std::string what) : what_(std::move(what)) {}
  const std::string& token() const { return token_; }
  // Whether a further page follows. Errors: invalid_input for a repeated token, and for empty pages
  // in a row.
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
