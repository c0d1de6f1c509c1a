// URLs without secrets, for errors, logs and reports.
#ifndef RHARNESS_HARNESS_BASE_SHOWN_URL_H_
#define RHARNESS_HARNESS_BASE_SHOWN_URL_H_

#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// The URL without credentials: its user and password are dropped, and "***" replaces its fragment
// and each value of its query, except that of versionId, which names the object. The signature of a
// presigned URL is such a value. Other text is unchanged.
// Source: RFC 3986, section 3; AWS Signature Version 4, "Authenticating requests: query
// parameters".
std::string ShownUrl(std::string_view url);

// "https://ada:secret@host/x?token=y" without user, password and query: safe for records.
std::string WithoutCredentials(std::string_view url);

// The values of eight bytes or more that ShownUrl hides: messages must not repeat them.
std::vector<std::string> HiddenValues(std::string_view url);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SHOWN_URL_H_
