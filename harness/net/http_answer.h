// The answer to one request: where it goes, and why it was cut off.
//
// Role: private to http.cc: the functions that libcurl calls.
#ifndef RHARNESS_HARNESS_NET_HTTP_ANSWER_H_
#define RHARNESS_HARNESS_NET_HTTP_ANSWER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "harness/net/http.h"
#include "harness/net/libcurl.h"

namespace rharness {

struct HttpAnswer {
  std::uint64_t most_bytes = 0;
  std::uint64_t bytes = 0;
  bool too_long = false;
  bool cancelled = false;
  // For an unusable answer (not 200): enough of it was read, or it took too long.
  bool read_enough = false;
  std::chrono::milliseconds most_time_of_an_error{0};
  const std::function<bool()>* should_cancel = nullptr;
  const std::function<void(std::string_view)>* take = nullptr;  // of a file whose request succeeded
  HttpHeaders* headers = nullptr;                               // where they are asked for
  const Libcurl* curl = nullptr;
  CURL* handle = nullptr;
  std::string text;

  long StatusCode() const;
};

// For the return values see libcurl's CURLOPT_WRITEFUNCTION, HEADERFUNCTION and XFERINFOFUNCTION;
// `user` is an HttpAnswer.
std::size_t TakeHttpPiece(char* data, std::size_t size, std::size_t count, void* user);
std::size_t TakeHttpHeader(char* data, std::size_t size, std::size_t count, void* user);
int AskWhetherToGoOn(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

// A server's error message: "message", "detail" or "error" of a JSON object, "message" of its
// "error", the texts of its "errors", or Code and Message of the XML of S3. Empty if there is none.
std::string MessageIn(const std::string& text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_NET_HTTP_ANSWER_H_
