#include "bench/file_rates.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;

const FileLoad kLoad{.sizes = {5, 5000}, .files = 70, .threads = 3, .group = 8, .durable = true};

class FileRateTest : public ::testing::Test {
 protected:
  void expect_files_and_rate(const FileRate& written) {
    EXPECT_EQ(written.files, kLoad.files);
    EXPECT_GT(written.files_per_s(), 0);
    std::uintmax_t bytes = 0;
    std::int64_t files = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      ++files;
      bytes += entry.file_size();
    }
    EXPECT_EQ(files, kLoad.files);
    EXPECT_EQ(bytes, 35u * 5005u);
    EXPECT_EQ(measure_reading(folder_.path(), kLoad).files, kLoad.files);
    EXPECT_EQ(measure_source(folder_.path()).files, kLoad.files);
  }
  const test::TempFolder folder_;
};

TEST_F(FileRateTest, is_that_of_all_files_written_by_plain_calls) {
  expect_files_and_rate(measure_plain_writing(folder_.path(), kLoad));
}

TEST_F(FileRateTest, is_that_of_all_files_published) {
  expect_files_and_rate(measure_publishing(folder_.path(), kLoad));
  EXPECT_THROW(measure_publishing(folder_.path(), kLoad), ItemError) << "the names are taken";
}

TEST_F(FileRateTest, is_that_of_all_rows_recorded) {
  for (const bool is_random : {false, true}) {
    const fs::path file = folder_.path() / (is_random ? "random.db" : "ordered.db");
    EXPECT_EQ(measure_ledger(file, kLoad, is_random).files, kLoad.files);
    ledger::Ledger ledger(file);
    EXPECT_EQ(ledger.count_inputs().done, kLoad.files);
    EXPECT_TRUE(ledger.intents().empty());
  }
}

TEST_F(FileRateTest, is_not_given_for_files_that_cannot_be_read) {
  EXPECT_THROW(measure_reading(folder_.path(), kLoad), ItemError);
}

}  // namespace
}  // namespace eckart::bench
