#include "bench/staged_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>

#include "codec/codec.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::Gt;
using testing::SizeIs;

class StagedRunTest : public ::testing::Test {
 protected:
  StagedRunTest() {
    settings_.backend = settings::BackendChoice::cpu;
    settings_.ranks = {RankPolicy(2)};
    fs::create_directory(input_);
  }
  void write_images(int count) const {
    for (int i = 0; i < count; ++i) {
      Image image({.rows = 16, .cols = 24, .channels = 1});
      for (std::size_t sample = 0; sample < image.bytes(); ++sample)
        image.data()[sample] = std::byte(sample * sample / 7 + std::size_t(i));
      const auto bytes = codec::codec_for(OutputFormat::png).encode(image, {});
      std::ofstream(input_ / (std::to_string(i) + ".png"), std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    }
  }
  int count_outputs() const {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(output_))
      files += entry.path().extension() == ".png";
    return files;
  }
  static std::vector<std::int64_t> counts(const StageRates& rates) {
    std::vector<std::int64_t> counts;
    for (const Rate& rate : rates) counts.push_back(rate.count);
    return counts;
  }

  const test::TempFolder folder_;
  const fs::path input_ = folder_.path() / "in", output_ = folder_.path() / "out";
  settings::Settings settings_;
  std::stop_source stop_;
};

TEST_F(StagedRunTest, passes_each_image_through_each_stage_once) {
  write_images(6);
  StagedRun run(settings_, input_, output_, false, stop_.get_token());
  const StageRates first = run.pass(4);
  EXPECT_THAT(counts(first), Each(4));
  for (const Rate& rate : first) EXPECT_GT(rate.per_s(), 0);
  EXPECT_EQ(count_outputs(), 4);
  EXPECT_GT(run.bytes_per_image(), 16u * 24u);
  EXPECT_THAT(counts(run.pass(4)), Each(2));
  EXPECT_EQ(count_outputs(), 6);
  EXPECT_THAT(counts(run.pass(4)), Each(0));
}

TEST_F(StagedRunTest, encodes_in_memory) {
  write_images(3);
  settings_.ranks.push_back(RankPolicy(4));
  StagedRun run(settings_, input_, output_, false, stop_.get_token());
  const StagedRun::Encoding encoding = run.encode_next(3);
  EXPECT_EQ(encoding.rate.count, 3);
  EXPECT_THAT(encoding.file_sizes, testing::AllOf(SizeIs(6), Each(Gt(50u))));
  EXPECT_EQ(count_outputs(), 0);
}

TEST_F(StagedRunTest, goes_on_after_an_image_that_cannot_be_decoded) {
  write_images(2);
  std::ofstream(input_ / "bad.png") << "no image";
  StagedRun run(settings_, input_, output_, false, stop_.get_token());
  EXPECT_THAT(counts(run.pass(3)), testing::ElementsAre(3, 3, 2, 2, 3));
  EXPECT_EQ(count_outputs(), 2);
}

TEST_F(StagedRunTest, ends_after_a_stop_request) {
  write_images(2);
  StagedRun run(settings_, input_, output_, false, stop_.get_token());
  stop_.request_stop();
  run.pass(2);
  EXPECT_EQ(count_outputs(), 0);
}

}  // namespace
}  // namespace eckart::bench
