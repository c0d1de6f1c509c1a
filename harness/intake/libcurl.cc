// Loading libcurl, by its name alone.
#include "harness/intake/libcurl.h"

#include <dlfcn.h>

#include <type_traits>

namespace rharness {
namespace {

Result<Libcurl> LoadFunctions() {
  void* library = nullptr;
  // The same interface, with one library for TLS or another.
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    return Unsupported("servers need libcurl.so.4 (of Debian's package libcurl4)");
  }
  Libcurl curl;
  bool whole = true;
  const auto find = [&](const char* symbol, auto* function) {
    *function =
        reinterpret_cast<std::remove_reference_t<decltype(*function)>>(::dlsym(library, symbol));
    whole = whole && *function != nullptr;
  };
  find("curl_global_init", &curl.global_init);
  find("curl_easy_init", &curl.init);
  find("curl_easy_setopt", &curl.setopt);
  find("curl_easy_perform", &curl.perform);
  find("curl_easy_getinfo", &curl.getinfo);
  find("curl_easy_reset", &curl.reset);
  find("curl_easy_cleanup", &curl.cleanup);
  find("curl_easy_strerror", &curl.strerror);
  find("curl_slist_append", &curl.append);
  find("curl_slist_free_all", &curl.free_list);
  if (!whole || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Unsupported("libcurl.so.4 cannot be used; expected that of Debian 12 or later");
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
