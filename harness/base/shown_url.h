// URLs as errors, logs and reports may say them.
#ifndef RHARNESS_HARNESS_BASE_SHOWN_URL_H_
#define RHARNESS_HARNESS_BASE_SHOWN_URL_H_

#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// The URL without what lets others in: its user and password go, and "***" takes the place of its
// fragment and of each value of its query, but for versionId's, which names what is meant. What a
// presigned URL is signed with is such a value. Other text stays as it is.
// Source: RFC 3986, section 3; AWS Signature Version 4, "Authenticating requests: query
// parameters".
std::string ShownUrl(std::string_view url);

// "https://ada:secret@host/x?token=y" without user, password and query: what a record may keep.
std::string WithoutCredentials(std::string_view url);

// The values that ShownUrl hides, of those of eight bytes and more: what a server's words must not
// repeat.
std::vector<std::string> HiddenValues(std::string_view url);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SHOWN_URL_H_
