// What every backend and solver guarantees for every shape. The tests run for all configurations.
#include <cstring>

#include "app/gpu_health_probe.hpp"
#include "compute/evict_if_full.hpp"
#include "tests/backend/optimality.hpp"

namespace eckart::test {
namespace {

INSTANTIATE_TEST_SUITE_P(All, BackendTest, ::testing::ValuesIn(all_configs()), config_name);

Image black(int rows, int cols) {
  Image image({rows, cols, 1, Depth::u8});
  std::memset(image.data(), 0, image.bytes());
  return image;
}

TEST_P(BackendTest, reaches_the_optimum_on_every_shape) {
  for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{{64, 64},
                                                                   {96, 40},
                                                                   {40, 96},
                                                                   {1, 50},
                                                                   {50, 1},
                                                                   {1, 1},
                                                                   {37, 61},
                                                                   {61, 37},
                                                                   {33, 32},
                                                                   {130, 70}}) {
    for (const synth::SynthKind kind :
         {synth::SynthKind::texture, synth::SynthKind::phantom, synth::SynthKind::noise}) {
      const Image image = make_image(kind, rows, cols);
      for (const std::vector<int>& ranks : {std::vector{1, 5, 1000}, std::vector{1, 5}}) {
        expect_optimal(image, reconstruct(image, ranks), ranks);
      }
    }
  }
}

TEST_P(BackendTest, passes_the_gpu_health_probe) {
  const auto backend = make();
  app::GpuHealthProbe probe(*backend);
  EXPECT_NO_THROW(probe.run());
  EXPECT_NO_THROW(probe.run());
}

TEST_P(BackendTest, reproduces_the_image_at_full_rank) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<int, int>>{{64, 64}, {37, 61}, {1, 50}, {1, 1}}) {
    const Image image = make_image(synth::SynthKind::noise, rows, cols);
    const compute::Task task = reconstruct(image, {std::min(rows, cols)});
    EXPECT_EQ(samples(task.outputs[0], 0), samples(image, 0));
  }
}

TEST_P(BackendTest, reproduces_a_low_rank_image_at_its_rank) {
  for (const Image& image :
       {make_image(synth::SynthKind::constant, 48, 80),
        make_image(synth::SynthKind::low_rank, 90, 70), black(64, 32), black(1, 1)}) {
    const compute::Task task = reconstruct(image, {2});
    EXPECT_EQ(samples(task.outputs[0], 0), samples(image, 0));
    EXPECT_NEAR(task.results[0][0].energy, 1, 1e-12);
  }
}

TEST_P(BackendTest, reduces_the_error_and_raises_the_energy_with_rank) {
  const Image image = make_image(synth::SynthKind::texture, 96, 64);
  const std::vector<int> ranks{1, 2, 4, 8, 16, 32, 64};
  const compute::Task task = reconstruct(image, ranks);
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    EXPECT_LT(task.results[r][0].residual, task.results[r - 1][0].residual);
    EXPECT_GT(task.results[r][0].energy, task.results[r - 1][0].energy);
  }
}

TEST_P(BackendTest, is_optimal_at_every_rank_of_a_sweep_in_any_order) {
  const Image image = make_image(synth::SynthKind::texture, 130, 110);
  const std::vector<int> ascending{5, 10, 15, 20, 25, 30, 35, 40}, mixed{30, 5, 40, 29, 1};
  for (const std::vector<int>& ranks : {ascending, mixed})
    expect_optimal(image, reconstruct(image, ranks), ranks);
}

TEST_P(BackendTest, transposes_the_result_of_a_transposed_image) {
  const Image tall = make_image(synth::SynthKind::texture, 90, 50);
  Image wide({50, 90, 1, Depth::u8});
  for (int row = 0; row < 90; ++row) {
    for (int col = 0; col < 50; ++col)
      wide.plane<std::uint8_t>(0)(col, row) = tall.plane<std::uint8_t>(0)(row, col);
  }
  const compute::Task a = reconstruct(tall, {7}), b = reconstruct(wide, {7});
  for (int row = 0; row < 90; ++row) {
    for (int col = 0; col < 50; ++col) {
      ASSERT_EQ(a.outputs[0].plane<std::uint8_t>(0)(row, col),
                b.outputs[0].plane<std::uint8_t>(0)(col, row));
    }
  }
}

TEST_P(BackendTest, computes_a_color_image_as_three_planes) {
  const std::vector<int> ranks{3, 20};
  const Image image = make_image(synth::SynthKind::texture, 60, 100, 3);
  expect_optimal(image, reconstruct(image, ranks), ranks);
}

TEST_P(BackendTest, preserves_16_bits) {
  const std::vector<int> ranks{5, 60};
  const Image image = make_image(synth::SynthKind::texture, 60, 100, 1, Depth::u16);
  const compute::Task task = reconstruct(image, ranks);
  expect_optimal(image, task, ranks);
  EXPECT_EQ(samples(task.outputs[1], 0), samples(image, 0));
}

/// Where that is promised, the same bytes; otherwise the same guarantee.
TEST_P(BackendTest, is_independent_of_the_other_images_in_a_batch) {
  std::vector<Image> images;
  for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{
           {64, 40}, {40, 64}, {50, 50}, {64, 64}, {33, 64}, {256, 200}, {200, 256}}) {
    images.push_back(make_image(synth::SynthKind::texture, rows, cols));
    images.push_back(make_image(synth::SynthKind::texture, rows, cols, 3));
    images.push_back(make_image(synth::SynthKind::noise, rows, cols, 1, Depth::u16));
  }
  std::vector<const Image*> pointers;
  for (const Image& image : images) pointers.push_back(&image);
  const std::vector<compute::Task> together = reconstruct(pointers, {4, 30});
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!GetParam().is_reproducible()) {
      expect_optimal(images[i], together[i], {4, 30});
      continue;
    }
    const compute::Task alone = reconstruct(images[i], {4, 30});
    for (std::size_t r = 0; r < 2; ++r) {
      for (int channel = 0; channel < images[i].shape().channels; ++channel) {
        EXPECT_EQ(samples(together[i].outputs[r], channel), samples(alone.outputs[r], channel));
      }
    }
  }
}

/// Ranks that need more columns than CUDA's float16 kernels support.
TEST_P(BackendTest, is_optimal_at_ranks_in_the_hundreds) {
  const std::vector<int> ranks{3, 170, 200};
  std::vector<Image> images;  // two padded shapes
  images.push_back(make_image(synth::SynthKind::texture, 420, 320));
  images.push_back(make_image(synth::SynthKind::noise, 310, 440));
  images.push_back(make_image(synth::SynthKind::phantom, 320, 430, 3));
  images.push_back(make_image(synth::SynthKind::texture, 320, 330, 1, Depth::u16));
  std::vector<const Image*> pointers;
  for (const Image& image : images) pointers.push_back(&image);
  const std::vector<compute::Task> tasks = reconstruct(pointers, ranks);
  for (std::size_t i = 0; i < images.size(); ++i) expect_optimal(images[i], tasks[i], ranks);
}

/// Common sizes and ranks, compared with the float64 SVD before and after rounding.
TEST_P(BackendTest, is_optimal_on_realistic_images_at_any_rank) {
  PixelComparison pixels;
  for (const std::uint64_t seed : {1, 2}) {
    for (const synth::SynthKind kind : {synth::SynthKind::texture, synth::SynthKind::phantom}) {
      const Image image = synth::synthesize({.kind = kind,
                                             .rows = 256,
                                             .cols = 256,
                                             .channels = 1,
                                             .noise_sigma = 2.0,
                                             .seed = seed});
      const ReferenceSvd svd = reference_svd(image, 0);
      for (const std::vector<int>& ranks :
           {std::vector{1, 5, 20, 50, 100, 256}, std::vector{1, 5, 20, 50}, std::vector{100}}) {
        const compute::Task task = reconstruct(image, ranks);
        expect_optimal(image, task, ranks, {&svd, 1});
        for (std::size_t r = 0; r < ranks.size(); ++r) {
          pixels.add(image, svd, ranks[r], task.outputs[r]);
        }
      }
    }
  }
  if (GetParam().is_exact()) {
    EXPECT_LE(pixels.different_share(), 1e-4);
  }
}

/// Gray images before and after a color image, on a lane with one gray image per batch.
TEST_P(BackendTest, is_independent_of_earlier_batches) {
  const auto backend = make(1);
  const auto lane = backend->make_lane(0);
  const Image gray = make_image(synth::SynthKind::texture, 192, 192);
  const Image color = make_image(synth::SynthKind::texture, 192, 192, 3);
  std::vector<std::vector<int>> grays;
  for (const Image* image : {&gray, &color, &gray}) {
    compute::Task task = make_task(*image, {20});
    compute::Task* const batch[] = {&task};
    lane->start(0, compute::batch_key(task, 32), batch);
    lane->finish(0);
    expect_optimal(*image, task, {20});
    if (image == &gray) grays.push_back(samples(task.outputs[0], 0));
  }
  if (GetParam().is_reproducible()) {
    EXPECT_EQ(grays[0], grays[1]);
  }
}

TEST_P(BackendTest, computes_slots_independently) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  std::vector<compute::Task> tasks;
  std::vector<Image> images;
  for (int i = 0; i < 6; ++i)
    images.push_back(synth::synthesize({.kind = synth::SynthKind::texture,
                                        .rows = 60,
                                        .cols = 64,
                                        .channels = 1,
                                        .seed = std::uint64_t(i)}));
  for (const Image& image : images) tasks.push_back(make_task(image, {6}));
  const int slots = lane->slots();
  for (int i = 0; i < int(tasks.size()) + slots; ++i) {
    if (i >= slots) lane->finish((i - slots) % slots);
    if (i >= int(tasks.size())) continue;
    compute::Task* const batch[] = {&tasks[std::size_t(i)]};
    lane->start(i % slots, compute::batch_key(*batch[0], 32), batch);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    expect_optimal(images[i], tasks[i], {6});
    if (GetParam().is_reproducible()) {
      EXPECT_EQ(samples(tasks[i].outputs[0], 0),
                samples(reconstruct(images[i], {6}).outputs[0], 0));
    }
  }
}

TEST_P(BackendTest, computes_growing_shapes_on_one_lane) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  for (const int side : {32, 96, 64, 160, 32}) {
    const Image image = make_image(synth::SynthKind::texture, side, side);
    compute::Task task = make_task(image, {10});
    compute::Task* const batch[] = {&task};
    lane->start(0, compute::batch_key(task, 32), batch);
    lane->finish(0);
    expect_optimal(image, task, {10});
  }
}

TEST_P(BackendTest, computes_other_ranks_of_one_shape_on_one_lane) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  for (const int channels : {1, 3}) {
    const Image image = make_image(synth::SynthKind::texture, 128, 100, channels);
    for (const std::vector<int>& ranks : {std::vector{5}, {3, 20}, {5}, {90}}) {
      compute::Task task = make_task(image, ranks);
      compute::Task* const batch[] = {&task};
      lane->start(0, compute::batch_key(task, 32), batch);
      lane->finish(0);
      expect_optimal(image, task, ranks);
    }
  }
}

/// With another batch in flight, if the lane has a second slot.
TEST_P(BackendTest, handles_more_batch_keys_than_it_caches) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  const Image image = make_image(synth::SynthKind::texture, 32, 30);
  compute::Task first = make_task(image, {7});
  compute::Task* const first_batch[] = {&first};
  lane->start(0, compute::batch_key(first, 32), first_batch);
  if (lane->slots() == 1) lane->finish(0);
  const Image tiny = make_image(synth::SynthKind::texture, 3, 2);
  for (int k = 1; k < int(compute::kMaxCacheEntries) + 10; ++k) {
    compute::Task task = make_task(tiny, {k});
    compute::Task* const batch[] = {&task};
    lane->start(lane->slots() - 1, compute::batch_key(task, 32), batch);
    lane->finish(lane->slots() - 1);
    if (k % 100 == 1) expect_optimal(tiny, task, {k});
  }
  if (lane->slots() > 1) lane->finish(0);
  expect_optimal(image, first, {7});
}

}  // namespace
}  // namespace eckart::test
