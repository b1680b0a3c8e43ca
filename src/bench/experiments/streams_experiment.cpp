#include "bench/experiments/streams_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
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
  bool is_right = false;
  std::string not_measured{};  ///< why; empty: it was
  EngineShares engines{};
  MeasuredTimes times{};

  bool is_on_gpu() const { return name.starts_with("GPU"); }
};

/// A batch in all ways.
struct BatchRows {
  BatchShape shape{};
  std::vector<BatchRow> rows{};

  /// Compared with the first row, on the GPU or the CPU; empty without samples.
  Estimate speedup(const BatchRow& row) const {
    if (!rows.front().times.is_measured() || !row.times.is_measured()) return {};
    return ratio(rows.front().times.passes[0], row.times.passes[0]);
  }
};

struct NamedBatch {
  std::string name;
  std::unique_ptr<PreparedBatch> batch;
  std::string not_prepared = {};  ///< why there is no batch
};

std::vector<NamedBatch> prepare(const BatchShape& shape, const Devices& devices,
                                const ExperimentOptions& options) {
  std::vector<NamedBatch> batches;
  const auto add = [&](const std::string& name, std::unique_ptr<PreparedBatch> batch) {
    batches.push_back({name, std::move(batch)});
  };
  const auto add_gpu = [&](const std::string& name, Schedule schedule, int streams,
                           HostMemory memory = HostMemory::pinned) {
    if (devices.gpu) try {
        add(name, devices.gpu->prepare_batch(shape, schedule, streams, memory));
      } catch (const compute::OutOfMemory& error) {
        batches.push_back({name, nullptr, error.what()});
      }
  };
  add_gpu("GPU, image after image", Schedule::serial, 1);
  for (const int streams : sizes<int>(options, {1, 2, 4, 8, 16}, {2, 4}))
    add_gpu(fmt::format("GPU, {} {}", streams, streams == 1 ? "stream" : "streams"),
            Schedule::streams, streams);
  add_gpu("GPU, double-buffered", Schedule::double_buffered, 1);
  add_gpu("GPU, one batched call", Schedule::batched, 1);
  add_gpu("GPU, pageable, image after image", Schedule::serial, 1, HostMemory::pageable);
  add_gpu("GPU, pageable, 4 streams", Schedule::streams, 4, HostMemory::pageable);
  add("CPU, image after image, 1 core", make_cpu_batch(shape, 1, 1));
  if (devices.cores > 1) {
    add(fmt::format("CPU, image after image, {} cores", devices.cores),
        make_cpu_batch(shape, 1, devices.cores));
    add(fmt::format("CPU, an image on each of {} cores", devices.cores),
        make_cpu_batch(shape, devices.cores, 1));
  }
  return batches;
}

/// The batch of this name; null if the memory is too small for it.
PreparedBatch* find(const std::vector<NamedBatch>& batches, const std::string& name) {
  for (const NamedBatch& each : batches) {
    if (each.name == name) return each.batch.get();
  }
  return nullptr;
}

/// Runs each batch, and compares its images with those of the last one, which OpenBLAS computes. Of
/// these, the first and the last image are compared with float64.
std::vector<BatchRow> checked_rows(const BatchShape& shape,
                                   const std::vector<NamedBatch>& batches) {
  PreparedBatch& reference = *batches.back().batch;
  reference.run();
  bool is_reference_right = true;
  for (const int image : {0, shape.images - 1})
    is_reference_right =
        is_reference_right &&
        are_right(reference.pixels(image), reference_pixels(shape, random_factors(shape, image)));
  std::vector<BatchRow> rows;
  for (const NamedBatch& each : batches) {
    if (!each.batch) {
      rows.push_back({.name = each.name, .is_right = true, .not_measured = each.not_prepared});
      continue;
    }
    each.batch->clear();
    each.batch->run();
    BatchRow& row = rows.emplace_back(BatchRow{.name = each.name, .is_right = is_reference_right});
    for (int image = 0; image < shape.images && row.is_right; ++image)
      row.is_right = are_right(each.batch->pixels(image), reference.pixels(image));
    if (!row.is_right) row.not_measured = kWrongResult;
  }
  return rows;
}

/// Measures all rows once; the first time, it checks their results before.
void measure(BatchRows& all, std::size_t pass, const Devices& devices,
             const ExperimentOptions& options) {
  const std::vector<NamedBatch> batches = prepare(all.shape, devices, options);
  if (all.rows.empty()) all.rows = checked_rows(all.shape, batches);
  std::vector<SampledWork> works;
  for (BatchRow& row : all.rows) {
    PreparedBatch* batch = find(batches, row.name);
    if (!batch || !row.not_measured.empty()) continue;
    const TimedWork work = [batch] { return std::vector{batch->run()}; };
    works.push_back(
        {row.is_on_gpu() ? with_clock(work, options) : work, &row.times, &row.not_measured});
  }
  sample(works, pass, options);
  for (BatchRow& row : all.rows) {
    PreparedBatch* batch = find(batches, row.name);
    if (batch && row.times.is_measured()) row.engines = batch->measure_engines();
  }
}

std::vector<Cell> cells_of(const BatchRows& all, const BatchRow& row) {
  std::vector<Cell> cells = {all.shape.text(), row.name};
  if (row.not_measured.empty()) {
    const Estimate seconds = row.times.time(0);
    cells.emplace_back(microseconds(seconds));
    cells.emplace_back(rate(all.shape.images, seconds));
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

const BatchRow* find(const std::vector<BatchRow>& rows, const std::string& name) {
  for (const BatchRow& row : rows) {
    if (row.name == name && row.times.is_measured()) return &row;
  }
  return nullptr;
}

std::string lesson(const BatchRows& all) {
  const BatchShape& shape = all.shape;
  const BatchRow* serial = find(all.rows, "GPU, image after image");
  const BatchRow* buffered = find(all.rows, "GPU, double-buffered");
  const BatchRow* batched = find(all.rows, "GPU, one batched call");
  if (!serial || !buffered || !batched) {
    const BatchRow* one = find(all.rows, "CPU, image after image, 1 core");
    const Estimate all_cores = all.speedup(all.rows.back());
    return one && all.rows.size() > 1 && all_cores.low > 1
               ? fmt::format(
                     "With {}, an image on each core is {} times as fast as one core. Work "
                     "on different images needs no communication.",
                     shape.text(), text::format_ratio(all_cores.median))
               : "";
  }
  return fmt::format(
      "With {}, double buffering, which copies one image while it computes another, is {} times as "
      "fast as image after image. Streams can hide at most all but the busiest engine, which "
      "is at work {:.0f} % of the time here; one batched call gains {} times, by fewer and larger "
      "calls alone.",
      shape.text(), text::format_ratio(all.speedup(*buffered).median),
      100 * std::max(
                {buffered->engines.copy_in, buffered->engines.compute, buffered->engines.copy_out}),
      text::format_ratio(all.speedup(*batched).median));
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
  std::vector<BatchRows> batches;
  std::vector<std::string> names;
  for (const BatchShape& shape : shapes) {
    batches.push_back({shape});
    names.push_back(shape.text());
  }
  const std::size_t complete = measure_in_passes(
      options, "factors given", names,
      [&](std::size_t i, std::size_t pass) { measure(batches[i], pass, devices, options); });
  for (const BatchRows& batch : std::span(batches).first(complete)) {
    for (const BatchRow& row : batch.rows) {
      table.add_row(cells_of(batch, row));
      result.is_right = result.is_right && row.is_right;
    }
    if (std::string text = lesson(batch); !text.empty()) table.lesson = std::move(text);
  }
  table.remove_empty_columns();
  table.notes = {
      std::string(
          "Times are from the first call until all images are in the memory of the host, by "
          "its clock. ") +
          kIntervalNote,
      "Before they were measured, all images were compared with those of OpenBLAS, and the first "
      "and "
      "the last of these with float64."};
  if (devices.gpu)
    table.notes.emplace_back(
        "GPU: the memory of the host is pinned, except in the rows that say pageable. Busy and "
        "overlap are of one more run with events around each copy and computation: the share of "
        "the time in which an engine works, and in which at least two of them do. What waits for "
        "its engine counts as work.");
  else
    table.notes.push_back(without_gpu_note("the rows of the GPU", devices.no_gpu_reason));
  result.tables.push_back(std::move(table));
  ExperimentResult computed = bench_lanes(devices, options);
  std::move(computed.tables.begin(), computed.tables.end(), std::back_inserter(result.tables));
  result.is_right = result.is_right && computed.is_right;
  return result;
}

}  // namespace eckart::bench
