#include "bench/file_rates.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <stop_token>
#include <vector>

#include "core/error.hpp"
#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;

const FileLoad kLoad{.sizes = {5, 5000}, .files = 70, .threads = 3, .group = 8, .durable = true};

class FileRateTest : public ::testing::Test {
 protected:
  void expect_files_and_rate(const Rate& written) {
    EXPECT_EQ(written.count, kLoad.files);
    EXPECT_GT(written.per_s(), 0);
    std::uintmax_t bytes = 0;
    const std::vector<fs::path> files = files_in(folder_.path());
    for (const fs::path& file : files) bytes += fs::file_size(file);
    EXPECT_EQ(std::int64_t(files.size()), kLoad.files);
    EXPECT_EQ(bytes, 35u * 5005u);
    EXPECT_EQ(measure_reading(files, 3).count, kLoad.files);
    EXPECT_EQ(measure_listing(folder_.path()).count, kLoad.files);
  }
  static std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    return files;
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
    EXPECT_EQ(measure_ledger(file, kLoad, is_random).count, kLoad.files);
    ledger::Ledger ledger(file);
    EXPECT_EQ(ledger.count_inputs().done, kLoad.files);
    EXPECT_TRUE(ledger.intents().empty());
  }
}

TEST_F(FileRateTest, is_that_of_files_in_several_folders) {
  FileLoad load = kLoad;
  load.files_per_folder = 30;
  expect_files_and_rate(measure_plain_writing(folder_.path(), load));
  EXPECT_EQ(files_in(folder_.path() / "0").size(), 30u);
  EXPECT_EQ(files_in(folder_.path() / "2").size(), 10u);
}

TEST_F(FileRateTest, is_that_of_reading_and_writing_at_once) {
  measure_plain_writing(folder_.path(), kLoad);
  const std::vector<fs::path> inputs = files_in(folder_.path());
  const test::TempFolder outputs;
  EXPECT_EQ(measure_reading_and_writing(inputs, 2, outputs.path(), kLoad).count, kLoad.files);
  EXPECT_EQ(files_in(outputs.path()).size(), inputs.size());
}

TEST_F(FileRateTest, is_not_given_for_files_that_cannot_be_read) {
  const std::vector<fs::path> missing{folder_.path() / "missing.png"};
  EXPECT_THROW(measure_reading(missing, 1), ItemError);
}

TEST_F(FileRateTest, stops_when_it_is_requested) {
  FileLoad load = kLoad;
  std::stop_source stop;
  stop.request_stop();
  load.stop = stop.get_token();
  measure_plain_writing(folder_.path(), load);
  EXPECT_TRUE(files_in(folder_.path()).empty());
}

}  // namespace
}  // namespace eckart::bench
