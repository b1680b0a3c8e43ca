#include "bench/scaling_benchmark.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>

#include "bench/cpu_order.hpp"
#include "core/error.hpp"
#include "io/source.hpp"
#include "text/printable.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxImages = 1'000'000;

std::vector<fs::path> list_images(const std::vector<fs::path>& inputs) {
  std::vector<fs::path> files;
  for (const fs::path& input : inputs) {
    const auto source = io::make_source(input);
    while (const auto arrival = source->next({})) {
      if (!arrival->outcome.ok())
        throw FatalError(arrival->outcome.reason == FailureReason::not_found
                             ? ExitCode::no_input
                             : ExitCode::nothing_readable,
                         text::printable(arrival->file.native()) + ": " + arrival->outcome.detail);
      files.push_back(fs::absolute(arrival->file));
    }
  }
  if (files.empty()) throw FatalError(ExitCode::nothing_readable, "no images in the inputs");
  return files;
}

/// Returns the code with which bench reports a failed run: a signal is not a code of this program.
ExitCode exit_code_of_run(int code) {
  switch (const auto known = ExitCode(code)) {
    case ExitCode::usage:
    case ExitCode::nothing_readable:
    case ExitCode::no_input:
    case ExitCode::unavailable:
    case ExitCode::cannot_create:
    case ExitCode::io_error:
    case ExitCode::temporary:
    case ExitCode::no_permission:
    case ExitCode::configuration:
    case ExitCode::hung_up:
    case ExitCode::interrupted:
    case ExitCode::terminated:
      return known;
    default:
      return ExitCode::internal;
  }
}

class ScalingBenchmark {
 public:
  ScalingBenchmark(const ScalingOptions& options, ChildProcess& child)
      : options_(options),
        child_(child),
        cpus_(cpus_by_core()),
        files_(list_images(options.inputs)) {}

  void measure() {
    std::vector<int> cores =
        options_.cores.empty() ? default_core_counts(int(cpus_.size())) : options_.cores;
    if (cores.back() > int(cpus_.size()))
      throw FatalError(ExitCode::usage, fmt::format("--cores {1} exceeds the {0} available cores",
                                                    cpus_.size(), cores.back()));
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed_s = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const double rate = warm_up(cores.back());
    images_ = std::clamp(std::size_t(rate * options_.seconds), std::size_t(1), kMaxImages);
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

  /// The rate in images per second of the second run or a later one: the disk cache is cold in the
  /// first.
  double warm_up(int cores) {
    run(cores, files_.size(), "warming up", false);
    std::size_t images = files_.size();
    for (;;) {  // until the run is long enough to measure a rate
      const auto [rate, seconds] = run(cores, images, "warming up", false);
      if (seconds >= options_.seconds / 2 || images >= kMaxImages || child_.is_stopped())
        return rate;
      images = std::min(kMaxImages, images * 2);
    }
  }

  struct RunRate {
    double images_per_s, seconds;
  };
  RunRate run(int cores, std::size_t images, const std::string& label, bool is_measured = true) {
    if (child_.is_stopped()) return {0, 0};
    const fs::path output_folder = options_.scratch / "out", stderr_file = options_.scratch / "err";
    std::vector<std::string> arguments{"run",
                                       "--files-from",
                                       write_file_list(images).string(),
                                       "-o",
                                       output_folder.string(),
                                       "--ledger",
                                       "none",
                                       "--json",
                                       "-qq"};
    arguments.insert(arguments.end(), options_.run_options.begin(), options_.run_options.end());
    if (is_measured)
      arguments.insert(arguments.end(), options_.log_options.begin(), options_.log_options.end());
    const ChildProcess::ExitResult exit_result =
        child_.run(arguments, {cpus_.begin(), cpus_.begin() + cores}, stderr_file);
    report_errors(stderr_file);
    std::error_code ignored;
    fs::remove_all(output_folder, ignored);
    if (child_.is_stopped()) return {0, 0};
    if (exit_result.code != 0 && exit_result.code != int(ExitCode::some_failed))
      throw FatalError(exit_code_of_run(exit_result.code),
                       fmt::format("the measured run failed with {}; its errors are printed above",
                                   exit_result.code));
    const auto report = nlohmann::json::parse(exit_result.output);
    const RunRate result{report.at("images_per_s"), report.at("wall_s")};
    options_.print_line(fmt::format("{:>3} {}: {:>7} images in {:>6.2f} s, {:>8.1f} images/s  ({})",
                                    cores, cores == 1 ? "core " : "cores", images, result.seconds,
                                    result.images_per_s, label));
    return result;
  }

  /// Prints each error once, although a failing image fails in each run and through each link.
  void report_errors(const fs::path& stderr_file) {
    constexpr std::size_t kTimePrefixLength = std::string_view("12:34:56 ").size();
    std::ifstream lines(stderr_file);
    for (std::string line; std::getline(lines, line);) {
      const std::string error = replace_link_with_input(line);
      const bool has_time = error.size() > kTimePrefixLength && error[2] == ':' && error[5] == ':';
      if (reported_errors_.insert(has_time ? error.substr(kTimePrefixLength) : error).second)
        options_.print_line(error);
    }
  }

  /// Replaces the path of a link in the line by the path of its input.
  std::string replace_link_with_input(std::string line) const {
    const std::string links = text::printable((options_.scratch / "in/").native());
    const std::size_t begin = line.find(links);
    const std::size_t slash = begin == line.npos ? begin : line.find('/', begin + links.size());
    if (slash == line.npos) return line;
    std::size_t index = 0;
    const char* const first = line.data() + slash + 1;
    const auto [rest, error] = std::from_chars(first, line.data() + line.size(), index);
    if (error != std::errc{} || index >= files_.size()) return line;
    const fs::path& file = files_[index];
    const std::size_t end =
        std::size_t(rest - line.data()) + text::printable(file.extension().native()).size();
    return line.replace(begin, end - begin, text::printable(file.native()));
  }

  /// Writes a list of `images` files. If there are fewer inputs, each repetition is another link to
  /// the input.
  fs::path write_file_list(std::size_t images) {
    for (; link_count_ < images; ++link_count_) {
      const fs::path& file = files_[link_count_ % files_.size()];
      const fs::path folder = options_.scratch / "in" / std::to_string(link_count_ / files_.size());
      if (link_count_ % files_.size() == 0) fs::create_directories(folder);
      links_.push_back(folder /
                       (std::to_string(link_count_ % files_.size()) + file.extension().string()));
      fs::create_symlink(file, links_.back());
    }
    fs::path list_file = options_.scratch / "list";
    std::ofstream lines(list_file);
    for (std::size_t i = 0; i < images; ++i) lines << links_[i].native() << '\n';
    lines.close();
    if (!lines)
      throw FatalError(ExitCode::io_error,
                       text::printable(list_file.native()) + ": cannot be written");
    return list_file;
  }

  const ScalingOptions& options_;
  ChildProcess& child_;
  const std::vector<int> cpus_;
  const std::vector<fs::path> files_;
  std::size_t images_ = 0;
  std::size_t link_count_ = 0;
  std::vector<fs::path> links_;
  std::set<std::string> reported_errors_;  // without their time
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
