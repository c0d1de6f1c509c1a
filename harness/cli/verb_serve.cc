// rharness serve: the history as pages for a browser.
#include <fmt/format.h>

#include <memory>

#include "harness/base/log.h"
#include "harness/cli/history_place.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/verb.h"
#include "harness/history/location.h"
#include "harness/insight/serve/counts.h"
#include "harness/insight/serve/routes.h"
#include "harness/insight/serve/server.h"

namespace rharness {
namespace {

struct ServeArguments {
  std::string history;
  std::string listen = "127.0.0.1:8780";
  std::vector<std::string> hosts;
  bool remote = false;
  SiteFilesAsked files;
};

Result<ListenAddress> AddressOf(const ServeArguments& arguments) {
  ASSIGN_OR_RETURN(ListenAddress address, ParseListenAddress(arguments.listen));
  if (address.loopback) return address;
  if (!arguments.remote) {
    return InvalidInput(
        fmt::format("{} is open to other machines, and these pages have no login; give "
                    "--allow-remote, too, or listen on 127.0.0.1 behind a proxy with one",
                    address.ToString()));
  }
  LogWarning(
      fmt::format("anybody who reaches {} can read this history, unencrypted", address.ToString()));
  return address;
}

Result<int> Serve(const ServeArguments& arguments) {
  ASSIGN_OR_RETURN(const ListenAddress asked, AddressOf(arguments));
  for (const std::string& name : arguments.hosts) RETURN_IF_ERROR(CheckHostName(name));
  ASSIGN_OR_RETURN(const std::string place, HistoryAt(arguments.history));
  ASSIGN_OR_RETURN(const std::string history, ResolveHistoryUrl(place));
  RETURN_IF_ERROR(CheckSiteFiles(arguments.files));
  // Before anything listens: what is wrong with it is told at once.
  ASSIGN_OR_RETURN(auto first, HistoryBrowser::Open(history));
  first.reset();
  ASSIGN_OR_RETURN(Listener listener, Listener::Bind(asked));
  const ListenAddress address = listener.address();
  CountInterrupts();
  SiteCounter counter(history, arguments.files);
  Site site({.history = history,
             .hosts = AllowedHosts(address, arguments.hosts),
             .now = [] { return SystemClock().Now(); },
             .counted = [&counter] { return counter.Current(); }});
  ASSIGN_OR_RETURN(const auto server,
                   HttpServer::Start(std::move(listener), {}, [&site](const HttpRequest& request) {
                     return site.Answer(request);
                   }));
  if (const int printed = Print(fmt::format("http://{}/\n", address.ToString())); printed != 0) {
    return printed;
  }
  while (!Interrupted()) SystemClock().SleepFor(std::chrono::milliseconds(100));
  return kExitOk;
}

void AddServeNotes(Command* verb) {
  verb->Note(
      "Pages: / the fleet, /families, /family/NAME, /run/ID (a run's whole life: verdicts and "
      "their reasons, what changed when they did, who signed, what was recorded), /trends, "
      "/search?q=TEXT (part of a run's, a family's or an image's name, or the beginning of a "
      "commit), and /healthz, which prints ok while the history can be read, and says where trends "
      "cannot be measured. There is no page that writes, and no script.");
  verb->Note(
      "Requests are answered when their Host is the listening address, or localhost, or a name "
      "that --host gives: a foreign page cannot make a browser read these. Use a proxy in front "
      "for encryption and passwords (`rharness help guide insight`).");
  verb->Note(
      "New verdicts of drills are on the next page; verdicts by week and trends follow within "
      "minutes. An SQLite history is opened only for reading, but its folder must be writable "
      "(SQLite keeps its index of the log there), or a writer must have it open; for a read-only "
      "one, serve a copy: sqlite3 runs.db \"VACUUM INTO '/tmp/copy.db'\".");
  verb->Note(
      "With --policy and --baseline a run's page has the waivers, substitutes and baselines that "
      "concern it, read from these files every few seconds and held to the signatures beside them "
      "(rharness sign FILE) by --trust. Where one does not hold nobody is named, every page says "
      "so, and the log says why.");
  verb->ExitCode(kExitOk, "ended by SIGINT or SIGTERM");
  verb->ExitCode(kExitUsage, "usage, no such history, or libmicrohttpd is not installed");
  verb->ExitCode(kExitInfrastructure, "the address or the history is not available");
  verb->ExitCode(kExitIntegrity, "integrity");
  verb->Example("rharness serve --history runs.db");
  verb->Example(
      "rharness serve --history runs.db --listen 127.0.0.1:9000 --host drift.example.org");
  verb->Example(
      "rharness serve --history runs.db --policy policy.yaml --baseline baseline --trust "
      "trust.yaml");
}

}  // namespace

void AddServe(Command& root) {
  auto arguments = std::make_shared<ServeArguments>();
  Command& verb = root.AddVerb("serve", "Serve read-only pages over the history");
  verb.Describe(
      "Serves a history as plain pages over HTTP, on this machine alone unless told otherwise, and "
      "prints their address. Nothing is written to the history. Ends with SIGINT or SIGTERM.");
  AddHistoryOption(&verb, &arguments->history, "Store to show").Required();
  verb.Add("--listen", &arguments->listen, "Address and port; port 0 takes a free one")
      .Value("ADDRESS:PORT")
      .ShowDefault();
  verb.Add("--host", &arguments->hosts,
           "Name under which a proxy or a name server reaches this server")
      .OneEach()
      .Value("NAME");
  verb.Add("--allow-remote", &arguments->remote,
           "Listen on an address that other machines can reach");
  verb.Heading("Signed files beside the history");
  verb.Add("--policy", &arguments->files.policies,
           "Policy whose waivers and substitutes the pages of runs show; repeatable")
      .File()
      .Env("RHARNESS_POLICY")
      .OneEach();
  verb.Add("--baseline", &arguments->files.baselines,
           "Folder of an accepted baseline (rharness gate baseline) that they show; repeatable")
      .Folder()
      .OneEach();
  verb.Add("--trust", &arguments->files.trust,
           "Trust policy of their signatures (rharness verify --help)")
      .File();
  AddServeNotes(&verb);
  verb.Do([arguments] {
    const auto code = Serve(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
