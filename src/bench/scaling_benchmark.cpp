#include "bench/scaling_benchmark.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "bench/cpu_order.hpp"
#include "bench/measured_run.hpp"
#include "bench/repeated_inputs.hpp"
#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxImages = 1'000'000;

class ScalingBenchmark {
 public:
  ScalingBenchmark(const ScalingOptions& options, ChildProcess& child)
      : options_(options),
        child_(child),
        cpus_(cpus_by_core()),
        inputs_(options.scratch / "in", list_images(options.inputs), RepeatedInputs::Kind::links),
        run_(
            child, options.scratch / "err",
            [this](std::string error) { return inputs_.with_original_path(std::move(error)); },
            options.print_line) {}

  void measure() {
    std::vector<int> cores =
        options_.cores.empty() ? default_core_counts(int(cpus_.size())) : options_.cores;
    static_cast<void>(first_cpus_by_core(cores.back()));  // there are as many
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed_s = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    images_ = warm_up(cores.back());
    for (int round = 1; !child_.is_stopped(); ++round) {
      const double round_begin_s = elapsed_s();
      measure_round(cores, round);
      const std::string missing = missing_after(round);
      if (missing.empty() || child_.is_stopped()) return;
      const double end_s = elapsed_s(), next_end_s = 2 * end_s - round_begin_s;
      const bool is_over = next_end_s > options_.max_seconds;
      options_.print_line(fmt::format("round {}: {}; {:.0f} of {:.0f} s used: {}", round, missing,
                                      end_s, options_.max_seconds, is_over ? "stops" : "goes on"));
      if (is_over) return;
    }
  }

 private:
  /// Runs each number of cores. The order alternates, so that drift affects all core counts.
  void measure_round(std::vector<int> cores, int round) {
    const int max_cores = cores.back();
    if (round % 2 == 0) std::reverse(cores.begin(), cores.end());
    const std::string label = fmt::format("round {}", round);
    for (const int count : cores) {
      run(count, images_, label);
      const std::size_t share = images_ * std::size_t(count) / std::size_t(max_cores);
      if (count < max_cores) run(count, std::max<std::size_t>(1, share), label + ", scaled images");
    }
  }

  std::string missing_after(int round) const {
    if (round < options_.repeats) return fmt::format("at least {} rounds", options_.repeats);
    return options_.missing ? options_.missing() : "";
  }

  struct RunRate {
    double images_per_s, seconds;
  };

  /// Returns the number of images of the seconds of a run. All are in the disk cache then.
  std::size_t warm_up(int cores) {
    constexpr std::size_t kFirstWarmUpImages = 64;
    const std::size_t files = inputs_.files().size();
    std::size_t cached = 0;
    const auto warm = [&](std::size_t images) { return run(cores, images, "warming up", false); };
    const auto cache = [&](std::size_t images) {
      if (cached < std::min(images, files)) warm(images);
      cached = std::max(cached, images);
    };
    for (std::size_t images = std::min(kFirstWarmUpImages, files);; images *= 2) {
      cache(images);
      const auto [rate, seconds] = warm(images);
      const bool is_long_enough = seconds >= options_.seconds / 2;
      if (!is_long_enough && images <= kMaxImages / 2 && !child_.is_stopped()) continue;
      images = std::clamp(std::size_t(rate * options_.seconds), std::size_t(1), kMaxImages);
      cache(images);
      return images;
    }
  }

  RunRate run(int cores, std::size_t images, const std::string& label, bool is_measured = true) {
    if (child_.is_stopped()) return {0, 0};
    const fs::path output_folder = options_.scratch / "out";
    std::vector<std::string> arguments{"--files-from", write_file_list(images).string(),
                                       "-o",           output_folder.string(),
                                       "--ledger",     "none"};
    arguments.insert(arguments.end(), options_.run_options.begin(), options_.run_options.end());
    if (is_measured)
      arguments.insert(arguments.end(), options_.log_options.begin(), options_.log_options.end());
    const std::optional<RunSummary> summary =
        run_.run(std::move(arguments), {cpus_.begin(), cpus_.begin() + cores});
    std::error_code ignored;
    fs::remove_all(output_folder, ignored);
    if (!summary) return {0, 0};
    options_.print_line(fmt::format("{:>3} {}: {:>7} images in {:>6.2f} s, {:>8.1f} images/s  ({})",
                                    cores, cores == 1 ? "core " : "cores", images, summary->wall_s,
                                    summary->images_per_s, label));
    return {summary->images_per_s, summary->wall_s};
  }

  /// Writes a list of `images` files. If there are fewer inputs, each repetition is another link to
  /// the input.
  fs::path write_file_list(std::size_t images) {
    inputs_.grow(images);
    fs::path list_file = options_.scratch / "list";
    std::ofstream lines(list_file);
    for (std::size_t i = 0; i < images; ++i) lines << inputs_.paths()[i].native() << '\n';
    lines.close();
    if (!lines)
      throw FatalError(ExitCode::io_error,
                       text::printable(list_file.native()) + ": cannot be written");
    return list_file;
  }

  const ScalingOptions& options_;
  ChildProcess& child_;
  const std::vector<int> cpus_;
  RepeatedInputs inputs_;
  MeasuredRun run_;
  std::size_t images_ = 0;
};

}  // namespace

std::vector<int> default_core_counts(int max_cores) {
  std::vector<int> cores;
  for (int count = 1; count < max_cores; count *= 2) cores.push_back(count);
  cores.push_back(std::max(1, max_cores));
  return cores;
}

void measure_scaling(const ScalingOptions& options, ChildProcess& child) {
  ScalingBenchmark(options, child).measure();
}

}  // namespace eckart::bench
