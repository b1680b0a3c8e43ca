#include "bench/measured_run.hpp"

#include <spdlog/fmt/fmt.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "settings/value_types.hpp"

namespace eckart::bench {
namespace {

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

}  // namespace

std::vector<std::string> throughput_log_options(const std::filesystem::path& log,
                                                double interval_s) {
  const std::string yaml = settings::Text{}.print(std::filesystem::absolute(log).native());
  return {"--set", "telemetry.throughput_log=" + yaml, "--set",
          fmt::format("telemetry.interval_s={}", interval_s)};
}

MeasuredRun::MeasuredRun(ChildProcess& child, std::filesystem::path stderr_file,
                         std::function<std::string(std::string)> original_path,
                         std::function<void(const std::string&)> print_line)
    : child_(child),
      stderr_file_(std::move(stderr_file)),
      original_path_(std::move(original_path)),
      print_line_(std::move(print_line)) {}

std::optional<RunSummary> MeasuredRun::run(std::vector<std::string> arguments,
                                           const std::vector<int>& cpus) {
  if (child_.is_stopped()) return std::nullopt;
  arguments.insert(arguments.begin(), "run");
  arguments.insert(arguments.end(), {"--json", "-qq"});
  const ChildProcess::ExitResult result = child_.run(arguments, cpus, stderr_file_);
  print_errors();
  if (child_.is_stopped()) return std::nullopt;
  if (result.code != 0 && result.code != int(ExitCode::some_failed))
    throw FatalError(
        exit_code_of_run(result.code),
        fmt::format("the measured run failed with {}; its errors are printed above", result.code));
  const auto summary = nlohmann::json::parse(result.output);
  return RunSummary{.done = summary.at("done"),
                    .wall_s = summary.at("wall_s"),
                    .images_per_s = summary.at("images_per_s"),
                    .input_bytes = summary.at("input_bytes"),
                    .output_bytes = summary.at("output_bytes"),
                    .outputs = summary.at("outputs"),
                    .decoded_on_gpu = summary.at("decoded_on_gpu"),
                    .encoded_on_gpu = summary.at("encoded_on_gpu")};
}

void MeasuredRun::print_errors() {
  constexpr std::size_t kTimePrefixLength = std::string_view("12:34:56 ").size();
  std::ifstream lines(stderr_file_);
  for (std::string line; std::getline(lines, line);) {
    const std::string error = original_path_(line);
    const bool has_time = error.size() > kTimePrefixLength && error[2] == ':' && error[5] == ':';
    if (printed_errors_.insert(has_time ? error.substr(kTimePrefixLength) : error).second)
      print_line_(error);
  }
}

}  // namespace eckart::bench
