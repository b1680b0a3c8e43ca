#include "bench/pipeline_parts.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;
using settings::Durability;

class PipelinePartTest : public ::testing::Test {
 protected:
  PipelinePartTest() {
    std::ofstream(folder_.path() / "a.png") << "not an image";
    inputs_.grow(kImages);
    parts_.set_options(
        {.folder = folder_.path() / "files",
         .settings = {},
         .threads =
             {.load_threads = 2, .write_threads = 3, .budget_bytes = 0, .linger = {}, .limits = {}},
         .output_sizes = {10, 20},
         .outputs_per_image = 2,
         .seconds = 1e-6});
  }
  static constexpr std::int64_t kImages = 20;
  const test::TempFolder folder_;
  RepeatedInputs inputs_{
      folder_.path() / "in", {folder_.path() / "a.png"}, RepeatedInputs::Kind::copies};
  PipelineParts parts_{inputs_};
};

TEST_F(PipelinePartTest, has_a_rate_of_images_whatever_the_number_of_outputs) {
  EXPECT_EQ(parts_.read().count, kImages);
  EXPECT_EQ(parts_.list().count, kImages);
  EXPECT_EQ(parts_.publish(Durability::group).count, kImages);
  EXPECT_EQ(parts_.publish(Durability::file).count, kImages);
  EXPECT_EQ(parts_.record(Durability::none, true).count, kImages);
  EXPECT_EQ(parts_.write_plainly(Durability::none).count, kImages);
  EXPECT_EQ(parts_.read_and_write(Durability::none).count, kImages);
  EXPECT_GE(parts_.decode().count, 2) << "each thread tries a file, which may be damaged";
  EXPECT_FALSE(fs::exists(folder_.path() / "files"));
}

}  // namespace
}  // namespace eckart::bench
