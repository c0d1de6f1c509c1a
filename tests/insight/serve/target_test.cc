// Addresses of requests, addresses to listen on, and Host headers: what is read, and what is not.
#include "harness/insight/serve/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string PathOf(std::string_view text) {
  const auto target = ParseTarget(text);
  return target.ok() ? target->path : "refused: " + target.error().message;
}

TEST(RequestTarget, IsAPathAndTheValuesBehindIt) {
  const auto target = ParseTarget("/search?q=a+b%2Bc&by=run&&t");
  ASSERT_TRUE(target.ok()) << target.error().ToString();
  EXPECT_EQ(target->path, "/search");
  EXPECT_THAT(target->query, ElementsAre(Pair("by", "run"), Pair("q", "a b+c"), Pair("t", "")));
  EXPECT_EQ(PathOf("/family/a%2Fb+c"), "/family/a/b+c") << "+ is a blank in a query alone";
  EXPECT_EQ(PathOf("/run/%C3%A9"), "/run/\xC3\xA9");
  EXPECT_EQ(PathOf("/%2e%2e/%2E%2E/etc/passwd"), "/../../etc/passwd") << "a name like any other";
}

TEST(RequestTarget, RefusesWhatIsNoPath) {
  for (const char* text : {"", "run/a", "*", "http://127.0.0.1/", "/a b", "/a#b"}) {
    EXPECT_THAT(PathOf(text), HasSubstr("refused")) << text;
  }
}

TEST(RequestTarget, RefusesEscapesThatAreNone) {
  for (const char* text : {"/%", "/%1", "/%zz", "/%2", "/?q=%f", "/?%g1=1", "/%%20", "/%u0041"}) {
    EXPECT_THAT(PathOf(text), HasSubstr("refused")) << text;
  }
}

TEST(RequestTarget, RefusesControlCharactersHoweverSpelled) {
  EXPECT_THAT(PathOf("/a%00"), HasSubstr("control character"));
  EXPECT_THAT(PathOf("/a%0d%0aSet-Cookie:x"), HasSubstr("control character"));
  EXPECT_THAT(PathOf("/?q=%7f"), HasSubstr("control character"));
  EXPECT_THAT(PathOf(std::string_view("/a\0b", 4)), HasSubstr("control character"));
}

TEST(RequestTarget, RefusesWhatIsNoUtf8) {
  // Lone and cut sequences, an overlong "/", a surrogate, and beyond U+10FFFF.
  for (const char* text : {"/%80", "/%c3", "/%e2%82", "/%c0%af", "/%e0%80%af", "/%ed%a0%80",
                           "/%f4%90%80%80", "/%ff", "/?q=%f8%88%80%80%80"}) {
    EXPECT_THAT(PathOf(text), HasSubstr("is not UTF-8")) << text;
  }
}

TEST(RequestTarget, HasALimit) {
  EXPECT_EQ(PathOf("/" + std::string(kMostTargetBytes - 1, 'a')).size(), kMostTargetBytes);
  EXPECT_THAT(PathOf("/" + std::string(kMostTargetBytes, 'a')), HasSubstr("longer"));
  std::string many = "/?";
  for (int i = 0; i < 16; ++i) many += "n" + std::to_string(i) + "&";
  EXPECT_EQ(PathOf(many), "/");
  EXPECT_THAT(PathOf(many + "one"), HasSubstr("too many values"));
  EXPECT_THAT(PathOf("/?a=1&a=2"), HasSubstr("twice"));
}

TEST(ListenAddress, IsAnAddressAndAPort) {
  const auto shown = [](std::string_view text) {
    const auto address = ParseListenAddress(text);
    if (!address.ok()) return std::string("refused");
    return address->ToString() + (address->loopback ? " loopback" : "");
  };
  EXPECT_EQ(shown("127.0.0.1:8780"), "127.0.0.1:8780 loopback");
  EXPECT_EQ(shown("127.8.0.1:0"), "127.8.0.1:0 loopback");
  EXPECT_EQ(shown("localhost:1"), "127.0.0.1:1 loopback");
  EXPECT_EQ(shown("[::1]:8780"), "[::1]:8780 loopback");
  EXPECT_EQ(shown("0.0.0.0:80"), "0.0.0.0:80");
  EXPECT_EQ(shown("[::]:80"), "[::]:80");
  EXPECT_EQ(shown("192.0.2.7:65535"), "192.0.2.7:65535");
  for (const char* text :
       {"", ":", "8780", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:8x", "127.1:80", "::1:80", "[::1]", "example.org:80", "[fe80::1%eth0]:80"}) {
    EXPECT_EQ(shown(text), "refused") << text;
  }
}

TEST(AllowedHosts, OnLoopbackAreTheAddressAndLocalhostAtThatPort) {
  const AllowedHosts hosts(*ParseListenAddress("127.0.0.1:8780"), {"drift.example.org"});
  for (const char* good : {"127.0.0.1:8780", "localhost:8780", "LocalHost:8780",
                           "drift.example.org", "Drift.Example.org:443"}) {
    EXPECT_TRUE(hosts.Admit(good)) << good;
  }
  for (const char* bad : {"", "127.0.0.1", "127.0.0.1:80", "localhost", "evil.example:8780",
                          "192.0.2.7:8780", "drift.example.org.evil.example", "drift.example.org:x",
                          "127.0.0.1:8780.evil.example", "[::1]:8780"}) {
    EXPECT_FALSE(hosts.Admit(bad)) << bad;
  }
}

TEST(AllowedHosts, ElsewhereAreAllAddressesAtThatPortAndNoName) {
  const AllowedHosts hosts(*ParseListenAddress("0.0.0.0:8780"), {});
  EXPECT_TRUE(hosts.Admit("192.0.2.7:8780"));
  EXPECT_TRUE(hosts.Admit("[2001:db8::1]:8780"));
  EXPECT_FALSE(hosts.Admit("192.0.2.7:80"));
  EXPECT_FALSE(hosts.Admit("localhost:8780"));
  EXPECT_FALSE(hosts.Admit("evil.example:8780"));
}

TEST(AllowedHosts, LeaveThePortOutWhereABrowserDoes) {
  const AllowedHosts hosts(*ParseListenAddress("127.0.0.1:80"), {});
  EXPECT_TRUE(hosts.Admit("127.0.0.1"));
  EXPECT_TRUE(hosts.Admit("localhost"));
  const AllowedHosts elsewhere(*ParseListenAddress("0.0.0.0:80"), {});
  for (const char* good : {"192.0.2.7", "192.0.2.7:80", "[2001:db8::1]", "[2001:db8::1]:80"}) {
    EXPECT_TRUE(elsewhere.Admit(good)) << good;
  }
  for (const char* bad : {"localhost", "evil.example", "192.0.2.7:8780", "[2001:db8::1", ""}) {
    EXPECT_FALSE(elsewhere.Admit(bad)) << bad;
  }
  EXPECT_FALSE(AllowedHosts(*ParseListenAddress("0.0.0.0:8780"), {}).Admit("192.0.2.7"));
}

TEST(HostNames, AreNamesAlone) {
  EXPECT_TRUE(CheckHostName("drift.example.org").ok());
  for (const char* bad : {"", "https://a.example", "a.example:80", "a b", "*", "a.example/"}) {
    EXPECT_FALSE(CheckHostName(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace rharness
