#include "app/shard_ledger.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ShardLedgerTest : public testing::Test {
 protected:
  static void record(const ShardLedger& shard, const std::string& name) {
    ledger::Ledger ledger(shard.choice().file);
    ledger.record_settings({"rank 2"});
    ledger::LedgerChanges changes;
    changes.done.push_back({.output = name + ".png",
                            .input = "/in/" + name,
                            .settings = ledger::settings_hash("rank 2"),
                            .state = {.size = 1, .mtime_ns = 2, .inode = 3},
                            .bytes = 4,
                            .root_length = 4});
    ledger.record(changes);
  }
  static std::vector<std::string> outputs(const fs::path& file) {
    const auto ledger = ledger::Ledger::open_read_only(file);
    return ledger ? ledger->outputs_after("", 100) : std::vector<std::string>();
  }
  std::vector<fs::path> published() const { return shard_ledgers(out_.path(), kShard); }

  const ShardId kShard{.manifest = "0123456789abcdef", .index = 3};
  const test::TempFolder out_;
  const fs::path folder_ = shards_folder(out_.path()) / kShard.manifest;
};

TEST_F(ShardLedgerTest, begins_with_what_another_process_published) {
  EXPECT_THAT(published(), IsEmpty());
  {
    ShardLedger first(out_.path(), kShard);
    first.publish();
    EXPECT_THAT(published(), IsEmpty()) << "nothing was recorded";
    record(first, "a");
    first.publish();
  }
  ASSERT_THAT(published(), SizeIs(1));
  EXPECT_THAT(outputs(published()[0]), ElementsAre("a.png"));
  const ShardLedger second(out_.path(), kShard);
  EXPECT_THAT(outputs(second.choice().file), ElementsAre("a.png"));
  const ShardLedger other(out_.path(), {.manifest = kShard.manifest, .index = 33});
  EXPECT_THAT(outputs(other.choice().file), IsEmpty());
}

/// As of two processes that work on one shard.
TEST_F(ShardLedgerTest, has_the_records_of_all_published_ones) {
  for (const char* name : {"a", "b"}) {
    const ShardId elsewhere{.manifest = kShard.manifest, .index = 4};
    ShardLedger one(out_.path(), elsewhere);
    record(one, name);
    one.publish();
    fs::rename(shard_ledgers(out_.path(), elsewhere)[0],
               folder_ / (std::string("3.") + name + ".db"));
  }
  ShardLedger shard(out_.path(), kShard);
  EXPECT_THAT(outputs(shard.choice().file), ElementsAre("a.png", "b.png"));
  record(shard, "c");
  shard.finish();
  ASSERT_THAT(published(), SizeIs(1)) << "it has all records";
  EXPECT_THAT(outputs(published()[0]), ElementsAre("a.png", "b.png", "c.png"));
  std::ifstream file(folder_ / "3.json");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            R"({"kind":"shard","manifest":"0123456789abcdef","shard":3,"done":3,"failed":0})"
            "\n");
}

TEST_F(ShardLedgerTest, begins_without_a_damaged_one) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "3.0.db") << "no database";
  ShardLedger shard(out_.path(), kShard);
  EXPECT_THAT(outputs(shard.choice().file), IsEmpty());
  record(shard, "a");
  shard.finish();
  EXPECT_TRUE(fs::exists(folder_ / "3.0.db")) << "its records are not in the other one";
}

}  // namespace
}  // namespace eckart::app
