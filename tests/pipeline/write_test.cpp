// Tests publishing of outputs.
#include "pipeline/write.hpp"

#include <gtest/gtest.h>

#include "tests/pipeline/fakes.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::test {
namespace {

/// Publishes all outputs of an image or none.
TEST(WriteStage, publishes_nothing_of_an_image_with_a_failed_output) {
  const TempFolder folder;
  const int images = 3;
  const Hook no_hook;
  const bool waits = false;
  FakeSource source(images, no_hook, waits);
  FakeBackend backend;
  FakeSteps steps(backend);
  steps.on_load = [](pipeline::WorkItem& item, pipeline::LoadContext& memory) {
    item.reservation = memory.reserve(2 * kSmall.bytes());
    fill(item, number_of(item));
  };
  steps.on_write = [&](pipeline::WorkItem& item) {
    const std::string name = item.file.string();
    item.publication.add(folder.path() / (name + ".first"), std::vector<std::byte>(1));
    if (name == "1") throw ItemError(FailureReason::not_encodable, "the second");
    item.publication.add(folder.path() / (name + ".second"), std::vector<std::byte>(1));
  };
  pipeline::Pipeline pipeline(source, steps, test_options(1, 1));
  EXPECT_EQ(pipeline.run().failed, 1);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "0.first"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "2.second"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "1.first"));
}

}  // namespace
}  // namespace eckart::test
