#include "bench/experiments/lanes_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
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
  const LaneUse* use = nullptr;
  std::unique_ptr<compute::Backend> backend = {};
  std::unique_ptr<BackendBatch> batch = {};
  bool is_right = true;
  std::string not_measured = {};  ///< why; empty: it was
  EngineShares engines{};
  Estimate seconds{}, speedup{};
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

LanesRow prepare(const LaneUse& use, const ImageBatch& batch, const Devices& devices,
                 std::size_t backends, const std::vector<double>& optimal) {
  LanesRow row{.use = &use};
  compute::BackendOptions options{.lanes = use.lanes, .batch_planes = use.batch_images};
  options.trace = true;
  options.memory_fraction /= double(backends);
  try {
    row.backend =
        use.is_on_gpu ? devices.make_gpu_backend(options) : devices.make_cpu_backend(options);
    row.batch = std::make_unique<BackendBatch>(*row.backend, batch, use.slots);
    row.batch->run();
    row.is_right = largest_loss_db(row.batch->squared_errors(), optimal) <= kMaxLossDb;
    if (!row.is_right) row.not_measured = kWrongResult;
  } catch (const compute::OutOfMemory& error) {
    row.not_measured = error.what();
  }
  return row;
}

void measure(std::vector<LanesRow>& rows, const ExperimentOptions& options) {
  std::vector<TimedWork> works;
  std::vector<LanesRow*> measured;
  for (LanesRow& row : rows) {
    if (!row.not_measured.empty()) continue;
    const TimedWork work = [&row] {
      const BatchTimes times = row.batch->run();
      row.engines = times.engines;
      return std::vector{times.total_s};
    };
    works.push_back(row.use->is_on_gpu ? with_clock(work, options) : work);
    measured.push_back(&row);
  }
  const std::vector<Samples> samples = sample(works, options);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    LanesRow& row = *measured[i];
    row.batch.reset();  // frees its memory
    if (!samples[i].is_measured()) {
      row.not_measured = too_slow(options);
      row.engines = {};
      continue;
    }
    row.seconds = estimate(samples[i].times.front());
    if (measured.front() == &rows.front() && samples.front().is_measured())
      row.speedup = ratio(samples.front().times.front(), samples[i].times.front());
  }
}

std::vector<Cell> cells_of(const ImageBatch& batch, const LanesRow& row) {
  std::vector<Cell> cells = {batch.text(), row.use->name};
  if (row.not_measured.empty()) {
    cells.emplace_back(microseconds(row.seconds));
    cells.emplace_back(rate(batch.images, row.seconds));
    cells.push_back(measured_or_empty(row.speedup));
  } else {
    cells.emplace_back(NotMeasured{row.not_measured});
  }
  cells.resize(5);
  for (const double share :
       {row.engines.copy_in, row.engines.compute, row.engines.copy_out, row.engines.overlap})
    cells.push_back(percent(share));
  return cells;
}

std::string lesson(const ImageBatch& batch, const std::vector<LanesRow>& rows) {
  const LanesRow *streams = nullptr, *batched = nullptr;  // the fastest
  for (const LanesRow& row : rows) {
    if (!row.use->is_on_gpu || row.speedup.samples == 0) continue;
    const bool is_batched = row.use->batch_images != 1;
    const LanesRow*& fastest = is_batched ? batched : streams;
    if ((is_batched || row.use->lanes > 1) &&
        (!fastest || row.speedup.median > fastest->speedup.median))
      fastest = &row;
  }
  if (!streams || !batched) return {};
  return fmt::format(
      "With {}, streams are up to {} times as fast as image after image, batches {} times. A "
      "decomposition is a chain of small steps: streams let the GPU do several at once, a batch "
      "makes each step larger and calls it once.",
      batch.text(), text::format_number(streams->speedup.median),
      text::format_number(batched->speedup.median));
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
  Progress progress(options, "factors computed", batches.size());
  for (const ImageBatch& batch : batches) {
    progress.next(batch.text());
    const std::vector<double> optimal = scene_errors(*float64, batch);
    const std::vector<LaneUse> uses = lane_uses(devices, batch, options);
    std::vector<LanesRow> rows;
    for (const LaneUse& use : uses) {
      if (options.stop.stop_requested()) break;
      rows.push_back(prepare(use, batch, devices, uses.size(), optimal));
    }
    measure(rows, options);
    if (options.stop.stop_requested()) break;
    for (const LanesRow& row : rows) {
      table.add_row(cells_of(batch, row));
      result.is_right = result.is_right && row.is_right;
    }
    if (const std::string text = lesson(batch, rows); !text.empty()) table.lesson = text;
  }
  table.remove_empty_columns();
  table.notes = {
      "Truncated SVD and reconstruction, with the solver that a run chooses. Times are from pixels "
      "in the memory of the host to pixels there, by its clock. ± is the 95 % interval of the "
      "median.",
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
    table.notes.push_back(without_gpu_note("its rows", devices.no_gpu_reason));
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace eckart::bench
