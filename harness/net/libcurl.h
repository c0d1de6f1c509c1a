// libcurl, loaded at the first request.
//
// Role: private to http.cc. rharness does not link to it, since it pulls in a directory, a Kerberos
// and an SSH client: imports from files need none of them.
#ifndef RHARNESS_HARNESS_NET_LIBCURL_H_
#define RHARNESS_HARNESS_NET_LIBCURL_H_

// Its type checks would bind to linked functions.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "harness/base/result.h"

namespace rharness {

struct Libcurl {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) init = nullptr;
  decltype(&curl_easy_setopt) setopt = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  decltype(&curl_easy_getinfo) getinfo = nullptr;
  decltype(&curl_easy_reset) reset = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  decltype(&curl_easy_strerror) strerror = nullptr;
  decltype(&curl_slist_append) append = nullptr;
  decltype(&curl_slist_free_all) free_list = nullptr;
};

// The same one for the life of the process. Errors: unsupported, which names the package.
Result<const Libcurl*> LoadLibcurl();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_NET_LIBCURL_H_
