#include "bench/whole_runs.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "capacity/run_measurement.hpp"
#include "core/error.hpp"
#include "text/group_digits.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMinRunImages = 4, kMaxRunImages = 1'000'000;
constexpr double kMaxRunGrowth = 20;  // of the number of images, from one warm-up run to the next

fs::path output_folder(const fs::path& scratch) { return scratch / "out"; }
fs::path log_file(const fs::path& scratch) { return scratch / "log.jsonl"; }

/// Reads and removes the throughput log of the run.
WholeRun read_log(const fs::path& log, const RunSummary& summary) {
  capacity::ThroughputLogReader reader;
  reader.read(log);
  const capacity::LoggedRun run = reader.runs().back();
  const capacity::RunMeasurement measured = capacity::measure(run);
  fs::remove(log);
  return {.images = summary.done,
          .images_per_s = measured.rate_per_s,
          .images_per_s_with_start = summary.images_per_s,
          .start_s = summary.wall_s - measured.elapsed_s + run.startup_s,
          .cpu_us_per_image = 1e6 * measured.cpu_s_per_image};
}

}  // namespace

WholeRuns::WholeRuns(RepeatedInputs& inputs, ChildProcess& child, const std::stop_token& stop,
                     Options options)
    : inputs_(inputs),
      stop_(stop),
      options_(std::move(options)),
      run_(
          child, options_.scratch / "err",
          [this](std::string error) { return inputs_.with_original_path(std::move(error)); },
          options_.print_line) {}

void WholeRuns::warm_up(settings::Durability durability) {
  std::size_t images = std::max(kMinRunImages, inputs_.files().size());
  bool is_long_enough = false;
  while (!is_long_enough) {
    inputs_.grow(images, stop_);
    const std::optional<WholeRun> whole = run(durability);
    if (!whole) return;
    const std::size_t max = std::max(kMinRunImages, max_images());
    const double s = double(whole->images) / whole->images_per_s;
    options_.print_line(fmt::format("warm-up: {} images, {} images/s",
                                    text::group_digits(whole->images),
                                    text::group_digits(std::int64_t(whole->images_per_s))));
    is_long_enough = s >= options_.seconds / 2 || images >= max;
    const double growth = std::min(options_.seconds / s, kMaxRunGrowth);
    images = std::clamp(std::size_t(double(images) * growth), kMinRunImages, max);
  }
  inputs_.grow(images, stop_);
  inputs_.shrink(images);
}

/// The number of images whose outputs fit in half of the free space.
std::size_t WholeRuns::max_images() const {
  std::error_code error;
  const fs::space_info space = fs::space(options_.scratch, error);
  if (error || means_.output_bytes <= 0) return kMaxRunImages;
  return std::min(kMaxRunImages, std::size_t(double(space.available) / 2 / means_.output_bytes));
}

std::vector<std::string> WholeRuns::arguments(settings::Durability durability) const {
  std::vector<std::string> arguments{inputs_.root().string(), "-o",
                                     output_folder(options_.scratch).string()};
  const auto add = [&](const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  };
  add(options_.run_options);
  add({"--set", "backend=" + to_string(options_.backend)});
  add({"--ledger", options_.has_ledger ? "auto" : "none"});
  add({"--set", "durability=" + to_string(durability), "--set", "wait_for_space=false"});
  add({"--set", "telemetry.listen=''"});
  add(throughput_log_options(log_file(options_.scratch),
                             std::clamp(options_.seconds / 10, 0.1, 1.0)));
  return arguments;
}

std::optional<WholeRun> WholeRuns::run(settings::Durability durability) {
  const std::optional<RunSummary> summary = run_.run(arguments(durability), options_.cpus);
  std::error_code ignored;
  fs::remove_all(output_folder(options_.scratch), ignored);
  if (!summary) return std::nullopt;
  if (summary->done == 0)
    throw FatalError(ExitCode::nothing_readable, "no image of the inputs can be processed");
  const double done = double(summary->done);
  means_ = {.input_bytes = double(summary->input_bytes) / done,
            .output_bytes = double(summary->output_bytes) / done,
            .outputs = double(summary->outputs) / done,
            .decoded_on_gpu = double(summary->decoded_on_gpu) / done,
            .encoded_on_gpu = double(summary->encoded_on_gpu) /
                              double(std::max<std::int64_t>(1, summary->outputs))};
  return read_log(log_file(options_.scratch), *summary);
}

}  // namespace eckart::bench
