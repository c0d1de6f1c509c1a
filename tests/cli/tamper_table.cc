// The table, and how each kind of tampering is done.
#include "tests/cli/tamper_table.h"

#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/model_bundle.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using enum Tamper;

constexpr char kVerdictFile[] = "out/attestations/same.verdict.intoto.jsonl";
constexpr char kOtherVerdict[] = "out/attestations/other.verdict.intoto.jsonl";
constexpr char kEndorsementFile[] = "policy.yaml.intoto.jsonl";
constexpr char kModelFile[] = "tiny.sigstore.json";
constexpr char kShardsFile[] = "sharded.sigstore.json";
constexpr char kNobody[] = "same.verdict.intoto.jsonl:1: no key of the policy has signed this";
constexpr char kNoEnvelope[] = "same.verdict.intoto.jsonl:1";
constexpr char kNobodyModel[] = "tiny.sigstore.json: no key of the policy has signed this";

constexpr TamperRow kVerdictRows[] = {
    {"a better verdict", kVerdictFile, kPayload, R"("verdict":"identical")",
     R"("verdict":"equivalent")", kNobody},
    {"another run", kVerdictFile, kPayload, R"("run_id":"same")", R"("run_id":"sane")", kNobody},
    {"another family", kVerdictFile, kPayload, R"("family":"tiny")", R"("family":"tina")", kNobody},
    {"another subject's name", kVerdictFile, kPayload, R"("name":"model.safetensors")",
     R"("name":"model.safetensor")", kNobody},
    {"another subject's digest", kVerdictFile, kPayload, R"("sha256":")", R"("sha256":"0)",
     kNobody},
    {"another declaration", kVerdictFile, kPayload, R"("declared":"bitwise")",
     R"("declared":"statistical")", kNobody},
    {"other evidence", kVerdictFile, kPayload, R"("evidence":)", R"("evidences":)", kNobody},
    {"another report", kVerdictFile, kPayload, R"("report":)", R"("reports":)", kNobody},
    {"another predicate", kVerdictFile, kPayload, "urn:rharness:verdict:v1",
     "urn:rharness:verdict:v2", kNobody},
    {"another statement type", kVerdictFile, kPayload, "in-toto.io/Statement/v1",
     "in-toto.io/Statement/v0", kNobody},
    {"a member more", kVerdictFile, kPayload, R"({"_type")", R"({"more":1,"_type")", kNobody},
    {"a blank in the payload", kVerdictFile, kPayload, R"({"_type")", R"( {"_type")", kNobody},
    {"another payload type", kVerdictFile, kText, "application/vnd.in-toto+json",
     "application/json", kNobody},
    {"no payload type", kVerdictFile, kText, R"("payloadType")", R"("payloadtype")", kNoEnvelope},
    {"a signature's first byte", kVerdictFile, kSignature, "first", "", "1 of the 2 keys"},
    {"a signature's last byte", kVerdictFile, kSignature, "last", "", "1 of the 2 keys"},
    {"a shorter signature", kVerdictFile, kSignature, "short", "", "1 of the 2 keys"},
    {"a signature of zeros", kVerdictFile, kSignature, "zeros", "", "1 of the 2 keys"},
    {"no signatures", kVerdictFile, kSignature, "none", "", "at least one signature"},
    {"a stranger's signature", kVerdictFile, kSignedBy, "same", "same", kNobody, 5, "eve"},
    {"one signature of two", kVerdictFile, kSignedBy, "same", "same",
     "same.verdict.intoto.jsonl:1: 1 of the 2 keys", 5, "ada"},
    {"a better verdict, signed by one who may", kVerdictFile, kSignedBy, R"("verdict":"identical")",
     R"("verdict":"equivalent")", "same.verdict.intoto.jsonl:1: 1 of the 2 keys", 5, "bob"},
    {"a member twice, signed by one who may", kVerdictFile, kSignedBy, R"("verdict":"identical")",
     R"("verdict":"drifted","verdict":"identical")", "same.verdict.intoto.jsonl:1", 5, "ada"},
    {"another run's statement in its place", kVerdictFile, kCopyOf, "", kOtherVerdict,
     "is about run 'other'; its name is that of another run's verdict"},
    {"cut short", kVerdictFile, kCut, "", "", kNoEnvelope},
    {"empty but for a line break", kVerdictFile, kCopyOf, "", "blank", "holds no envelope"},
    {"a second line of rubbish", kVerdictFile, kAppend, "", "{}\n",
     "same.verdict.intoto.jsonl:2: $.payloadType: is no envelope"},
    {"a byte behind it", kVerdictFile, kText, "]}\n", "]}]\n", kNoEnvelope},
    {"two payloads", kVerdictFile, kText, R"({"payload":)", R"({"payload":"e30=","payload":)",
     "same.verdict.intoto.jsonl:1: $: is no envelope: duplicate key 'payload'"},
    {"two lists of signatures", kVerdictFile, kText, R"("signatures":)",
     R"("signatures":[],"signatures":)",
     "same.verdict.intoto.jsonl:1: $: is no envelope: duplicate key 'signatures'"},
    {"junk in the base 64", kVerdictFile, kText, R"("payload":")", R"("payload":"*)",
     "is no base 64"},
    {"a line break in the base 64", kVerdictFile, kText, R"("payload":")", R"("payload":"\n)",
     "is no base 64"},
    {"the file is gone", kVerdictFile, kRemove, "", "", "is not there", 2},
};

constexpr TamperRow kSubjectRows[] = {
    {"weights changed", "registry/model.safetensors", kText, "abcd", "abce",
     "registry/model.safetensors: has sha256 "},
    {"weights longer", "registry/model.safetensors", kAppend, "", "x",
     "registry/model.safetensors: has sha256 "},
    {"weights gone", "registry/model.safetensors", kRemove, "", "", "registry/model.safetensors"},
    {"weights behind a link", "registry/model.safetensors", kLink, "", "",
     "registry/model.safetensors"},
    {"the manifest's seed", "registry/same.json", kText, R"("init": 1)", R"("init": 2)",
     "registry/same.json: has sha256 "},
    {"another run's manifest", "registry/same.json", kCopyOf, "", "runs/other.json",
     "registry/same.json: has sha256 "},
};

constexpr TamperRow kTrustRows[] = {
    {"a stranger's key under a known name", "ada.pub", kCopyOf, "", "eve.pub", "1 of the 2 keys"},
    {"a key whose time is over", "trust.yaml", kText, "public_key: ada.pub",
     "public_key: ada.pub, until: 2001-01-01", "'ada' signed, and holds until before"},
    {"a key whose time is to come", "trust.yaml", kText, "public_key: ada.pub",
     "public_key: ada.pub, from: 2090-01-01", "'ada' signed, and holds from"},
    {"a rule for other families", "trust.yaml", kText, "keys: [ada, bob], threshold: 2",
     "families: [\"llama*\"], keys: [ada, bob], threshold: 2",
     "no rule of the policy is for urn:rharness:verdict:v1 about family 'tiny'"},
    {"a rule for other statements", "trust.yaml", kText, "urn:rharness:verdict:*", "urn:other:*",
     "no rule of the policy is for urn:rharness:verdict:v1"},
    {"one key under two names", "ada.pub", kCopyOf, "", "bob.pub",
     "$.keys[1]: the key of 'ada', which would count twice", 2},
    {"a threshold that cannot be met", "trust.yaml", kText, "threshold: 2", "threshold: 3",
     "$.rules[0].threshold: 3; expected 1 to 2", 2},
    {"a key that there is not", "trust.yaml", kText, "[ada, bob], threshold",
     "[ada, carol], threshold", "$.rules[0].keys: 'carol' is none of the keys", 2},
    {"a member twice", "trust.yaml", kText, "version: 1", "version: 1\nversion: 1", "trust.yaml",
     2},
    {"a key that is none", "ada.pub", kCut, "", "", "$.keys[0].public_key", 2},
    {"cut short", "trust.yaml", kCut, "", "", "trust.yaml", 2},
};

constexpr TamperRow kFolderRows[] = {
    {"the first of two files", kOtherVerdict, kPayload, R"("verdict":"drifted")",
     R"("verdict":"identical")",
     "1 of 2 files is refused; the first: out/attestations/other.verdict.intoto.jsonl:1: no key"},
    {"the second of two files", kVerdictFile, kText, "payloadType", "payloadtype",
     "1 of 2 files is refused; the first: out/attestations/same.verdict.intoto.jsonl:1: $.pay"},
    {"a file that nobody signed", "out/attestations/a.intoto.jsonl", kCopyOf, "", "blank",
     "1 of 3 files is refused; the first: out/attestations/a.intoto.jsonl: holds no envelope"},
};

// By one who may sign for families "toy*" alone.
constexpr TamperRow kShowRows[] = {
    {"another family, by who may sign for that", kVerdictFile, kSignedBy, R"("family":"tiny")",
     R"("family":"toy-x")", "signed for run same of family 'toy-x'; the manifest is of run same", 5,
     "eve"},
    {"one signature of two", kVerdictFile, kSignedBy, "same", "same", "1 of the 2 keys", 5, "ada"},
    {"the heads of the log are gone", "log/heads.jsonl", kRemove, "", "",
     "nobody signed a head of the log", 1},
    {"the log's digest of its manifest", "log/entries.jsonl", kText, R"("sha256":")",
     R"("sha256":"0)", "is not in its place"},
};

constexpr TamperRow kModelsRows[] = {
    {"a bundle cut short", "models/tiny.sigstore.json", kCut, "", "",
     "1 of 2 files is refused; the first: models/tiny.sigstore.json: byte"},
    {"two envelopes in a bundle", "models/tiny.sigstore.json", kText, R"("dsseEnvelope":)",
     R"("dsseEnvelope":{},"dsseEnvelope":)", "duplicate key 'dsseEnvelope'"},
    {"a bundle that is none", "models/tiny.sigstore.json", kCopyOf, "", "blank",
     "models/tiny.sigstore.json"},
    {"another bundle that is none", "models/other.sigstore.json", kCopyOf, "", "blank",
     "1 of 3 files is refused; the first: models/other.sigstore.json"},
};

constexpr TamperRow kEndorsementRows[] = {
    {"another reason", kEndorsementFile, kPayload, R"("reason":"reviewed")",
     R"("reason":"reviewed twice")", "policy.yaml.intoto.jsonl:1: no key of the policy"},
    {"another digest", kEndorsementFile, kPayload, R"("sha256":")", R"("sha256":"0)",
     "policy.yaml.intoto.jsonl:1: no key of the policy"},
    {"made at another time", kEndorsementFile, kPayload, R"("made":"20)", R"("made":"19)",
     "policy.yaml.intoto.jsonl:1: no key of the policy"},
    {"made in the future, signed by one who may", kEndorsementFile, kSignedBy, R"("made":"20)",
     R"("made":"29)", "policy.yaml.intoto.jsonl:1: was said at 29", 5, "ada"},
    {"no time, signed by one who may", kEndorsementFile, kSignedBy, R"("made":)", R"("mode":)",
     "policy.yaml.intoto.jsonl:1: $.predicate", 5, "ada"},
    {"signed by a stranger", kEndorsementFile, kSignedBy, "reviewed", "reviewed",
     "policy.yaml.intoto.jsonl:1: no key of the policy", 5, "eve"},
    {"the policy", "policy.yaml", kText, "math_*", "*", "policy.yaml: has sha256 "},
};

constexpr TamperRow kGateRows[] = {
    {"a policy that allows more", "policy.yaml", kText, "math_*", "*", "policy.yaml: has sha256 "},
    {"nobody answers for the policy", kEndorsementFile, kRemove, "", "",
     "policy.yaml: nobody has signed it"},
    {"under another name, signed by one who may", kEndorsementFile, kSignedBy,
     R"("name":"policy.yaml")", R"("name":"policy.yml")",
     "policy.yaml: was signed as 'policy.yml', with this content", 5, "ada"},
    {"a baseline that holds longer", "base/baseline.jsonl", kText, R"("expires":"2091)",
     R"("expires":"2191)", "base/baseline.jsonl: has sha256 "},
    {"a baseline that somebody else accepted", "base/baseline.jsonl", kText, "ada", "bob",
     "base/baseline.jsonl: has sha256 "},
    {"a fingerprint that nobody accepted", "base/baseline.json", kCopyOf, "", "b.json",
     "base/baseline.json"},
    {"nobody answers for the baseline", "base/baseline.jsonl.intoto.jsonl", kRemove, "", "",
     "base/baseline.jsonl: nobody has signed it"},
    {"the baseline's signature for the policy", kEndorsementFile, kCopyOf, "",
     "base/baseline.jsonl.intoto.jsonl", "policy.yaml: has sha256 "},
};

constexpr TamperRow kModelRows[] = {
    {"another file's digest", kModelFile, kPayload, R"("digest":")", R"("digest":"0)",
     kNobodyModel},
    {"a file left out", kModelFile, kPayload, R"("name":"a/z")", R"("name":"a/y")", kNobodyModel},
    {"a file ignored", kModelFile, kPayload, R"(".gitignore")", R"(".gitignore","a")",
     kNobodyModel},
    {"links allowed", kModelFile, kPayload, R"("allow_symlinks":false)", R"("allow_symlinks":true)",
     kNobodyModel},
    {"other tensors", kModelFile, kPayload, R"("tensors":1)", R"("tensors":2)", kNobodyModel},
    {"a hint at another key", kModelFile, kText, R"("hint":"0)", R"("hint":"1)",
     "tiny.sigstore.json: its publicKey.hint is 1"},
    {"another media type", kModelFile, kText, "bundle.v0.3+json", "bundle.v0.2+json",
     "tiny.sigstore.json: $.mediaType"},
    {"a certificate", kModelFile, kText, R"("publicKey":)", R"("certificate":{},"publicKey":)",
     "certificates are not verified here"},
    {"an entry of a log", kModelFile, kText, R"("tlogEntries":[])", R"("tlogEntries":[{}])",
     "entries of a log are not verified here"},
    {"a second signature", kModelFile, kText, R"("signatures":[)",
     R"("signatures":[{"sig":"e30="},)", "2 signatures; expected one"},
    {"a member twice", kModelFile, kText, R"({"mediaType":)", R"({"mediaType":"","mediaType":)",
     "tiny.sigstore.json"},
    {"a stranger's signature", kModelFile, kSignedBy, "tiny", "tiny", kNobodyModel, 5, "eve"},
    {"a root of other files, signed by one who may", kModelFile, kSignedBy, R"("sha256":"9)",
     R"("sha256":"8)", "its resources have the root 965edd65", 5, "bob"},
    {"files out of order, signed by one who may", kModelFile, kSignedBy, R"("name":"a/z")",
     R"("name":"b")",
     "$.predicate.resources[1].name: is no model's signature: 'a.b' is there already, or", 5,
     "bob"},
    {"a file outside, signed by one who may", kModelFile, kSignedBy, R"("name":"a.b")",
     R"("name":"a/../../b")",
     "resources[1].name: is no model's signature: 'a/../../b'; expected a path below", 5, "bob"},
    {"another hash, signed by one who may", kModelFile, kSignedBy, R"("hash_type":"sha256")",
     R"("hash_type":"blake3")",
     "$.predicate.serialization.hash_type: is no model's signature: 'blake3'", 5, "bob"},
    {"cut short", kModelFile, kCut, "", "", "tiny.sigstore.json"},
    {"a byte of the weights", "tiny/model.safetensors", kText, "abcd", "abce",
     "tiny/model.safetensors: has sha256 "},
    {"a file more", "tiny/more", kCopyOf, "", "blank",
     "tiny/more: is none of the signed files of the model"},
    {"a file less", "tiny/a/z", kRemove, "", "", "tiny/a/z: is not there"},
    {"a file behind a link", "tiny/a.b", kLink, "", "", "tiny/a.b: is a symbolic link"},
    {"the model behind a link", "tiny", kLink, "", "", "tiny: is a symbolic link"},
    {"an empty file filled", "tiny/empty", kAppend, "", "x", "tiny/empty: has sha256 "},
};

constexpr TamperRow kTensorRows[] = {
    {"a tensor's byte", "copy.safetensors", kText, "abcd", "abce",
     "copy.safetensors: its 1 tensors have the digest "},
    {"a tensor's name", "copy.safetensors", kText, R"({"w")", R"({"v")",
     "copy.safetensors: its 1 tensors have the digest "},
    {"a tensor's type", "copy.safetensors", kText, "F32", "I32",
     "copy.safetensors: its 1 tensors have the digest "},
    {"a signature without tensors", kModelFile, kSignedBy, "urn:rharness:tensors:v1",
     "urn:rharness:tensors:v0", "says nothing of its tensors", 5, "bob"},
};

constexpr TamperRow kShardRows[] = {
    {"a shard's bytes", "tiny/model.safetensors", kText, "abcd", "abce",
     "tiny/model.safetensors:64:67: has sha256 "},
    {"a shard's digest", kShardsFile, kPayload, R"("digest":")", R"("digest":"0)",
     "sharded.sigstore.json: no key of the policy has signed this"},
    {"shards out of order, signed by one who may", kShardsFile, kSignedBy,
     R"("name":"model.safetensors:0:32")", R"("name":"model.safetensors:32:64")",
     "'model.safetensors:32:64' does not follow the shard before it", 5, "bob"},
    {"a shard of another size, signed by one who may", kShardsFile, kSignedBy, R"("shard_size":32)",
     R"("shard_size":33)", "'sha256-sharded-32'; expected sha256-sharded-33", 5, "bob"},
    {"a file that is longer", "tiny/a.b", kAppend, "", "x", "tiny/a.b:0:1: is not there"},
};

constexpr TamperRow kDrillRows[] = {
    {"a better verdict in the report", "out/report.json", kText, R"("verdict": "drifted")",
     R"("verdict": "identical")", "out/report.json: $.counts: expected 0 for 'drifted'", 2},
    {"another time in the report", "out/report.json", kText, R"("ended": "20)", R"("ended": "21)",
     "report.json: the report says "},
    {"evidence", "out/runs/other/1/evidence.json", kAppend, "", " ",
     "out/runs/other/1/evidence.json: is not the evidence that was journalled"},
    {"another run's evidence", "out/runs/other/1/evidence.json", kCopyOf, "",
     "out/runs/same/1/evidence.json",
     "out/runs/other/1/evidence.json: is not the evidence that was journalled"},
    {"evidence that the journal does not have", "out/journal.jsonl", kText, "evidence_sha256",
     "evidence_sha255", "journal"},
};

// What nobody signs, and by what nothing is decided (DSSE, protocol.md: keyid is a hint).
constexpr TamperRow kHarmlessRows[] = {
    {"another key's id", kVerdictFile, kText, R"("keyid":")", R"("keyid":"0)", "", 0},
    {"a member of the envelope more", kVerdictFile, kText, R"({"payload":)",
     R"({"more":1,"payload":)", "", 0},
    {"a blank line", kVerdictFile, kAppend, "", "\n", "", 0},
};

constexpr char kVerifyVerdict[] =
    "verify out/attestations/same.verdict.intoto.jsonl --trust trust.yaml --artifacts registry";
constexpr TamperGroup kGroups[] = {
    {"a verdict's statement", kVerifyVerdict, kVerdictRows},
    {"the files of a verdict", kVerifyVerdict, kSubjectRows},
    {"whom to trust", kVerifyVerdict, kTrustRows},
    {"a folder of statements", "verify out/attestations --trust trust.yaml", kFolderRows},
    {"a run's answer",
     "audit show same --history runs.db --log log --statements "
     "out/attestations/same.verdict.intoto.jsonl --trust weak.yaml --json",
     kShowRows},
    {"a folder of models", "verify models --trust trust.yaml", kModelsRows},
    {"an endorsement", "verify policy.yaml.intoto.jsonl --trust trust.yaml --artifacts policy.yaml",
     kEndorsementRows},
    {"the gate", "gate --baseline base --candidate b.json --policy policy.yaml --trust trust.yaml",
     kGateRows},
    {"a model", "verify tiny.sigstore.json --trust trust.yaml --artifacts tiny", kModelRows},
    {"a model's tensors", "verify tiny.sigstore.json --trust trust.yaml --tensors copy.safetensors",
     kTensorRows},
    {"a model by shards", "verify sharded.sigstore.json --trust trust.yaml --artifacts tiny",
     kShardRows},
    {"what a drill kept", "sign out --key ada.pem --out again", kDrillRows},
    {"what nobody signs", kVerifyVerdict, kHarmlessRows},
};

// Where the first `before` ends and the first '"' after it is.
std::pair<std::size_t, std::size_t> Quoted(const std::string& text, std::string_view before) {
  const auto begin = text.find(before);
  EXPECT_NE(begin, text.npos) << before;
  const auto start = begin + before.size();
  return {start, text.find('"', start) - start};
}

void Replace(std::string* text, std::string_view from, std::string_view to) {
  const auto at = text->find(from);
  ASSERT_NE(at, text->npos) << from << " in " << text->substr(0, 2000);
  text->replace(at, from.size(), to);
}

// A file's one envelope, which may be in a bundle.
SignedEnvelope EnvelopeIn(const std::string& text) {
  const auto json = ParseJson(text, "tampered");
  EXPECT_TRUE(json.ok());
  const auto envelope = IsBundle(*json) ? ReadEnvelope(*json->Find("dsseEnvelope"), "t", "$")
                                        : ParseEnvelope(text, "t");
  EXPECT_TRUE(envelope.ok());
  return *envelope;
}

std::string SignedAnew(const std::string& text, const TamperRow& row, Signer* signer) {
  SignedEnvelope envelope = EnvelopeIn(text);
  Replace(&envelope.payload, row.from, row.to);
  envelope.signatures.clear();
  EXPECT_TRUE(SignEnvelope(signer, &envelope).ok());
  const bool bundle = text.starts_with(R"({"mediaType")");
  return (bundle ? WriteBundle(envelope, signer->public_key()) : WriteEnvelope(envelope)) + "\n";
}

void TamperSignature(std::string* text, std::string_view what) {
  if (what == "none") {
    const auto at = text->find(R"("signatures":[)") + 14;
    text->erase(at, text->rfind(']') - at);
    return;
  }
  SignedEnvelope envelope = EnvelopeIn(*text);
  std::string& bytes = envelope.signatures[0].bytes;
  if (what == "first") bytes.front() = static_cast<char>(bytes.front() ^ 1);
  if (what == "last") bytes.back() = static_cast<char>(bytes.back() ^ 0x40);
  if (what == "short") bytes.pop_back();
  if (what == "zeros") bytes.assign(bytes.size(), '\0');
  *text = WriteEnvelope(envelope) + "\n";
}

void TamperPayload(std::string* text, const TamperRow& row) {
  const auto [begin, size] = Quoted(*text, R"("payload":")");
  std::string payload = EnvelopeIn(*text).payload;
  Replace(&payload, row.from, row.to);
  SignedEnvelope other{.payload_type = "t", .payload = payload, .signatures = {{"", "s"}}};
  const std::string written = WriteEnvelope(other);
  const auto [from, length] = Quoted(written, R"("payload":")");
  text->replace(begin, size, written.substr(from, length));
}

}  // namespace

std::span<const TamperGroup> TamperGroups() { return kGroups; }

void DoTamper(const fs::path& folder, const TamperRow& row, const TamperKeys& keys) {
  const fs::path path = folder / row.file;
  std::string text;
  if (row.how != kCopyOf && row.how != kLink) text = *ReadFile(path);
  const std::string before = text;
  switch (row.how) {
    case kText:
      Replace(&text, row.from, row.to);
      break;
    case kPayload:
      TamperPayload(&text, row);
      break;
    case kSignedBy:
      text = SignedAnew(text, row, keys.at(row.signer));
      break;
    case kSignature:
      TamperSignature(&text, row.from);
      break;
    case kRemove:
      fs::remove(path);
      return;
    case kLink:
      fs::rename(path, folder / "moved");
      fs::create_symlink(folder / "moved", path);
      return;
    case kCut:
      text.resize(text.size() / 2);
      break;
    case kAppend:
      text += row.to;
      break;
    case kCopyOf:
      text = *ReadFile(folder / row.to);
      break;
  }
  EXPECT_TRUE(row.how == kCopyOf || text != before) << "nothing was changed";
  ASSERT_TRUE(WriteFileAtomic(path, text).ok());
}

}  // namespace rharness
