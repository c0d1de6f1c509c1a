// Errors as values: names, factories and the abort that guards broken invariants.
#include "harness/base/result.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace rharness {
namespace {

Error Make(ErrorCode code, std::string message, std::string where) {
  return Error{code, std::move(message), std::move(where)};
}

}  // namespace

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
      return "invalid_input";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kProcess:
      return "process";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kIntegrity:
      return "integrity";
    case ErrorCode::kInternal:
      return "internal";
  }
  Abort("unknown ErrorCode");
}

std::string Error::ToString() const { return where.empty() ? message : where + ": " + message; }

Error InvalidInput(std::string message, std::string where) {
  return Make(ErrorCode::kInvalidInput, std::move(message), std::move(where));
}
Error NotFound(std::string message, std::string where) {
  return Make(ErrorCode::kNotFound, std::move(message), std::move(where));
}
Error IoError(std::string message, std::string where) {
  return Make(ErrorCode::kIo, std::move(message), std::move(where));
}
Error IoErrorFromErrno(std::string message, int error_number, std::string where) {
  message += ": ";
  message += std::strerror(error_number);
  return Make(ErrorCode::kIo, std::move(message), std::move(where));
}
Error ProcessError(std::string message, std::string where) {
  return Make(ErrorCode::kProcess, std::move(message), std::move(where));
}
Error TimeoutError(std::string message, std::string where) {
  return Make(ErrorCode::kTimeout, std::move(message), std::move(where));
}
Error Unsupported(std::string message, std::string where) {
  return Make(ErrorCode::kUnsupported, std::move(message), std::move(where));
}
Error IntegrityError(std::string message, std::string where) {
  return Make(ErrorCode::kIntegrity, std::move(message), std::move(where));
}
Error InternalError(std::string message, std::string where) {
  return Make(ErrorCode::kInternal, std::move(message), std::move(where));
}

void Abort(std::string_view message) {
  std::fprintf(stderr, "rharness: internal error: %.*s\n", static_cast<int>(message.size()),
               message.data());
  std::abort();
}

}  // namespace rharness
