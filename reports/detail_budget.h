// The page's space for each row: full details as long as every later row still fits in brief.
#ifndef RHARNESS_REPORTS_DETAIL_BUDGET_H_
#define RHARNESS_REPORTS_DETAIL_BUDGET_H_

#include <cstddef>
#include <string>
#include <utility>

namespace rharness {

class DetailBudget {
 public:
  // `bytes` for the details of `rows` rows; each later row reserves kBriefBytes.
  DetailBudget(std::size_t bytes, std::size_t rows) : bytes_(bytes), rows_(rows) {}

  // The result of `full` if it fits, else that of `brief`, else nothing. Call it once per row.
  template <class Full, class Brief>
  std::string Take(Full full, Brief brief) {
    if (rows_ > 0) --rows_;
    const std::size_t reserved = rows_ * kBriefBytes;
    if (bytes_ > reserved) {
      std::string details = full();
      if (details.size() + reserved <= bytes_) return Spend(std::move(details));
    }
    std::string details = brief();
    return details.size() <= bytes_ ? Spend(std::move(details)) : "";
  }

 private:
  static constexpr std::size_t kBriefBytes = 3'000;

  std::string Spend(std::string details) {
    bytes_ -= details.size();
    return details;
  }
  std::size_t bytes_;
  std::size_t rows_;  // that are still to come
};

}  // namespace rharness

#endif  // RHARNESS_REPORTS_DETAIL_BUDGET_H_
