#include "bench/experiments/lanes_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "bench/experiments/backend_batch.hpp"
#include "compute/out_of_memory.hpp"
#include "core/quality.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

/// A way to use the lanes of a backend; each has a stream and two buffers.
struct LaneUse {
  std::string name;
  bool is_on_gpu = true;
  int lanes = 0;         ///< 0: the backend decides
  int batch_images = 0;  ///< computed together; 0: the backend decides
  int slots = kAllSlots;
};

/// A batch of images, decomposed in one way.
struct LanesRow {
  LaneUse use;
  bool is_right = true;
  std::string not_measured = {};  ///< why; empty: it was
  EngineShares engines{};
  MeasuredTimes times{};
};

/// A batch of images in all ways.
struct LanesRows {
  ImageBatch batch;
  std::vector<double> optimal{};  ///< the squared errors of its scenes
  std::vector<LanesRow> rows{};

  /// Compared with the first row; empty without samples.
  Estimate speedup(const LanesRow& row) const {
    if (!rows.front().times.is_measured() || !row.times.is_measured()) return {};
    return ratio(rows.front().times.passes[0], row.times.passes[0]);
  }
};

/// A batch on a backend of its own.
struct PreparedLanes {
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<BackendBatch> batch;
};

std::vector<LaneUse> lane_uses(const Devices& devices, const ImageBatch& batch,
                               const ExperimentOptions& options) {
  std::vector<LaneUse> uses;
  if (devices.gpu) {
    uses.push_back({"GPU, image after image", true, 1, 1, 1});
    for (const int streams : sizes<int>(options, {2, 4, 8}, {2}))
      uses.push_back(
          {fmt::format("GPU, an image on each of {} streams", streams), true, streams, 1, 1});
    uses.push_back({"GPU, one batched call", true, 1, batch.images, 1});
    uses.push_back({"GPU, double-buffered batches", true, 1, std::max(1, batch.images / 8)});
    uses.push_back({"GPU, as in a run", true});
  }
  uses.push_back({"CPU, image after image, 1 core", false, 1});
  if (devices.cores > 1)
    uses.push_back(
        {fmt::format("CPU, an image on each of {} cores", devices.cores), false, devices.cores});
  return uses;
}

/// Runs once. Throws compute::OutOfMemory.
PreparedLanes prepare(const LaneUse& use, const ImageBatch& batch, const Devices& devices,
                      std::size_t backends) {
  compute::BackendOptions options{.lanes = use.lanes, .batch_planes = use.batch_images};
  options.trace = true;
  options.memory_fraction /= double(backends);
  PreparedLanes prepared;
  prepared.backend =
      use.is_on_gpu ? devices.make_gpu_backend(options) : devices.make_cpu_backend(options);
  prepared.batch = std::make_unique<BackendBatch>(*prepared.backend, batch, use.slots);
  prepared.batch->run();
  return prepared;
}

/// Measures all rows once; the first time, it checks their results before.
void measure(LanesRows& all, std::size_t pass, const Devices& devices, compute::Backend& float64,
             const ExperimentOptions& options) {
  const bool is_first = all.rows.empty();
  if (is_first) {
    all.optimal = scene_errors(float64, all.batch);
    for (LaneUse& use : lane_uses(devices, all.batch, options))
      all.rows.push_back({.use = std::move(use)});
  }
  std::vector<PreparedLanes> prepared;
  prepared.reserve(all.rows.size());
  std::vector<SampledWork> works;
  for (LanesRow& row : all.rows) {
    if (options.stop.stop_requested()) return;
    if (!row.not_measured.empty()) continue;
    try {
      prepared.push_back(prepare(row.use, all.batch, devices, all.rows.size()));
    } catch (const compute::OutOfMemory& error) {
      if (!row.times.is_measured()) row.not_measured = error.what();
      continue;
    }
    BackendBatch& batch = *prepared.back().batch;
    if (is_first) row.is_right = largest_loss_db(batch.squared_errors(), all.optimal) <= kMaxLossDb;
    if (!row.is_right) {
      row.not_measured = kWrongResult;
      continue;
    }
    const TimedWork work = [&row, &batch] {
      const BatchTimes times = batch.run();
      row.engines = times.engines;
      return std::vector{times.total_s};
    };
    works.push_back(
        {row.use.is_on_gpu ? with_clock(work, options) : work, &row.times, &row.not_measured});
  }
  sample(works, pass, options);
  for (LanesRow& row : all.rows) {
    if (!row.times.is_measured()) row.engines = {};
  }
}

std::vector<Cell> cells_of(const LanesRows& all, const LanesRow& row) {
  std::vector<Cell> cells = {all.batch.text(), row.use.name};
  if (row.not_measured.empty()) {
    const Estimate seconds = row.times.time(0);
    cells.emplace_back(microseconds(seconds));
    cells.emplace_back(rate(all.batch.images, seconds));
    cells.push_back(measured_or_empty(all.speedup(row)));
  } else {
    cells.emplace_back(NotMeasured{row.not_measured});
  }
  cells.resize(5);
  for (const double share :
       {row.engines.copy_in, row.engines.compute, row.engines.copy_out, row.engines.overlap})
    cells.push_back(row.engines.compute > 0 ? Cell(100 * share) : Cell());
  return cells;
}

std::string lesson(const LanesRows& all) {
  double streams = 0, batched = 0;  // the largest speedups
  for (const LanesRow& row : all.rows) {
    if (!row.use.is_on_gpu) continue;
    const double speedup = all.speedup(row).median;
    if (row.use.batch_images > 1)
      batched = std::max(batched, speedup);
    else if (row.use.batch_images == 1 && row.use.lanes > 1)
      streams = std::max(streams, speedup);
  }
  if (streams == 0 || batched == 0) {
    const Estimate cores = all.speedup(all.rows.back());
    if (all.rows.size() < 2 || cores.low <= 1) return {};
    return fmt::format(
        "With {}, an image on each core is {} times as fast as one core. Images are decomposed "
        "independently, so the cores need not wait for each other.",
        all.batch.text(), text::format_ratio(cores.median));
  }
  return fmt::format(
      "With {}, streams are up to {} times as fast as image after image, batches {} times. A "
      "decomposition is a chain of small steps: streams let the GPU do several at once, a batch "
      "makes each step larger and calls it once.",
      all.batch.text(), text::format_ratio(streams), text::format_ratio(batched));
}

}  // namespace

std::vector<Column> schedule_columns() {
  return {{"batch", "batch", ""},
          {"schedule", "schedule", ""},
          {"time_us", "time", "us", true},
          {"images_per_s", "rate", "images/s"},
          {"speedup", "speedup", "× first row"},
          {"copy_in_percent", "copy in", "% busy"},
          {"compute_percent", "compute", "% busy"},
          {"copy_out_percent", "copy out", "% busy"},
          {"overlap_percent", "overlap", "%"}};
}

ExperimentResult bench_lanes(const Devices& devices, const ExperimentOptions& options) {
  Table table{.name = "streams_computed",
              .title = "Batches of 8-bit images, factors computed",
              .columns = schedule_columns(),
              .rows = {}};
  const std::unique_ptr<compute::Backend> float64 =
      devices.make_cpu_backend({.solver = SolverKind::gram});
  ExperimentResult result;
  const auto batches = sizes<ImageBatch>(
      options, {{.images = 256, .n = 256, .k = 32}, {.images = 32, .n = 2048, .k = 128}},
      {{.images = 64, .n = 256, .k = 32}, {.images = 8, .n = 1024, .k = 64}},
      {{.images = 8, .n = 64, .k = 4}});
  std::vector<LanesRows> all;
  std::vector<std::string> names;
  for (const ImageBatch& batch : batches) {
    all.push_back({batch});
    names.push_back(batch.text());
  }
  const std::size_t complete = measure_in_passes(
      options, "factors computed", names,
      [&](std::size_t i, std::size_t pass) { measure(all[i], pass, devices, *float64, options); });
  for (const LanesRows& each : std::span(all).first(complete)) {
    for (const LanesRow& row : each.rows) {
      table.add_row(cells_of(each, row));
      result.is_right = result.is_right && row.is_right;
    }
    if (const std::string text = lesson(each); !text.empty()) table.lesson = text;
  }
  table.remove_empty_columns();
  table.notes = {
      std::string("Truncated SVD and reconstruction, with the solver that a run chooses. Times are "
                  "from pixels in the memory of the host to pixels there, by its clock. ") +
          kIntervalNote,
      fmt::format("Before they were measured, all images were compared with the optimum, from "
                  "float64. A result that loses more than {} dB is wrong.",
                  kMaxLossDb)};
  if (devices.gpu)
    table.notes.emplace_back(
        "Double-buffered: an eighth of the images is copied while another is computed. As in a "
        "run: the lanes and batches that the backend chooses. Each row has its share of the memory "
        "of "
        "the GPU, so batches may be smaller than in a run. Busy and overlap are of the last "
        "sample, by the clock of the GPU.");
  else
    table.notes.push_back(without_gpu_note("the rows of the GPU", devices.no_gpu_reason));
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace eckart::bench
