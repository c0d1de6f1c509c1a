// Which address is which page, and with which headers it goes out.
//
// Role: from a request to an answer. Not here: sockets (server.h), what pages say (pages.h).
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

// Of an answer of any kind: nothing but the site's own style is loaded, nobody frames it, nothing
// is kept, and no other site is told where a reader came from.
// Source: Content Security Policy Level 3; OWASP Secure Headers Project.
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

  // From any thread. GET and HEAD alone (405), of a Host that is ours (421), without a body (413),
  // of an address that is one (400, 414) and of a page (404). Trouble with the history is 503, what
  // was changed in it 500, and the log is told why; a page never is.
  HttpResponse Answer(const HttpRequest& request);

 private:
  HttpResponse Page(const RequestTarget& target);
  HttpResponse Problem(int status, std::string_view sentence) const;
  HttpResponse ProblemOf(const Error& error, std::string_view path) const;
  HttpResponse Health();

  const SiteSettings settings_;
  const std::string shown_;  // the history, without where it lies
  Browsers browsers_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_ROUTES_H_
