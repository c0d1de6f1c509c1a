// Loading libmicrohttpd, by its name alone.
#include "harness/serve/microhttpd.h"

#include <dlfcn.h>

#include <type_traits>

namespace rharness {
namespace {

Result<Microhttpd> LoadServerFunctions() {
  void* library = ::dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Unsupported(
        "serving pages needs libmicrohttpd.so.12 (of Debian's package "
        "libmicrohttpd12)");
  }
  Microhttpd http;
  bool whole = true;
  const auto find = [&](const char* symbol, auto* function) {
    *function =
        reinterpret_cast<std::remove_reference_t<decltype(*function)>>(::dlsym(library, symbol));
    whole = whole && *function != nullptr;
  };
  find("MHD_start_daemon", &http.start);
  find("MHD_stop_daemon", &http.stop);
  find("MHD_get_connection_values", &http.headers);
  find("MHD_get_connection_info", &http.info);
  find("MHD_create_response_from_buffer", &http.response);
  find("MHD_add_response_header", &http.add_header);
  find("MHD_queue_response", &http.queue);
  find("MHD_destroy_response", &http.destroy);
  if (!whole) {
    return Unsupported("libmicrohttpd.so.12 cannot be used; expected that of Debian 12 or later");
  }
  return http;
}

}  // namespace

Result<const Microhttpd*> LoadMicrohttpd() {
  static const Result<Microhttpd> http = LoadServerFunctions();
  if (!http.ok()) return http.error();
  return &*http;
}

}  // namespace rharness
