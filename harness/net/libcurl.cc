// Loading libcurl, by its name alone.
#include "harness/net/libcurl.h"

#include "harness/base/shared_library.h"

namespace rharness {
namespace {

Result<Libcurl> LoadFunctions() {
  // The same interface, with one library for TLS or another.
  ASSIGN_OR_RETURN(SharedLibrary library,
                   SharedLibrary::Load("talking to a server", "libcurl4",
                                       {"libcurl.so.4", "libcurl-gnutls.so.4"}));
  Libcurl curl;
  library.Find("curl_global_init", &curl.global_init);
  library.Find("curl_easy_init", &curl.init);
  library.Find("curl_easy_setopt", &curl.setopt);
  library.Find("curl_easy_perform", &curl.perform);
  library.Find("curl_easy_getinfo", &curl.getinfo);
  library.Find("curl_easy_reset", &curl.reset);
  library.Find("curl_easy_cleanup", &curl.cleanup);
  library.Find("curl_easy_strerror", &curl.strerror);
  library.Find("curl_slist_append", &curl.append);
  library.Find("curl_slist_free_all", &curl.free_list);
  RETURN_IF_ERROR(library.status());
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Unsupported("libcurl.so.4 cannot be started");
  }
  return curl;
}

}  // namespace

Result<const Libcurl*> LoadLibcurl() {
  static const Result<Libcurl> curl = LoadFunctions();
  if (!curl.ok()) return curl.error();
  return &*curl;
}

}  // namespace rharness
