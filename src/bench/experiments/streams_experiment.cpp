#include "bench/experiments/streams_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "bench/cpu/cpu_batch.hpp"
#include "bench/experiments/lanes_experiment.hpp"
#include "compute/out_of_memory.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

/// A way to process a batch, and what was measured.
struct BatchRow {
  std::string name;
  std::unique_ptr<PreparedBatch> batch;
  bool is_right = false;
  EngineShares engines{};
  Estimate seconds{}, speedup{};
};

std::vector<BatchRow> prepare(const BatchShape& shape, const Devices& devices,
                              const ExperimentOptions& options) {
  std::vector<BatchRow> rows;
  const auto add = [&](const std::string& name, std::unique_ptr<PreparedBatch> batch) {
    BatchRow& row = rows.emplace_back();
    row.name = name;
    row.batch = std::move(batch);
  };
  if (devices.gpu) try {
      const auto prepare_gpu = [&](Schedule schedule, int streams) {
        return devices.gpu->prepare_batch(shape, schedule, streams);
      };
      add("GPU, image after image", prepare_gpu(Schedule::serial, 1));
      for (const int streams : sizes<int>(options, {1, 2, 4, 8, 16}, {2, 4}))
        add(fmt::format("GPU, {} {}", streams, streams == 1 ? "stream" : "streams"),
            prepare_gpu(Schedule::streams, streams));
      add("GPU, double-buffered", prepare_gpu(Schedule::double_buffered, 1));
      add("GPU, one batched call", prepare_gpu(Schedule::batched, 1));
    } catch (const compute::OutOfMemory& error) {
      options.print_line(error.what());
    }
  add("CPU, image after image, 1 core", make_cpu_batch(shape, 1, 1));
  if (devices.cores > 1) {
    add(fmt::format("CPU, image after image, {} cores", devices.cores),
        make_cpu_batch(shape, 1, devices.cores));
    add(fmt::format("CPU, an image on each of {} cores", devices.cores),
        make_cpu_batch(shape, devices.cores, 1));
  }
  return rows;
}

/// Runs each batch, and compares its images with those of the last row, which OpenBLAS computes. Of
/// these, the first and the last image are compared with float64.
void check(const BatchShape& shape, std::vector<BatchRow>& rows) {
  PreparedBatch& reference = *rows.back().batch;
  reference.run();
  bool is_reference_right = true;
  for (const int image : {0, shape.images - 1})
    is_reference_right =
        is_reference_right &&
        are_right(reference.pixels(image), reference_pixels(shape, random_factors(shape, image)));
  for (BatchRow& row : rows) {
    row.batch->clear();
    row.batch->run();
    row.is_right = is_reference_right;
    for (int image = 0; image < shape.images && row.is_right; ++image)
      row.is_right = are_right(row.batch->pixels(image), reference.pixels(image));
  }
}

void measure(std::vector<BatchRow>& rows, const ExperimentOptions& options) {
  std::vector<TimedWork> works;
  std::vector<BatchRow*> measured;
  for (BatchRow& row : rows) {
    if (!row.is_right) continue;
    works.push_back(with_clock([&row] { return std::vector{row.batch->run()}; }, options));
    measured.push_back(&row);
  }
  const std::vector<Samples> samples = sample(works, options);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!samples[i].is_measured()) continue;
    measured[i]->seconds = estimate(samples[i].times.front());
    measured[i]->engines = measured[i]->batch->measure_engines();
    if (measured.front() == &rows.front() && samples.front().is_measured())
      measured[i]->speedup = ratio(samples.front().times.front(), samples[i].times.front());
  }
}

std::vector<Cell> cells_of(const BatchShape& shape, const BatchRow& row,
                           const ExperimentOptions& options) {
  std::vector<Cell> cells = {shape.text(), row.name};
  if (!row.is_right) {
    cells.emplace_back(NotMeasured{kWrongResult});
  } else if (row.seconds.samples == 0) {
    cells.emplace_back(NotMeasured{too_slow(options)});
  } else {
    cells.emplace_back(microseconds(row.seconds));
    cells.emplace_back(rate(shape.images, row.seconds));
    cells.push_back(measured_or_empty(row.speedup));
  }
  cells.resize(5);
  for (const double share :
       {row.engines.copy_in, row.engines.compute, row.engines.copy_out, row.engines.overlap})
    cells.push_back(percent(share));
  return cells;
}

const BatchRow* find(const std::vector<BatchRow>& rows, const std::string& name) {
  for (const BatchRow& row : rows) {
    if (row.name == name && row.seconds.samples > 0) return &row;
  }
  return nullptr;
}

std::string lesson(const BatchShape& shape, const std::vector<BatchRow>& rows) {
  const BatchRow* serial = find(rows, "GPU, image after image");
  const BatchRow* buffered = find(rows, "GPU, double-buffered");
  const BatchRow* batched = find(rows, "GPU, one batched call");
  if (!serial || !buffered || !batched) {
    const BatchRow* one = find(rows, "CPU, image after image, 1 core");
    return one && rows.size() > 1 && rows.back().speedup.low > 1
               ? fmt::format(
                     "With {}, an image on each core is {} times as fast as one core. Work "
                     "on different images needs no communication.",
                     shape.text(), text::format_number(rows.back().speedup.median))
               : "";
  }
  return fmt::format(
      "With {}, double buffering is {} times as fast as image after image, because it copies one "
      "image while it computes another. Streams can hide at most all but the busiest engine, which "
      "is at work {:.0f} % of the time here; one batched call gains {} times, by fewer and larger "
      "calls alone.",
      shape.text(), text::format_number(buffered->speedup.median),
      100 * std::max(
                {buffered->engines.copy_in, buffered->engines.compute, buffered->engines.copy_out}),
      text::format_number(batched->speedup.median));
}

}  // namespace

ExperimentResult bench_streams(const Devices& devices, const ExperimentOptions& options) {
  Table table{.name = "streams",
              .title = "Batches of 8-bit images, factors given",
              .columns = schedule_columns(),
              .rows = {}};
  ExperimentResult result;
  const auto shapes = sizes<BatchShape>(
      options,
      {{.images = 256, .m = 256, .n = 256, .k = 32},
       {.images = 32, .m = 2048, .n = 2048, .k = 128}},
      {{.images = 64, .m = 256, .n = 256, .k = 32}, {.images = 16, .m = 1024, .n = 1024, .k = 64}},
      {{.images = 8, .m = 64, .n = 64, .k = 4}});
  Progress progress(options, "factors given", shapes.size());
  for (const BatchShape& shape : shapes) {
    progress.next(shape.text());
    std::vector<BatchRow> rows = prepare(shape, devices, options);
    check(shape, rows);
    measure(rows, options);
    if (options.stop.stop_requested()) break;
    for (const BatchRow& row : rows) {
      table.add_row(cells_of(shape, row, options));
      result.is_right = result.is_right && row.is_right;
    }
    table.lesson = lesson(shape, rows);
  }
  table.remove_empty_columns();
  table.notes = {
      "Times are from the first call until all images are in the memory of the host, by its clock. "
      "± is the 95 % interval of the median.",
      "Before they were measured, all images were compared with those of OpenBLAS, and the first "
      "and "
      "the last of these with float64."};
  if (devices.gpu)
    table.notes.emplace_back(
        "GPU: all memory of the host is pinned. Busy and overlap are of one more run with events "
        "around each copy and computation: the "
        "share of the time in which an engine works, and in which at least two of them do.");
  else
    table.notes.push_back(without_gpu_note("its rows", devices.no_gpu_reason));
  result.tables.push_back(std::move(table));
  ExperimentResult computed = bench_lanes(devices, options);
  std::move(computed.tables.begin(), computed.tables.end(), std::back_inserter(result.tables));
  result.is_right = result.is_right && computed.is_right;
  return result;
}

}  // namespace eckart::bench
