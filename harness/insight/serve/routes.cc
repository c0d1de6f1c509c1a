// The table of pages.
#include "harness/insight/serve/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/log.h"
#include "harness/base/shown_url.h"
#include "harness/base/version.h"
#include "harness/insight/serve/pages.h"
#include "reports/site.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::string_view kIconPath = "/icon.svg";
constexpr std::string_view kIcon =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><rect width=\"16\" "
    "height=\"16\" rx=\"3\" fill=\"#17733f\"/><path d=\"M4 8.5l2.6 2.6L12 5.5\" fill=\"none\" "
    "stroke=\"#fff\" stroke-width=\"2\"/></svg>\n";
constexpr std::string_view kHtml = "text/html; charset=utf-8";

using Query = std::map<std::string, std::string>;

std::string ValueOf(const Query& query, const std::string& name) {
  const auto at = query.find(name);
  return at == query.end() ? "" : at->second;
}

// What a page is made of, once its address is read.
struct PageAsked {
  const PageInputs& inputs;
  const SiteFrame& frame;
  const PageMark& mark;
  const Query& query;
  const std::string& name;  // of the run or the family; else empty
};

template <class Model>
Result<std::string> Written(const Result<Model>& model, const SiteFrame& frame) {
  if (!model.ok()) return model.error();
  return WriteSite(*model, frame);
}

using PageMaker = Result<std::string> (*)(const PageAsked& asked);
struct Route {
  std::string_view path;
  std::string_view key;  // of a thing: its name in the query, if it is not in the path
  PageMaker make;
};

constexpr Route kRoutes[] = {
    {"/", "", [](const PageAsked& a) { return Written(BuildFleet(a.inputs), a.frame); }},
    {"/families", "",
     [](const PageAsked& a) { return Written(BuildFamilies(a.inputs, a.mark), a.frame); }},
    {"/family", "name",
     [](const PageAsked& a) { return Written(BuildFamily(a.inputs, a.name, a.mark), a.frame); }},
    {"/run", "id",
     [](const PageAsked& a) { return Written(BuildRun(a.inputs, a.name, a.mark), a.frame); }},
    {"/trends", "",
     [](const PageAsked& a) { return Written(BuildTrends(a.inputs, a.mark), a.frame); }},
    {"/trends/report", "",
     [](const PageAsked& a) {
       return Result<std::string>(WriteSite(BuildTrendsReport(a.inputs), a.frame));
     }},
    {"/search", "",
     [](const PageAsked& a) {
       const std::string by = ValueOf(a.query, "by");
       return Written(BuildSearch(a.inputs, ValueOf(a.query, "q"), by.empty() ? "any" : by, a.mark),
                      a.frame);
     }},
};

// The page at this path, and the name that the path has behind it.
const Route* RouteOf(const RequestTarget& target, std::string* name) {
  for (const Route& route : kRoutes) {
    if (target.path == route.path) {
      if (!route.key.empty() && !target.query.contains(std::string(route.key))) return nullptr;
      *name = ValueOf(target.query, std::string(route.key));
      return &route;
    }
    const std::string below = std::string(route.path) + "/";
    if (!route.key.empty() && target.path.starts_with(below) && target.path.size() > below.size()) {
      *name = target.path.substr(below.size());
      return &route;
    }
  }
  return nullptr;
}

std::string_view TitleOf(int status) {
  switch (status) {
    case 400:
      return "400 Bad request";
    case 404:
      return "404 Not found";
    case 405:
      return "405 Method not allowed";
    case 413:
      return "413 Content too large";
    case 414:
      return "414 Address too long";
    case 421:
      return "421 Not this server";
    case 503:
      return "503 Not now";
    default:
      return "500 Something is wrong";
  }
}

HttpResponse AnswerOf(int status, std::string_view type, std::string body,
                      std::string_view keep = "no-store") {
  HttpResponse answer;
  answer.status = status;
  answer.body = std::move(body);
  answer.headers = {{"Content-Type", std::string(type)},
                    {"Content-Security-Policy", std::string(kSitePolicy)},
                    {"X-Content-Type-Options", "nosniff"},
                    {"X-Frame-Options", "DENY"},
                    {"Referrer-Policy", "no-referrer"},
                    {"Cross-Origin-Opener-Policy", "same-origin"},
                    {"Cross-Origin-Resource-Policy", "same-origin"},
                    {"Cache-Control", std::string(keep)}};
  return answer;
}

// Constant while the server runs. A reader that has it gets 304 (RFC 9110, 13.1.2): its tag depends
// on the content.
HttpResponse KeptAnswer(const HttpRequest& request, std::string_view type, std::string_view body,
                        std::string_view keep) {
  const std::string tag = fmt::format("\"{}\"", Sha256HexOf(body).substr(0, 32));
  const std::string& held = request.if_none_match;
  const bool same = held == "*" || held.find(tag) != std::string::npos;
  HttpResponse answer = AnswerOf(same ? 304 : 200, type, same ? "" : std::string(body), keep);
  answer.headers.emplace_back("ETag", tag);
  return answer;
}

// The file's name, or the server and database: readers need not know the machine's folders.
std::string ShownHistory(const std::string& url) {
  if (url.find("://") == std::string::npos) return url.substr(url.find_last_of("/:") + 1);
  const std::string shown = ShownUrl(url);
  return shown.substr(0, shown.find('?'));
}

SiteFrame FrameOf(const std::string& history, const SiteCounted* counted) {
  SiteFrame frame{kVersion, history, {}};
  if (counted != nullptr && !counted->whole) {
    frame.notes.emplace_back(
        "Verdicts by week, and runs that are open by now, are still being counted.");
  }
  if (counted == nullptr || counted->files == nullptr) return frame;
  for (const SignedFile* file : counted->files->all()) {
    if (file->doubt.empty()) continue;
    frame.notes.push_back(fmt::format("Of {} nobody is named: {}. The log says more.",
                                      SafeText(file->name, 200), file->doubt));
  }
  return frame;
}

}  // namespace

Site::Site(SiteSettings settings)
    : settings_(std::move(settings)),
      shown_(ShownHistory(settings_.history)),
      browsers_(settings_.history) {}

HttpResponse Site::Problem(int status, std::string_view sentence) const {
  return AnswerOf(status, kHtml,
                  WriteSiteProblem(TitleOf(status), sentence, FrameOf(shown_, nullptr)));
}

HttpResponse Site::ProblemOf(const Error& error, std::string_view path) const {
  switch (error.code) {
    case ErrorCode::kNotFound:
      if (error.where.empty()) return Problem(404, error.message + ".");
      break;
    case ErrorCode::kInvalidInput:
      if (error.where.empty()) return Problem(400, error.message + ".");
      break;
    default:
      break;
  }
  LogError(fmt::format("{}: {}", path.substr(0, 200), error.ToString()));
  if (error.code == ErrorCode::kIntegrity) {
    return Problem(500, "The history's entry is not what was written; the log says more.");
  }
  if (error.code == ErrorCode::kUnsupported) {
    return Problem(503, fmt::format("This version cannot read the history: {}.", error.message));
  }
  HttpResponse answer = Problem(503, "The history cannot be read now; the log says why.");
  answer.headers.emplace_back("Retry-After", "5");
  return answer;
}

HttpResponse Site::Health() {
  auto browser = browsers_.Take();
  const Status status = [&]() -> Status {
    if (!browser.ok()) return browser.error();
    const auto last = (*browser)->LastSequence();
    return last.ok() ? Status() : Status(last.error());
  }();
  if (!status.ok()) {
    LogError("/healthz: " + status.error().ToString());
    return AnswerOf(503, "text/plain; charset=utf-8", "the history cannot be read\n");
  }
  browsers_.GiveBack(std::move(*browser));
  return AnswerOf(200, "text/plain; charset=utf-8",
                  settings_.counted()->trends_failed
                      ? "ok, but trends cannot be measured; the log says why\n"
                      : "ok\n");
}

HttpResponse Site::Page(const RequestTarget& target) {
  std::string name;
  const Route* route = RouteOf(target, &name);
  if (route == nullptr) return Problem(404, "There is no page at this address.");
  const Result<PageMark> mark = PageMarkOf(target.query);
  if (!mark.ok()) return ProblemOf(mark.error(), target.path);
  auto browser = browsers_.Take();
  if (!browser.ok()) {
    // Whatever is wrong, it is not the request.
    Error error = browser.error();
    if (error.code != ErrorCode::kUnsupported) error.code = ErrorCode::kIo;
    return ProblemOf(error, target.path);
  }
  const std::shared_ptr<const SiteCounted> counted = settings_.counted();
  const PageInputs inputs{**browser, *counted, settings_.now()};
  const SiteFrame frame = FrameOf(shown_, counted.get());
  const Result<std::string> page = route->make(
      {.inputs = inputs, .frame = frame, .mark = *mark, .query = target.query, .name = name});
  const bool asked_wrong = !page.ok() && (page.error().code == ErrorCode::kNotFound ||
                                          page.error().code == ErrorCode::kInvalidInput);
  if (page.ok() || asked_wrong) browsers_.GiveBack(std::move(*browser));
  return page.ok() ? AnswerOf(200, kHtml, *page) : ProblemOf(page.error(), target.path);
}

HttpResponse Site::Answer(const HttpRequest& request) {
  const auto closing = [](HttpResponse answer) {
    answer.close = true;
    return answer;
  };
  if (request.hosts.size() != 1) {
    return closing(Problem(400, "A request names one host; this one does not."));
  }
  if (!settings_.hosts.Admit(request.hosts.front())) {
    return closing(Problem(421, "This server has another name; its --host option says which."));
  }
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse answer = closing(Problem(405, "Pages are read here, and nothing else."));
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (request.has_body) return closing(Problem(413, "A request for a page has no content."));
  if (request.target.size() > kMostTargetBytes) {
    return closing(Problem(414, fmt::format("An address has {} bytes at most.", kMostTargetBytes)));
  }
  const Result<RequestTarget> target = ParseTarget(request.target);
  if (!target.ok()) return Problem(400, fmt::format("The address: {}.", target.error().message));
  constexpr std::string_view kForever = "public, max-age=31536000, immutable";
  if (target->path == SiteStylePath()) {
    return KeptAnswer(request, "text/css; charset=utf-8", SiteStyle(), kForever);
  }
  if (target->path == kIconPath) {
    return KeptAnswer(request, "image/svg+xml", kIcon, "public, max-age=86400");
  }
  return target->path == "/healthz" ? Health() : Page(*target);
}

}  // namespace rharness
