// Loading libmicrohttpd, by its name alone.
#include "harness/insight/serve/microhttpd.h"

#include "harness/base/shared_library.h"

namespace rharness {
namespace {

Result<Microhttpd> LoadServerFunctions() {
  ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::Load("serving pages", "libmicrohttpd12",
                                                              {"libmicrohttpd.so.12"}));
  Microhttpd http;
  library.Find("MHD_start_daemon", &http.start);
  library.Find("MHD_stop_daemon", &http.stop);
  library.Find("MHD_get_connection_values", &http.headers);
  library.Find("MHD_get_connection_info", &http.info);
  library.Find("MHD_create_response_from_buffer", &http.response);
  library.Find("MHD_add_response_header", &http.add_header);
  library.Find("MHD_queue_response", &http.queue);
  library.Find("MHD_destroy_response", &http.destroy);
  RETURN_IF_ERROR(library.status());
  return http;
}

}  // namespace

Result<const Microhttpd*> LoadMicrohttpd() {
  static const Result<Microhttpd> http = LoadServerFunctions();
  if (!http.ok()) return http.error();
  return &*http;
}

}  // namespace rharness
