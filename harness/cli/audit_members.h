// The members of what `rharness audit` prints as JSON, listed once: written and described.
#ifndef RHARNESS_HARNESS_CLI_AUDIT_MEMBERS_H_
#define RHARNESS_HARNESS_CLI_AUDIT_MEMBERS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/json_members.h"
#include "harness/trust/audit/audit.h"

namespace rharness {

template <class Io, Is<AcceptedKey> T>
void Members(Io& io, T& key) {
  io.Must("name", key.name, "Its name in the policy");
  io.Must("owner", key.owner, "Whose it is");
  io.Must("keyid", key.id, About("SHA-256 of the public key").Sha256());
}

template <class Io, Is<SeenHead> T>
void Members(Io& io, T& seen) {
  const TreeHead& head = seen.head;
  io.Must("where", seen.where, "The file, and the line of one of several");
  io.Must("tree_size", head.tree.size, About("Over how many entries it was signed").Least(1));
  io.Must("root_sha256", ToHex(head.tree.root), About("The root over them").Sha256());
  io.Time("time", head.time, "When, as who signed it said; RFC 3339");
  io.MustList("signed_by", seen.signed_by,
              "The keys of the trust policy that signed it; none without a policy");
}

template <class Io, Is<BadEntry> T>
void Members(Io& io, T& entry) {
  io.Must("index", entry.index, "Its place in the log");
  io.Must("kind", entry.kind, "What it is about; empty: not known");
  io.Must("name", entry.name, "Which one");
}

template <class Io, Is<HeldRecord> T>
void Members(Io& io, T& record) {
  io.Must("kind", record.kind, "What it is");
  io.Must("name", record.name, "Which one");
}

template <class Io, Is<ChangedException> T>
void Members(Io& io, T& one) {
  io.Must("index", one.index, "Of the entry");
  io.Must("kind", one.kind, About("What it is about").OneOf("waiver substitute"));
  io.Must("name", one.name, "Which one");
  io.Must("state", std::string(one.is_there ? "changed" : "gone"),
          About("changed: it says something else, which is not in the log; gone: it is in its "
                "policy no more")
              .OneOf("changed gone"));
}

struct AuditFault {
  std::string where;
  std::string message;
  std::optional<BadEntry> entry;
};

template <class Io, Is<AuditFault> T>
void Members(Io& io, T& fault) {
  io.Must("where", fault.where, "The file, and the line");
  io.Must("message", fault.message, "What is wrong with it");
  io.Object("entry", fault.entry,
            "The first entry that is not what it was; null where it is about none");
}

struct AuditDocument {
  const AuditOutcome& outcome;
  std::string log = {};

  std::optional<AuditFault> fault() const {
    if (!outcome.fault) return std::nullopt;
    return AuditFault{outcome.fault->where, outcome.fault->message, outcome.bad};
  }
};

inline constexpr int kMostMissingNamed = 100;

template <class Io, Is<AuditDocument> T>
void Members(Io& io, T& document) {
  const AuditOutcome& outcome = document.outcome;
  const CheckedLog& log = outcome.log;
  const bool holds = !outcome.fault.has_value();
  const auto named = std::min(outcome.missing.size(), std::size_t{kMostMissingNamed});
  io.Schema("rharness.audit", 1);
  io.Must("log", document.log, "The folder of the log");
  io.Must("holds", holds, "Nothing was changed");
  io.Object("fault", document.fault(), "What was changed, the first thing of all; null: nothing");
  io.OrNull(holds, "tree_size", log.tree.size, About("How many entries there are").Least(1));
  io.OrNull(holds, "root_sha256", ToHex(log.tree.root), About("The root over them").Sha256());
  io.Must("signed_entries", log.signed_entries(), "How many of them the newest head is over");
  io.MustList("heads", log.heads, "The heads of the log, the oldest first");
  io.MustList("kept", log.kept, "The heads of --head");
  io.Must("not_in_log", std::uint64_t{outcome.missing.size()},
          "How many records are there and not entered yet");
  io.MustList("first_not_in_log",
              std::vector(outcome.missing.begin(),
                          outcome.missing.begin() + static_cast<std::ptrdiff_t>(named)),
              About("The first of these").MostItems(kMostMissingNamed));
  io.MustList("exceptions", outcome.exceptions,
              "Waivers and substitutes where the policies contradict the last entry about them");
  io.Must("not_looked_at", outcome.not_looked_at,
          "Entries about what was not given, such as baselines");
  io.Must("unfinished", outcome.unfinished.has_value(),
          "An append is under way or was cut short; what it wrote is left out");
}

struct AppendedDocument {
  const Appended& done;
  std::string log = {};
};

template <class Io, Is<AppendedDocument> T>
void Members(Io& io, T& document) {
  const Appended& done = document.done;
  io.Schema("rharness.audit_appended", 1);
  io.Must("log", document.log, "The folder of the log");
  io.Must("added", done.added, "How many entries are new");
  io.Must("tree_size", done.tree.size, "How many there are now");
  io.Must("root_sha256", ToHex(done.tree.root), About("The root over them").Sha256());
  io.Must("signed", done.signed_now, "A head was signed now");
  io.Must("mended", done.mended, "What an append that was cut short had left was taken away first");
  io.Must("head", done.head,
          "The newest head: a DSSE envelope as text; null: none was ever signed");
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_AUDIT_MEMBERS_H_
