#include "reports/bottleneck_text.hpp"

#include <gtest/gtest.h>

namespace eckart::reports {
namespace {

TEST(BottleneckSentence, names_the_resource) {
  EXPECT_EQ(bottleneck_text({Resource::write, 0.97, Stage::write, 0, 2}, 4),
            "write is the bottleneck: 97 % busy. More threads may help: --set threads.write=auto");
  EXPECT_EQ(bottleneck_text({Resource::write, 0.97, Stage::write, 0, 8}, 4),
            "write is the bottleneck: 97 % busy")
      << "auto has no more";
  EXPECT_EQ(bottleneck_text({Resource::write, 0.97, Stage::write, 0, 0}, 4),
            "write is the bottleneck: 97 % busy")
      << "it is auto";
  EXPECT_EQ(
      bottleneck_text({Resource::disk, 0.97, Stage::write}, 4),
      "the disk is the bottleneck: write 97 % busy, mostly waiting for files. A faster disk helps");
  EXPECT_EQ(bottleneck_text({Resource::cores, 0.98, Stage::write, 0.77}, 2),
            "the CPU is the bottleneck: 2 cores 98 % busy, 77 % of it in write. More cores help");
  EXPECT_EQ(bottleneck_text({Resource::cores, 1, Stage::load, 0.5}, 1),
            "the CPU is the bottleneck: 1 core 100 % busy, 50 % of it in load. More cores help");
  EXPECT_EQ(bottleneck_text({Resource::gpu, 0.98}, 2),
            "the GPU is the bottleneck: 98 % busy. A lower rank or another GPU helps");
}

TEST(BottleneckSentence, names_other_programs_that_use_the_cores) {
  telemetry::Bottleneck write{Resource::write, 0.97, Stage::write, 0, 2, 0.61};
  EXPECT_EQ(bottleneck_text(write, 4),
            "write is the bottleneck: 97 % busy; other programs use 61 % of 4 cores");
  write.resource = {};
  EXPECT_EQ(bottleneck_text(write, 4),
            "no stage is saturated: write is the busiest, 97 % busy; other programs use 61 % of 4 "
            "cores");
  write.resource = Resource::write;
  write.other_programs = 0.1;
  EXPECT_EQ(bottleneck_text(write, 4),
            "write is the bottleneck: 97 % busy. More threads may help: --set threads.write=auto");
}

TEST(BottleneckSentence, names_the_busiest_stage_if_none_is_saturated) {
  EXPECT_EQ(bottleneck_text({std::nullopt, 0.3, Stage::load}, 8),
            "no stage is saturated: load is the busiest, 30 % busy");
  EXPECT_EQ(bottleneck_text({}, 8), "");
}

}  // namespace
}  // namespace eckart::reports
