// The page of each address, and the headers of its answer.
//
// Role: from a request to an answer. Not here: sockets (server.h), the content of pages (pages.h).
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_ROUTES_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_ROUTES_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "harness/insight/serve/browsers.h"
#include "harness/insight/serve/counts.h"
#include "harness/insight/serve/server.h"
#include "harness/insight/serve/target.h"

namespace rharness {

// For every answer: loads nothing but the site's own style, forbids frames, caches nothing, and
// sends no referrer to other sites. Source: Content Security Policy Level 3; OWASP Secure Headers
// Project.
inline constexpr std::string_view kSitePolicy =
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'";

struct SiteSettings {
  std::string history;  // its URL
  AllowedHosts hosts;
  std::function<WallTime()> now;
  std::function<std::shared_ptr<const SiteCounted>()> counted;
};

class Site {
 public:
  explicit Site(SiteSettings settings);

  // From any thread. Only GET and HEAD (405), for one of our Hosts (421), without a body (413),
  // with a valid address (400, 414) of a page (404). Trouble with the history is 503, changed
  // records 500; the reason goes to the log, never to a page.
  HttpResponse Answer(const HttpRequest& request);

 private:
  HttpResponse Page(const RequestTarget& target);
  HttpResponse Problem(int status, std::string_view sentence) const;
  HttpResponse ProblemOf(const Error& error, std::string_view path) const;
  HttpResponse Health();

  const SiteSettings settings_;
  const std::string shown_;  // the history, without its place
  Browsers browsers_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_ROUTES_H_
