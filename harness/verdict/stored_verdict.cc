// Reasons as text, and back.
#include "harness/verdict/stored_verdict.h"

#include <algorithm>

namespace rharness {

std::string ReasonText(const Reason& reason) {
  return reason.code.empty() ? reason.message : reason.code + ": " + reason.message;
}

std::vector<std::string> ReasonTexts(const std::vector<Reason>& reasons) {
  std::vector<std::string> texts;
  for (const Reason& reason : reasons) texts.push_back(ReasonText(reason));
  return texts;
}

Reason ReadReason(std::string_view text) {
  const auto colon = text.find(": ");
  const std::string_view code = text.substr(0, colon == text.npos ? 0 : colon);
  const bool is_code = !code.empty() && std::ranges::all_of(code, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_code) return {"", std::string(text)};
  return {std::string(code), std::string(text.substr(colon + 2))};
}

}  // namespace rharness
