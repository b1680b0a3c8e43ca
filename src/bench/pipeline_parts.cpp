#include "bench/pipeline_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <system_error>

#include "app/pipeline_options.hpp"
#include "bench/decode_rate.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFirstImages = 256;  // of a measurement; it grows until it takes long enough
constexpr double kMinGrowth = 2, kMaxGrowth = 20;

}  // namespace

std::span<const fs::path> PipelineParts::first_inputs(std::size_t images) const {
  return std::span(inputs_.paths()).first(std::min(images, inputs_.paths().size()));
}

/// Repeats a measurement with more images until it takes long enough. The next call with this name
/// begins with that number.
Rate PipelineParts::repeat(const std::string& name, const Measure& measure) {
  const std::size_t max = inputs_.paths().size();
  std::size_t& images = images_.try_emplace(name, std::min(max, kFirstImages)).first->second;
  for (;;) {
    Rate rate = measure(images);
    while (images == max && rate.wall_s < options_.seconds / 2 && !options_.stop.stop_requested())
      rate += measure(images);
    if (rate.wall_s >= options_.seconds / 2 || options_.stop.stop_requested()) return rate;
    const double growth =
        std::clamp(options_.seconds / std::max(rate.wall_s, 1e-6), kMinGrowth, kMaxGrowth);
    images = std::min(max, std::size_t(double(images) * growth));
  }
}

/// As in a run.
int PipelineParts::publish_group_files(settings::Durability durability) const {
  settings::Settings settings = options_.settings;
  settings.durability = durability;
  return app::pipeline_options(settings).publish_group_files;
}

Rate PipelineParts::repeat_outputs(const std::string& name, settings::Durability durability,
                                   const MeasureOutputs& measure) {
  return repeat(name + " " + to_string(durability), [&](std::size_t images) {
    fs::create_directories(options_.folder);
    Rate rate = measure({.sizes = options_.output_sizes,
                         .files = std::int64_t(double(images) * options_.outputs_per_image),
                         .files_per_folder = std::int64_t(inputs_.files().size()),
                         .threads = options_.threads.write_threads,
                         .group = publish_group_files(durability),
                         .durable = durability != settings::Durability::none,
                         .stop = options_.stop});
    std::error_code ignored;
    fs::remove_all(options_.folder, ignored);
    rate.count = std::int64_t(images);
    return rate;
  });
}

Rate PipelineParts::read() {
  return repeat("read", [&](std::size_t images) {
    return measure_reading(first_inputs(images), options_.threads.load_threads, options_.stop);
  });
}

Rate PipelineParts::decode() {
  return measure_decoding(first_inputs(inputs_.files().size()), options_.settings,
                          options_.threads.load_threads, options_.seconds, options_.stop);
}

Rate PipelineParts::publish(settings::Durability durability) {
  return repeat_outputs("publish", durability, [&](const FileLoad& load) {
    return measure_publishing(options_.folder, load);
  });
}

Rate PipelineParts::record(settings::Durability durability, bool random_order) {
  const std::string name = random_order ? "record in random order" : "record";
  return repeat_outputs(name, durability, [&](const FileLoad& load) {
    return measure_ledger(options_.folder / "ledger.db", load, random_order);
  });
}

Rate PipelineParts::list() { return measure_listing(inputs_.root(), options_.stop); }

Rate PipelineParts::write_plainly(settings::Durability durability) {
  return repeat_outputs("write", durability, [&](const FileLoad& load) {
    return measure_plain_writing(options_.folder, load);
  });
}

Rate PipelineParts::read_and_write(settings::Durability durability) {
  return repeat_outputs("read and write", durability, [&](const FileLoad& load) {
    const auto images = std::size_t(double(load.files) / options_.outputs_per_image);
    return measure_reading_and_writing(first_inputs(images), options_.threads.load_threads,
                                       options_.folder, load);
  });
}

}  // namespace eckart::bench
