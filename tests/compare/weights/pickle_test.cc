// The restricted unpickler: pickles that CPython wrote, hostile ones, and each opcode's own rules.
#include "compare/weights/pickle.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/compare/weights/pickle_bytes.h"

namespace rharness {
namespace {

constexpr std::array<std::string_view, 3> kTable = {"collections OrderedDict", "_codecs encode",
                                                    "torch Size"};

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Result<Pickle> Parse(const std::string& bytes) { return ParsePickle(bytes, kTable, "f"); }

Pickle MustParse(const std::string& bytes) {
  auto pickle = Parse(bytes);
  EXPECT_TRUE(pickle.ok()) << pickle.error().ToString();
  return std::move(pickle).value();
}

void ExpectRefused(const std::string& bytes, ErrorCode code, std::size_t offset,
                   std::string_view text) {
  const auto pickle = Parse(bytes);
  ASSERT_FALSE(pickle.ok()) << text;
  EXPECT_EQ(pickle.error().code, code) << pickle.error().ToString();
  EXPECT_EQ(pickle.error().where, "f: byte " + std::to_string(offset)) << pickle.error().ToString();
  EXPECT_NE(pickle.error().message.find(text), std::string::npos) << pickle.error().ToString();
}

// pickle.dumps({'a': [1, -2, 300, 70000, 2**40, -2**63, 2**70, True, False, None],
//               'b': (1.5, 'é', b'\x00\xff'), 'c': ()}, 2) and the same with 4, by CPython 3.11.
const std::string kPlain2 = FromHex(
    "80027d71002858010000006171015d7102284b014afeffffff4d2c014a701101008a060000000000018a0800"
    "000000000000808a0900000000000000004088894e655801000000627103473ff80000000000005802000000"
    "c3a97104635f636f646563730a656e636f64650a7105580300000000c3bf710658060000006c6174696e3171"
    "0786710852710987710a580100000063710b29752e");
const std::string kPlain4 = FromHex(
    "8004955a000000000000007d94288c0161945d94284b014afeffffff4d2c014a701101008a06000000000001"
    "8a0800000000000000808a0900000000000000004088894e658c016294473ff80000000000008c02c3a99443"
    "0200ff9487948c01639429752e");
// pickle.dumps([{1}, frozenset([2]), bytearray(b'xy'), ('a', 'a')], 5)
const std::string kSets5 = FromHex(
    "80059524000000000000005d94288f94284b0190284b0291949602000000000000007879948c016194680486"
    "94652e");
// l = []; l.append(l); pickle.dumps(l, 2) and 4
const std::string kCycle2 = FromHex("80025d71006800612e");
const std::string kCycle4 = FromHex("80049506000000000000005d946800612e");
// d = OrderedDict([('k', 1)]); d.extra = 5; pickle.dumps(d, 2) and 4
const std::string kOrdered2 = FromHex(
    "800263636f6c6c656374696f6e730a4f726465726564446963740a71002952710158010000006b71024b0173"
    "7d71035805000000657874726171044b0573622e");
const std::string kOrdered4 = FromHex(
    "80049537000000000000008c0b636f6c6c656374696f6e73948c0b4f72646572656444696374949394295294"
    "8c016b944b01737d948c056578747261944b0573622e");

TEST(Pickle, ReadsThePlainValuesThatCPythonWrote) {
  for (const std::string& bytes : {kPlain2, kPlain4}) {
    const Pickle pickle = MustParse(bytes);
    const PickleId root = pickle.root();
    ASSERT_EQ(pickle.kind(root), PickleKind::kDict);
    ASSERT_EQ(pickle.Entries(root).size(), 6u);
    const auto list = pickle.Items(*pickle.Find(root, "a"));
    ASSERT_EQ(list.size(), 10u);
    const std::array<std::int64_t, 6> integers = {1,        -2, 300, 70000, std::int64_t{1} << 40,
                                                  INT64_MIN};
    for (std::size_t i = 0; i < integers.size(); ++i) EXPECT_EQ(pickle.Int(list[i]), integers[i]);
    EXPECT_EQ(pickle.kind(list[6]), PickleKind::kLong);
    EXPECT_EQ(pickle.Text(list[6]), std::string(8, '\0') + "@");
    EXPECT_TRUE(pickle.Bool(list[7]));
    EXPECT_FALSE(pickle.Bool(list[8]));
    EXPECT_EQ(pickle.kind(list[9]), PickleKind::kNone);
    const auto tuple = pickle.Items(*pickle.Find(root, "b"));
    ASSERT_EQ(tuple.size(), 3u);
    EXPECT_EQ(pickle.Float(tuple[0]), 1.5);
    EXPECT_EQ(pickle.Text(tuple[1]), "\xc3\xa9");
    EXPECT_EQ(pickle.kind(*pickle.Find(root, "c")), PickleKind::kTuple);
    EXPECT_FALSE(pickle.Find(root, "d"));
  }
  const Pickle pickle = MustParse(kPlain4);
  EXPECT_EQ(pickle.Text(pickle.Items(*pickle.Find(pickle.root(), "b"))[2]),
            std::string_view("\0\xff", 2));
}

TEST(Pickle, ReadsSetsBytesAndSharedValues) {
  const Pickle pickle = MustParse(kSets5);
  const auto items = pickle.Items(pickle.root());
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(pickle.kind(items[0]), PickleKind::kSet);
  EXPECT_EQ(pickle.Int(pickle.Items(items[0])[0]), 1);
  EXPECT_EQ(pickle.kind(items[1]), PickleKind::kSet);
  EXPECT_EQ(pickle.Text(items[2]), "xy");
  EXPECT_EQ(pickle.Items(items[3])[0], pickle.Items(items[3])[1]);
}

TEST(Pickle, KeepsAListThatContainsItselfAsOneValue) {
  for (const std::string& bytes : {kCycle2, kCycle4}) {
    const Pickle pickle = MustParse(bytes);
    ASSERT_EQ(pickle.Items(pickle.root()).size(), 1u);
    EXPECT_EQ(pickle.Items(pickle.root())[0], pickle.root());
  }
}

TEST(Pickle, KeepsACallAsItsCallableArgumentsEntriesAndState) {
  for (const std::string& bytes : {kOrdered2, kOrdered4}) {
    const Pickle pickle = MustParse(bytes);
    const PickleId root = pickle.root();
    ASSERT_EQ(pickle.kind(root), PickleKind::kObject);
    EXPECT_EQ(pickle.Global(pickle.Callable(root)), 0u);
    EXPECT_TRUE(pickle.Arguments(root).empty());
    EXPECT_EQ(pickle.Int(*pickle.Find(root, "k")), 1);
    EXPECT_EQ(pickle.Int(*pickle.Find(*pickle.State(root), "extra")), 5);
  }
  const Pickle pickle = MustParse(PickleOf(PGlobal("torch", "Size") + PInts({2, 3}) + "\x81"));
  EXPECT_EQ(pickle.Global(pickle.Callable(pickle.root())), 2u);
  EXPECT_EQ(pickle.Int(pickle.Arguments(pickle.root())[1]), 3);
  EXPECT_FALSE(pickle.State(pickle.root()));
}

TEST(Pickle, FindsTheLastOfEqualKeysAsPythonDoes) {
  const Pickle pickle = MustParse(PickleOf(PDict({{"a", "K\1"}, {"b", "K\2"}, {"a", "K\3"}})));
  EXPECT_EQ(pickle.Int(*pickle.Find(pickle.root(), "a")), 3);
  EXPECT_EQ(pickle.Entries(pickle.root()).size(), 6u);
}

// A name is a name: nothing is imported, and what would be called is written down.
TEST(Pickle, NamesGlobalsThatAreNotInTheTable) {
  for (const std::string& bytes :
       {PickleOf(PGlobal("os", "system") + PTuple({PStr("ls")}) + "R"),
        std::string("\x80\x04\x8c\x02os\x8c\x06system\x93") + PTuple({PStr("ls")}) + "R."}) {
    const Pickle pickle = MustParse(bytes);
    const PickleId callable = pickle.Callable(pickle.root());
    EXPECT_EQ(pickle.GlobalName(callable), "os.system");
    EXPECT_EQ(pickle.Global(callable), kTable.size());
    EXPECT_EQ(pickle.Text(pickle.Arguments(pickle.root())[0]), "ls");
  }
  ExpectRefused(PickleOf(PGlobal("a\xff", "b")), ErrorCode::kInvalidInput, 2, "not UTF-8");
}

TEST(Pickle, KeepsItemsKeywordsAndCallsOfCalls) {
  // deque([], 5) filled by APPENDS, then given a state.
  const std::string deque = PCall("collections", "deque", {"]", "K\5"}) + "(K\1K\2e" + "}b";
  const Pickle filled = MustParse(PickleOf(deque));
  ASSERT_EQ(filled.Items(filled.root()).size(), 2u);
  EXPECT_EQ(filled.Int(filled.Items(filled.root())[1]), 2);
  EXPECT_EQ(filled.kind(*filled.State(filled.root())), PickleKind::kDict);
  const Pickle keywords =
      MustParse(PickleOf(PGlobal("a", "B") + "(K\1t" + PDict({{"k", "K\7"}}) + "\x92"));
  EXPECT_EQ(keywords.Int(*keywords.Find(keywords.root(), "k")), 7);
  const Pickle twice = MustParse(PickleOf(PCall("builtins", "getattr", {"N"}) + ")R"));
  EXPECT_EQ(twice.kind(twice.Callable(twice.root())), PickleKind::kObject);
  // A tuple that holds itself: CPython drops what it had begun and fetches the first one.
  EXPECT_EQ(MustParse(PickleOf("NN0")).kind(0), PickleKind::kNone);
  EXPECT_EQ(MustParse(PickleOf("N(NN1")).size(), 3u);
}

TEST(Pickle, NamesTheOpcodesThatItDoesNotRead) {
  for (const auto& [byte, name] :
       std::vector<std::pair<std::string, std::string>>{{"2", "DUP"},
                                                        {"I1\n", "INT"},
                                                        {"S'a'\n", "STRING"},
                                                        {"i", "INST"},
                                                        {"o", "OBJ"},
                                                        {"p0\n", "PUT"},
                                                        {"P1\n", "PERSID"},
                                                        {"\x82", "EXT1"},
                                                        {"\x84", "EXT4"},
                                                        {"d", "DICT"},
                                                        {"\x97", "NEXT_"},
                                                        {"l", "LIST"},
                                                        {"\x98", "READONLY"},
                                                        {"V", "UNICODE"}}) {
    ExpectRefused("\x80\x02N" + byte + ".", ErrorCode::kUnsupported, 3, "opcode " + name);
  }
  ExpectRefused("\x80\x02\xff.", ErrorCode::kInvalidInput, 2, "0xff is no pickle opcode");
}

TEST(Pickle, RefusesWhatIsMalformed) {
  struct Row {
    std::string bytes;
    std::size_t offset;
    std::string_view text;
  };
  const auto invalid = ErrorCode::kInvalidInput;
  for (const Row& row : std::vector<Row>{
           {"", 0, "the pickle ends"},
           {"N.", 0, "expected PROTO"},
           {"\x80\x02", 2, "the pickle ends"},
           {"\x80\x02N\x80\x02.", 3, "in the middle"},
           {"\x80\x02.", 2, "0 values and 0 marks"},
           {"\x80\x02NN.", 4, "2 values"},
           {"\x80\x02N(.", 4, "1 marks"},
           {"\x80\x02N.N", 4, "1 bytes after STOP"},
           {"\x80\x02h\5.", 2, "memo entry 5"},
           {"\x80\x02q\5.", 2, "the stack is empty"},
           {"\x80\x02t.", 2, "no mark"},
           {"\x80\x02N(a.", 4, "the stack is empty"},
           {"\x80\x02N\x86.", 3, "1 values on the stack; expected 2"},
           {"\x80\x02X\xff\xff\xff\xff.", 2, "wants 4294967295 bytes"},
           {"\x80\x02X\1", 2, "wants 4 bytes"},
           {std::string("\x80\x02X\2\0\0\0\xc3(.", 10), 2, "not UTF-8"},
           {std::string("\x80\x02X\3\0\0\0\xed\xa0\x80.", 11), 2, "not UTF-8"},
           {"\x80\x02)Na.", 4, "adds items to a tuple; expected a list"},
           {"\x80\x02](NNu.", 6, "sets items of a list"},
           {"\x80\x02}(NNNu.", 7, "3 keys and values"},
           {"\x80\x02](N\x90.", 5, "adds items to a list; expected a set"},
           {"\x80\x02N)R.", 4, "calls None with a tuple"},
           {"\x80\x02" + PGlobal("a", "B") + ")N\x92.", 9, "keywords are None"},
           {"\x80\x02" + PGlobal("torch", "Size") + "NR.", 15, "calls a global with None"},
           {"\x80\x02}Nb.", 4, "sets the state of a dict"},
           {std::string("\x80\x02") + "ctorch", 2, "expected a line break"},
           {"\x80\x02NN\x93.", 4, "named by None"},
           {"\x80\x04\x95" + Little(100, 8) + "N.", 2, "of 100 bytes"}}) {
    ExpectRefused(row.bytes, invalid, row.offset, row.text);
  }
  ExpectRefused("\x80\x01N.", ErrorCode::kUnsupported, 0, "protocol 1; expected 2 to 5");
  ExpectRefused("\x80\x06N.", ErrorCode::kUnsupported, 0, "protocol 6");
}

TEST(Pickle, StandsNestingThatWouldOverflowARecursion) {
  constexpr std::size_t kDepth = 1'000'000;
  std::string bytes = "N";
  bytes.append(kDepth, '\x85');  // ((((None,),),),)
  const Pickle pickle = MustParse(PickleOf(bytes));
  EXPECT_EQ(pickle.size(), kDepth + 1);
  ExpectRefused(PickleOf(std::string(kMaxPickleMarks + 1, '(')), ErrorCode::kUnsupported,
                kMaxPickleMarks + 2, "open marks");
}

TEST(Pickle, LimitsValuesAndStack) {
  ExpectRefused(PickleOf("(" + std::string(kMaxPickleNodes + 1, 'N')), ErrorCode::kUnsupported,
                kMaxPickleNodes + 3, "more than 4194304 values");
}

TEST(Pickle, SurvivesEveryTruncationAndEveryChangedByte) {
  for (const std::string& whole : {kPlain2, kPlain4, kSets5, kOrdered2, kOrdered4, kCycle4}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto pickle = Parse(whole.substr(0, size));
      ASSERT_FALSE(pickle.ok()) << size;
      EXPECT_TRUE(pickle.error().where.starts_with("f: byte ")) << pickle.error().ToString();
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string changed = whole;
        changed[at] = static_cast<char>(value);
        const auto pickle = Parse(changed);
        if (!pickle.ok()) {
          ASSERT_TRUE(pickle.error().where.starts_with("f: byte "));
        }
      }
    }
  }
}

}  // namespace
}  // namespace rharness
