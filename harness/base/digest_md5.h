// MD5, for digests that other tools use as names. It is no pin: MD5 collisions can be made.
#ifndef RHARNESS_HARNESS_BASE_DIGEST_MD5_H_
#define RHARNESS_HARNESS_BASE_DIGEST_MD5_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// Incremental MD5 (RFC 1321). Not thread-safe; movable.
class Md5 {
 public:
  // Errors: unsupported if OpenSSL offers none, as in FIPS mode.
  static Result<Md5> Make();
  ~Md5();
  Md5(Md5&&) noexcept;
  Md5& operator=(Md5&&) noexcept;
  void Update(std::span<const std::byte> bytes);
  void Update(std::string_view text);
  std::string FinishHex();  // 32 lower-case hex digits; once

 private:
  struct State;
  explicit Md5(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Errors: those of Make.
Result<std::string> Md5HexOf(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_DIGEST_MD5_H_
