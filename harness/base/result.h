// The result of a function that can fail.
//
// An Error means that rharness could not do its own job. An Outcome is what a child process did,
// and a Verdict what the evidence shows; neither is ever an Error.
#ifndef RHARNESS_HARNESS_BASE_RESULT_H_
#define RHARNESS_HARNESS_BASE_RESULT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace rharness {

enum class ErrorCode {
  kInvalidInput,  // the caller's or a file's input breaks a stated rule
  kNotFound,      // a named thing does not exist
  kIo,            // the operating system refused a read or a write
  kProcess,       // a child process could not be started or watched
  kTimeout,       // an operation outlasted its limit
  kUnsupported,   // valid, but not handled by this version
  kIntegrity,     // bytes are not the expected bytes
  kInternal,      // a defect in rharness itself
};

// "invalid_input", "not_found", ...
std::string_view ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // the fault and what was expected
  std::string where;    // file, JSON path or byte offset; may be empty

  // "WHERE: MESSAGE", or the message alone.
  std::string ToString() const;
};

Error InvalidInput(std::string message, std::string where = {});
Error NotFound(std::string message, std::string where = {});
Error IoError(std::string message, std::string where = {});
// Appends ": " and strerror(error_number) to `message`.
Error IoErrorFromErrno(std::string message, int error_number, std::string where = {});
Error ProcessError(std::string message, std::string where = {});
Error TimeoutError(std::string message, std::string where = {});
Error Unsupported(std::string message, std::string where = {});
Error IntegrityError(std::string message, std::string where = {});
Error InternalError(std::string message, std::string where = {});

// Prints `message` to stderr and aborts: for broken invariants, never for input.
[[noreturn]] void Abort(std::string_view message);

// Either a T or an Error. Reading the value of an error aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->Checked(); }
  T&& operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->Checked(); }
  const Error& error() const& {
    if (ok()) Abort("error() of a Result that holds a value");
    return std::get<1>(state_);
  }

 private:
  T& Checked() {
    if (!ok()) Abort("value of a Result that holds an error: " + std::get<1>(state_).ToString());
    return std::get<0>(state_);
  }
  std::variant<T, Error> state_;
};

// Success without a value, or an Error. Default-constructed: success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    if (ok()) Abort("error() of a Status that holds success");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace rharness

#define RHARNESS_CONCAT_INNER(a, b) a##b
#define RHARNESS_CONCAT(a, b) RHARNESS_CONCAT_INNER(a, b)

// RETURN_IF_ERROR(status_expression);
#define RETURN_IF_ERROR(expression)                                   \
  do {                                                                \
    if (auto rharness_status = (expression); !rharness_status.ok()) { \
      return rharness_status.error();                                 \
    }                                                                 \
  } while (false)

// ASSIGN_OR_RETURN(auto value, result_expression);
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_INNER(RHARNESS_CONCAT(rharness_result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                   \
  if (!result.ok()) return result.error();                      \
  declaration = std::move(*result)

#endif  // RHARNESS_HARNESS_BASE_RESULT_H_
