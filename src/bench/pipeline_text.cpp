// The result of `eckart bench pipeline` for people.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "bench/pipeline_result.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"
#include "text/percent_text.hpp"

namespace eckart::bench {
namespace {

constexpr double kSaturated = 0.9;    // of a limit: nothing else costs much
constexpr double kBusyThreads = 0.8;  // of the cores of a stage: its threads wait for nothing else
constexpr double kContention = 0.75;  // of the cores that work got which needs nothing else
constexpr double kNearFileSystem = 0.7;

std::string rate_column(const Spread& per_s) {
  return fmt::format(
      "{:>10}  {:<24}", text::format_number(per_s.median),
      fmt::format("({} to {})", text::format_number(per_s.min), text::format_number(per_s.max)));
}

std::string title(const PipelineRow& row) {
  return (row.part_of.empty() ? "" : "  ") + row.name +
         (row.durability.empty() ? "" : ", durability " + row.durability);
}

std::string row_text(const PipelineRow& row) {
  std::string rate = "not measured";
  if (row.worker == Worker::gpu) rate = "on the GPU, see compute";
  if (row.is_measured() && row.worker == Worker::cpu)
    rate = fmt::format("{} {:>9}", rate_column(row.per_s()),
                       text::format_number(row.cpu_us_per_image()));
  return fmt::format("{:<40} {:>7}  {:>}\n", title(row), row.threads, rate);
}

std::string heading(const std::string& title) {
  return fmt::format("\n{:<40} {:>7}  {:>10}  {:<24} {:>9}\n", title, "threads", "images/s",
                     "(minimum to maximum)", "CPU us");
}

std::string whole_text(const PipelineResult::Whole& whole) {
  const double cpu_us = spread(whole.rounds, &WholeRun::cpu_us_per_image).median;
  return fmt::format("{:<40} {:>7}  {} {:>9}\n", "whole run, durability " + whole.durability, "",
                     rate_column(spread(whole.rounds, &WholeRun::images_per_s)),
                     text::format_number(cpu_us)) +
         fmt::format(
             "{:<40} {:>7}  {}\n",
             fmt::format("  with its start ({} s)",
                         text::format_number(spread(whole.rounds, &WholeRun::start_s).median)),
             "", rate_column(spread(whole.rounds, &WholeRun::images_per_s_with_start)));
}

std::string ratio_line(const std::string& title, double per_s, double whole_per_s) {
  if (!std::isfinite(per_s) || per_s <= 0) return {};
  return fmt::format("  {:<47} {:>10}  {:.2f}\n", title, text::format_number(per_s),
                     whole_per_s / per_s);
}

std::string ratios_text(const PipelineResult& result, const PipelineLimits& limits) {
  const std::string stage = limits.slowest_stage ? limits.slowest_stage->name : "";
  return fmt::format("\nwhole run, durability {}, divided by\n", limits.durability) +
         ratio_line("the slowest stage alone: " + stage, limits.slowest_stage_per_s,
                    limits.whole_per_s) +
         ratio_line("all stages on " + text::format_count(result.cores, "core"), limits.cores_per_s,
                    limits.whole_per_s) +
         ratio_line("the file system, reading and writing", limits.file_system_per_s,
                    limits.whole_per_s);
}

/// The share of the cores that its threads could use and that they got.
double core_share(const PipelineResult& result, const PipelineRow& row) {
  const double used = row.per_s().median * row.cpu_us_per_image() / 1e6;
  return used / std::min(row.threads, result.cores);
}

/// The largest share of the cores that work got which needs only cores; nothing if none was
/// measured alone. If it is small, other programs used the cores.
std::optional<double> largest_core_share(const PipelineResult& result) {
  std::optional<double> largest;
  for (const PipelineRow& row : result.stages) {
    const bool needs_only_cores = row.name == "decode" || row.name == "encode" ||
                                  (row.name == "compute" && result.driver.empty());
    if (!needs_only_cores || row.worker == Worker::gpu || !row.is_measured()) continue;
    largest = std::max(largest.value_or(0), core_share(result, row));
  }
  return largest;
}

/// The part of the stage that is slowest alone; null if none was measured.
const PipelineRow* slowest_part(const PipelineResult& result, const PipelineRow& stage) {
  const PipelineRow* slowest = nullptr;
  for (const PipelineRow& row : result.stages) {
    const bool is_part = row.part_of == stage.name && row.is_measured() &&
                         (row.durability.empty() || row.durability == stage.durability);
    if (is_part && (!slowest || row.per_s().median < slowest->per_s().median)) slowest = &row;
  }
  return slowest;
}

/// What makes a stage faster whose threads wait for something else than a core.
std::string remedy_of_wait(const PipelineResult& result, const PipelineRow& stage) {
  const PipelineRow* part = slowest_part(result, stage);
  if (part && part->name == "ledger")
    return "--set ledger.file=none, if no run will continue this one: its threads wait for the "
           "ledger";
  if (stage.name == "write" && stage.durability != "none")
    return "a faster disk, or --set durability=none if a power cut may cost the run";
  return "a faster disk";
}

std::string remedy_of(const PipelineResult& result, const PipelineRow& stage) {
  if (stage.name == "compute")
    return result.driver.empty() ? "more cores, or a GPU" : "a faster GPU, or several";
  if (stage.name != "write" && stage.name != "load") return "a faster core; it has one thread";
  const PipelineRow* const part = slowest_part(result, stage);
  const bool is_codec = part && (part->name == "decode" || part->name == "encode");
  if (!is_codec && core_share(result, stage) < kBusyThreads) return remedy_of_wait(result, stage);
  return fmt::format("more threads, --set threads.{}=N with N above {}", stage.name, stage.threads);
}

}  // namespace

std::string conclusion(const PipelineResult& result) {
  if (result.whole.empty() || result.whole.front().rounds.empty()) return {};
  const PipelineLimits limits = result.limits(0);
  if (!limits.slowest_stage) return "limit: not known: no stage could be measured";
  if (const auto share = largest_core_share(result); share && *share < kContention)
    return fmt::format(
        "limit: not known: other programs used the cores; no stage got more than {} "
        "of what its threads could use. What to do: stop them and repeat",
        text::percent_text(*share));
  std::string what, helps;
  if (limits.is_limited_by_cores()) {
    what = result.cores == 1 ? "the core" : fmt::format("the {} cores", result.cores);
    if (limits.largest_part)
      what += fmt::format(", {} of whose time is {}", text::percent_text(limits.largest_part_share),
                          limits.largest_part->name);
    const bool may_use_gpu =
        limits.largest_part && limits.largest_part->name == "compute" && result.driver.empty();
    helps = may_use_gpu ? "more cores, or a GPU" : "more cores";
  } else {
    const PipelineRow* part = slowest_part(result, *limits.slowest_stage);
    what = "the stage " + limits.slowest_stage->name;
    if (part) what += ", of which the slowest part is " + part->name;
    helps = remedy_of(result, *limits.slowest_stage);
  }
  const double reached = limits.whole_per_s / limits.limit_per_s();
  const std::string limit = text::format_number(limits.limit_per_s()) + " images/s";
  std::string text = "limit: " + what + ". The run reaches ";
  text += reached < 1
              ? fmt::format("{} of the {} of that limit", text::percent_text(reached), limit)
              : "that limit, " + limit;
  text += reached < kSaturated ? "; the rest is lost between the stages" : "";
  text += fmt::format(". What helps: {}.", helps);
  if (limits.file_system_per_s > 0 &&
      limits.whole_per_s > kNearFileSystem * limits.file_system_per_s)
    text += fmt::format(" The file system is close: alone it allows {} images/s.",
                        text::format_number(limits.file_system_per_s));
  return text;
}

std::string to_text(const PipelineResult& result) {
  std::string text = fmt::format(
      "{}{}, {}; {}, {} KB read and {} KB written per image\n", result.backend,
      result.device.empty() ? "" : " (" + result.device + ")",
      text::format_count(result.cores, "core"), text::format_count(result.files, "different file"),
      text::format_number(result.image.input_bytes / 1000),
      text::format_number(result.image.output_bytes / 1000));
  text += heading("each stage alone");
  for (const PipelineRow& row : result.stages) text += row_text(row);
  text += heading("all at once");
  for (const PipelineResult::Whole& whole : result.whole) text += whole_text(whole);
  text += heading("file system, without other work");
  for (const PipelineRow& row : result.file_system) text += row_text(row);
  for (std::size_t i = 0; i < result.whole.size(); ++i) {
    if (!result.whole[i].rounds.empty()) text += ratios_text(result, result.limits(i));
  }
  return text + "\n" + conclusion(result) + "\n";
}

}  // namespace eckart::bench
