// libmicrohttpd, loaded when a server is started.
//
// Role: private to server.cc. rharness does not link to it, since it pulls in a TLS library that no
// other verb needs.
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_MICROHTTPD_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_MICROHTTPD_H_

#include <microhttpd.h>

#include "harness/base/result.h"

namespace rharness {

struct Microhttpd {
  decltype(&MHD_start_daemon) start = nullptr;
  decltype(&MHD_stop_daemon) stop = nullptr;
  decltype(&MHD_get_connection_values) headers = nullptr;
  decltype(&MHD_get_connection_info) info = nullptr;
  decltype(&MHD_create_response_from_buffer) response = nullptr;
  decltype(&MHD_add_response_header) add_header = nullptr;
  decltype(&MHD_queue_response) queue = nullptr;
  decltype(&MHD_destroy_response) destroy = nullptr;
};

// The same one for the life of the process. Errors: unsupported, with the package's name.
Result<const Microhttpd*> LoadMicrohttpd();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_MICROHTTPD_H_
