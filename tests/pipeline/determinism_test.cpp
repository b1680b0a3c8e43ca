// On the CPU, equal inputs give equal bytes, independent of threads, batches and order.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <map>

#include "compute/cpu/cpu_backend.hpp"
#include "io/output_tree.hpp"
#include "io/publication.hpp"
#include "io/read_file.hpp"
#include "synth/synth.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/random_delay.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::test {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

/// The CPU backend with a given batch size.
class FixedBatchBackend : public compute::Backend {
 public:
  FixedBatchBackend(const compute::BackendOptions& options, int planes)
      : cpu_(compute::cpu::make_cpu_backend(options)), planes_(planes) {}
  std::string name() const override { return cpu_->name(); }
  std::string description() const override { return cpu_->description(); }
  int lanes() const override { return cpu_->lanes(); }
  int batch_planes(const compute::BatchKey&) const override { return planes_; }
  std::unique_ptr<compute::Lane> make_lane(int index) override { return cpu_->make_lane(index); }

 private:
  const std::unique_ptr<compute::Backend> cpu_;
  const int planes_;
};

struct PipelineConfig {
  int load, write, lanes, planes;
  std::uint64_t delay_seed;  ///< 0: no delays
};
constexpr PipelineConfig kBaselineConfig{1, 1, 1, 1, 0};
constexpr PipelineConfig kConfigs[] = {{1, 1, 1, 1, 1}, {2, 2, 2, 1, 0},  {2, 2, 2, 7, 2},
                                       {3, 1, 3, 3, 3}, {4, 4, 3, 64, 0}, {4, 4, 3, 64, 4},
                                       {1, 4, 2, 5, 5}, {4, 1, 3, 1, 6}};

class PipelineOutputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_.path() / "in");
    int number = 0;
    for (const synth::SynthKind kind :
         {synth::SynthKind::texture, synth::SynthKind::phantom, synth::SynthKind::noise}) {
      for (const auto& [rows, cols] : {std::pair{64, 48}, {48, 64}, {37, 91}, {100, 100}}) {
        for (const auto& [channels, depth] :
             {std::pair{1, Depth::u8}, {3, Depth::u8}, {1, Depth::u16}}) {
          const Image image = synth::synthesize({.kind = kind,
                                                 .rows = rows,
                                                 .cols = cols,
                                                 .channels = channels,
                                                 .depth = depth,
                                                 .noise_sigma = 1,
                                                 .seed = std::uint64_t(number)});
          io::publish_file(folder_.path() / "in" / (std::to_string(number++) + ".png"),
                           codec::codec_for(ImageFormat::png).encode(image, {}));
        }
      }
    }
    images_ = number;
  }

  /// Returns the bytes of every output, by name.
  std::map<std::string, Bytes> outputs(const PipelineConfig& config) {
    const fs::path root = folder_.path() / "out";
    fs::remove_all(root);
    compute::BackendOptions backend_options;
    backend_options.lanes = config.lanes;
    FixedBatchBackend backend(backend_options, config.planes);
    io::OutputTree tree(root, io::OutputTree::default_name(ranks_.size()),
                        &codec::codec_for(ImageFormat::png), ranks_);
    const auto source = io::make_source(folder_.path() / "in");
    pipeline::Loader loader({}, ranks_, tree.codec());
    const auto delay = [seed = config.delay_seed](const pipeline::WorkItem& item, int place) {
      if (seed) RandomDelay{seed}(std::stoi(item.file.stem()), place);
    };
    FakeSteps steps(backend);
    steps.on_assign_outputs = [&](pipeline::WorkItem& item) {
      item.outputs = tree.reserve(item.relative);
    };
    steps.on_load = [&](pipeline::WorkItem& item, pipeline::LoadContext& memory) {
      delay(item, 0);
      loader.load(item, std::nullopt, memory);
    };
    steps.on_write = [&](pipeline::WorkItem& item) {
      delay(item, 1);
      pipeline::encode_outputs(item, tree.codec(), {});
    };
    pipeline::Pipeline pipeline(*source, steps, test_options(config.load, config.write));
    EXPECT_EQ(pipeline.run().done, images_);
    std::map<std::string, Bytes> result;
    for (const auto& entry : fs::directory_iterator(root)) {
      result[entry.path().filename()] = io::read_file(entry.path(), 1024);
    }
    return result;
  }

  const TempFolder folder_;
  const std::vector<RankPolicy> ranks_ = {{3}, {20}};
  int images_ = 0;
};

TEST_F(PipelineOutputTest, has_the_same_bytes_for_any_threads_and_batches) {
  const auto expected = outputs(kBaselineConfig);
  ASSERT_EQ(expected.size(), std::size_t(images_) * ranks_.size());
  for (const PipelineConfig& config : kConfigs) {
    EXPECT_EQ(outputs(config), expected)
        << config.load << " load, " << config.write << " write, " << config.lanes << " lanes, "
        << config.planes << " planes, stalls " << config.delay_seed;
  }
}

}  // namespace
}  // namespace eckart::test
