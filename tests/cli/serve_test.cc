// `rharness serve` as a program: pages, hostile requests, a drill meanwhile, and its end.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/cli/serve_program.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(ServeProgram, ShowsTheHistoryWhileADrillWritesToItAndEndsWithASignal) {
  RecordRuns(3);
  ASSERT_TRUE(Start()) << Log();
  EXPECT_EQ(Ask(port(), "/healthz").body, "ok\n");
  EXPECT_THAT(Ask(port(), "/").body, HasSubstr("3</b> <span>· not drilled"));
  std::thread drill([&] { EXPECT_EQ(Drill().outcome.exit_code, 0); });
  // Asked all the time until the drill's end is on the page.
  EXPECT_TRUE(Eventually([&] {
    const Reply page = Ask(port(), "/run/a");
    EXPECT_EQ(page.status, 200);
    return page.body.find("Last verdict: identical") != std::string::npos;
  }));
  drill.join();
  EXPECT_THAT(Ask(port(), "/family/tiny").body, HasSubstr("3 of 3 runs reproduced"));
  EXPECT_TRUE(Eventually([&] {  // counted beside the pages
    return Ask(port(), "/trends").body.find("3 identical") != std::string::npos;
  }));
  server().Signal(SIGTERM);
  const int status = server().Wait();
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0) << Log();
}

TEST_F(ServeProgram, ShowsWhatPeopleSignedBesideTheHistoryAndTellsWhenAFileChanges) {
  RecordRuns(1);
  Write("ada.pem", Ed25519Pem(kAdaSeed));
  std::filesystem::permissions(At("ada.pem"), std::filesystem::perms(0600));
  Write("ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic));
  Write("trust.yaml",
        "version: 1\nkeys:\n  - {name: ada, owner: Ada L., public_key: ada.pub}\nrules:\n"
        "  - {keys: [ada]}\n");
  Write("policy.yaml",
        "version: 1\nwaivers:\n  - {probes: 'jit_*', reason: known, signed_by: ada l., until: "
        "2099-12-31}\n");
  ASSERT_EQ(Run({kRharness, "sign", "policy.yaml", "--key", "ada.pem"}).outcome.exit_code, 0);
  const ProcessResult untrusted =
      Run({kRharness, "serve", "--history", "runs.db", "--policy", "policy.yaml"});
  EXPECT_EQ(untrusted.outcome.exit_code, 2);
  EXPECT_THAT(untrusted.stderr_text, HasSubstr("expected --trust"));
  ASSERT_TRUE(Start({"--policy", "policy.yaml", "--trust", "trust.yaml"})) << Log();
  const std::string page = Ask(port(), "/run/a").body;
  EXPECT_THAT(page, HasSubstr("What people answer for"));
  EXPECT_THAT(page, HasSubstr("Ada L."));
  Write("policy.yaml", Read(At("policy.yaml")) + "# changed\n");
  EXPECT_TRUE(Eventually([&] {  // looked at every few seconds
    return Ask(port(), "/run/a").body.find("Of policy.yaml nobody is named") != std::string::npos;
  })) << Log();
  EXPECT_THAT(Ask(port(), "/run/a").body, Not(HasSubstr("Ada L.")));
  EXPECT_THAT(Log(), HasSubstr("policy.yaml: has sha256"));
}

TEST_F(ServeProgram, AnswersTenThousandRequestsOfEveryKind) {
  RecordRuns(1);
  ASSERT_TRUE(Start()) << Log();
  const std::string host = "Host: 127.0.0.1:" + std::to_string(port()) + "\r\n";
  const std::string targets[] = {"/",
                                 "/run/a",
                                 "/run/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
                                 "/../../../../etc/passwd",
                                 "/%00",
                                 "/run/%ff%fe",
                                 "/search?q=%3Cscript%3Ealert(1)%3C/script%3E",
                                 "/family/tiny",
                                 "/" + std::string(3000, '%'),
                                 "/none"};
  const int wanted[] = {200, 200, 404, 404, 400, 400, 200, 200, 400, 404};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      auto client = std::make_unique<ByteClient>(port());
      for (int request = 0; request < 2500; ++request) {
        if (request % 100 == 99) client = std::make_unique<ByteClient>(port());
        const std::size_t kind = static_cast<std::size_t>(request) % std::size(targets);
        ASSERT_TRUE(client->Send("GET " + targets[kind] + " HTTP/1.1\r\n" + host + "\r\n"));
        const Reply reply = client->Read();
        ASSERT_EQ(reply.status, wanted[kind]) << targets[kind];
        ASSERT_EQ(reply.body.find("<script"), std::string::npos) << targets[kind];
        ASSERT_EQ(reply.body.find("root:x:0:"), std::string::npos) << targets[kind];
        ASSERT_THAT(reply.Header("content-security-policy"), HasSubstr("default-src 'none'"));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(Ask(port(), "/healthz").body, "ok\n");
  EXPECT_THAT(Log(), Not(HasSubstr("error")));
}

TEST_F(ServeProgram, WritesForNobodyAndAnswersOnlyToItsOwnName) {
  RecordRuns(1);
  ASSERT_TRUE(Start({"--host", "drift.example.org"})) << Log();
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"}) {
    const Reply reply = Ask(port(), "/run/a", method);
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_EQ(reply.Header("allow"), "GET, HEAD") << method;
  }
  const Reply head = Ask(port(), "/run/a", "HEAD");
  EXPECT_EQ(head.status, 200);
  const auto as = [&](const std::string& host) {
    ByteClient client(port());
    client.Send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.Read().status;
  };
  EXPECT_EQ(as("drift.example.org"), 200);
  EXPECT_EQ(as(fmt::format("localhost:{}", port())), 200);
  EXPECT_EQ(as("evil.example"), 421) << "a name that was made to lead here";
  EXPECT_EQ(as(fmt::format("evil.example:{}", port())), 421);
}

TEST_F(ServeProgram, SaysWhatItWillNotServe) {
  RecordRuns(1);
  const auto serve = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {kRharness, "serve"});
    const ProcessResult result = Run(std::move(options));
    EXPECT_EQ(result.outcome.exit_code, 2) << result.stderr_text;
    return result.stderr_text;
  };
  EXPECT_THAT(serve({"--history", "runs.db", "--listen", "0.0.0.0:0"}),
              HasSubstr("--allow-remote"));
  EXPECT_THAT(serve({"--history", "nowhere.db"}), HasSubstr("no such history"));
  EXPECT_FALSE(std::filesystem::exists(At("nowhere.db")));
  EXPECT_THAT(serve({"--history", "value"}), HasSubstr("value"));
  EXPECT_THAT(serve({"--history", "runs.db", "--host", "https://a"}), HasSubstr("no host name"));
  EXPECT_THAT(serve({"--history", "runs.db", "--listen", "example.org:80"}),
              HasSubstr("no address to listen on"));
}

TEST_F(ServeProgram, WarnsWhereOthersCanReachIt) {
  RecordRuns(1);
  ASSERT_TRUE(Start({"--allow-remote"})) << Log();
  EXPECT_THAT(Log(), Not(HasSubstr("warning"))) << "on loopback nobody does";
  Background open(
      {kRharness, "serve", "--history", "runs.db", "--listen", "0.0.0.0:0", "--allow-remote"},
      folder_.path(), environment_);
  EXPECT_TRUE(Eventually(
      [&] { return Log().find("can read this history, unencrypted") != std::string::npos; }));
}

// As root the rights of a folder mean nothing.
TEST_F(ServeProgram, SaysWhatToDoWhereTheFolderIsReadOnly) {
  RecordRuns(1);
  const std::vector<std::string> serve = {kRharness, "serve",    "--history",
                                          "runs.db", "--listen", "127.0.0.1:0"};
  std::vector<std::string> argv = serve;
  if (::geteuid() == 0) {
    argv.insert(argv.begin(), {"setpriv", "--reuid=65534", "--clear-groups"});
    if (!Run({"setpriv", "--reuid=65534", "--clear-groups", "test", "-x", kRharness})
             .outcome.Succeeded()) {
      GTEST_SKIP() << "no other user can run this build";
    }
  }
  ::chmod(folder_.path().c_str(), 0555);
  ::chmod(At("runs.db").c_str(), 0444);
  const ProcessResult result = Run(argv);
  ::chmod(folder_.path().c_str(), 0755);
  EXPECT_EQ(result.outcome.exit_code, 4) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stderr_text, HasSubstr("VACUUM INTO"));
}

}  // namespace
}  // namespace rharness
