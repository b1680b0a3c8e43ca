#include "bench/experiments/transfer_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "bench/cpu/cpu_device.hpp"
#include "compute/out_of_memory.hpp"
#include "machine/usable_memory.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

std::string size_text(std::size_t bytes) {
  if (bytes < kMiB) return fmt::format("{} KiB", bytes / kKiB);
  return bytes < 1024 * kMiB ? fmt::format("{} MiB", bytes / kMiB)
                             : fmt::format("{} GiB", bytes / kMiB / 1024);
}

/// A row: its name, its work, and the bytes that it moves.
struct NamedWork {
  std::string name;
  RepeatableWork work;
  double bytes = 0;
  bool is_on_gpu = true;
};

struct MeasuredWork {
  std::size_t size = 0;  ///< bytes
  std::string name{};
  double bytes = 0;
  MeasuredTimes times{};
  std::string not_measured{};  ///< why; empty: it was

  bool is_measured() const { return times.is_measured(); }
  Estimate seconds() const { return times.time(0); }
};

using MakeWorks = std::function<std::vector<NamedWork>(std::size_t size)>;

/// Makes the works of a size, and measures them once.
void measure_size(std::size_t size, const MakeWorks& make_works, std::vector<MeasuredWork>& rows,
                  std::size_t pass, const ExperimentOptions& options) {
  const bool was_too_large = rows.size() == 1 && rows.front().name.empty();
  if (was_too_large) return;
  std::vector<NamedWork> named;
  try {
    named = make_works(size);
  } catch (const compute::OutOfMemory& error) {
    if (rows.empty()) rows.push_back({.size = size, .not_measured = error.what()});
    return;
  }
  if (rows.empty()) {
    for (const NamedWork& each : named)
      rows.push_back({.size = size, .name = each.name, .bytes = each.bytes});
  }
  std::vector<SampledWork> works;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (!rows[i].not_measured.empty()) continue;
    const TimedWork work = [work = named[i].work] { return std::vector{work()}; };
    works.push_back({named[i].is_on_gpu ? with_clock(work, options) : work, &rows[i].times,
                     &rows[i].not_measured});
  }
  sample(works, pass, options);
}

/// Measures the works of all sizes. If the memory is too small for a size, a row says so.
std::vector<MeasuredWork> measure(const std::string& title, const std::vector<std::size_t>& sizes,
                                  const ExperimentOptions& options, const MakeWorks& make_works) {
  std::vector<std::vector<MeasuredWork>> rows_of_sizes(sizes.size());
  std::vector<std::string> names;
  names.reserve(sizes.size());
  for (const std::size_t size : sizes) names.push_back(size_text(size));
  const std::size_t complete =
      measure_in_passes(options, title, names, [&](std::size_t i, std::size_t pass) {
        measure_size(sizes[i], make_works, rows_of_sizes[i], pass, options);
      });
  std::vector<MeasuredWork> rows;
  for (std::vector<MeasuredWork>& of_size : std::span(rows_of_sizes).first(complete))
    std::move(of_size.begin(), of_size.end(), std::back_inserter(rows));
  return rows;
}

Table make_table(const std::string& name, const std::string& title,
                 const std::vector<MeasuredWork>& rows) {
  Table table{.name = name,
              .title = title,
              .columns = {{"size", "size", ""},
                          {"what", "what", ""},
                          {"time_us", "time", "us", true},
                          {"gb_per_s", "rate", "GB/s"}},
              .rows = {}};
  for (const MeasuredWork& row : rows) {
    const bool has_rate = row.bytes > 0 && row.is_measured();
    table.add_row({size_text(row.size), row.name.empty() ? Cell() : Cell(row.name),
                   row.not_measured.empty() ? microseconds(row.seconds())
                                            : Cell(NotMeasured{row.not_measured}),
                   has_rate ? Cell(rate(1e-9 * row.bytes, row.seconds())) : Cell()});
  }
  table.remove_empty_columns();
  return table;
}

std::vector<NamedWork> copies(const Devices& devices, std::size_t size) {
  const auto bytes = double(size);
  std::vector<NamedWork> works;
  if (devices.gpu) {
    for (const auto& [memory, memory_name] :
         {std::pair{HostMemory::pageable, "pageable"}, std::pair{HostMemory::pinned, "pinned"}}) {
      works.push_back({fmt::format("to the GPU, {}", memory_name),
                       devices.gpu->copy(memory, Direction::to_device, size), bytes});
      works.push_back({fmt::format("from the GPU, {}", memory_name),
                       devices.gpu->copy(memory, Direction::from_device, size), bytes});
      // Copies of pageable memory do not overlap.
      works.push_back(
          {fmt::format("both {}, {}", memory == HostMemory::pinned ? "at once" : "directions",
                       memory_name),
           devices.gpu->copy(memory, Direction::both, size), 2 * bytes});
    }
  }
  works.push_back({"in memory of the host, 1 core", make_cpu_copy(1, size), bytes, false});
  if (devices.cores > 1)
    works.push_back({fmt::format("in memory of the host, {} cores", devices.cores),
                     make_cpu_copy(devices.cores, size), bytes, false});
  return works;
}

std::vector<NamedWork> allocations(const Devices& devices, std::size_t size) {
  std::vector<NamedWork> works;
  works.push_back({"pageable, written once", make_cpu_allocation(size), 0, false});
  works.push_back({"nothing: pageable memory is written again", make_cpu_write(size), 0, false});
  if (!devices.gpu) return works;
  works.push_back({"pinned", devices.gpu->allocation(Allocation::pinned, size)});
  works.push_back(
      {"pinning pageable memory", devices.gpu->allocation(Allocation::registered, size)});
  works.push_back({"on the GPU", devices.gpu->allocation(Allocation::device, size)});
  return works;
}

std::vector<NamedWork> additions(const Devices& devices, std::size_t size) {
  const auto bytes = 3 * double(size);
  const std::size_t elements = size / sizeof(float);
  return {
      {"copied to the GPU and back", devices.gpu->add_host_vectors(true, elements), bytes},
      {"read and written by the kernel", devices.gpu->add_host_vectors(false, elements), bytes}};
}

html::PlotSeries series(const std::vector<MeasuredWork>& rows, const std::string& name,
                        const char* css_class, html::PlotSeries::Style style) {
  html::PlotSeries line{.label = name, .css_class = css_class, .style = style, .points = {}};
  for (const MeasuredWork& row : rows) {
    if (row.name == name && row.is_measured())
      line.points.emplace_back(double(row.size) / double(kMiB),
                               rate(1e-9 * row.bytes, row.seconds()).median);
  }
  return line;
}

const MeasuredWork* find(const std::vector<MeasuredWork>& rows, std::size_t size,
                         const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const MeasuredWork& row) {
    return row.size == size && row.name == name && row.is_measured();
  });
  return found == rows.end() ? nullptr : &*found;
}

/// What copies in memory teach, without a GPU.
std::string host_copy_lesson(const std::vector<MeasuredWork>& rows, std::size_t smallest,
                             std::size_t largest) {
  const char* const kName = "in memory of the host, 1 core";
  const MeasuredWork *small = find(rows, smallest, kName), *large = find(rows, largest, kName);
  if (!small || !large) return {};
  const auto gb_per_s = [](const MeasuredWork& row) {
    return text::format_number(rate(1e-9 * row.bytes, row.seconds()).median);
  };
  return fmt::format(
      "A core copies {} at {} GB/s, and {}, which fits into its caches, at {} GB/s. A copy to a "
      "GPU can be no faster than the memory that it reads.",
      size_text(largest), gb_per_s(*large), size_text(smallest), gb_per_s(*small));
}

std::string copy_lesson(const std::vector<MeasuredWork>& rows, std::size_t smallest,
                        std::size_t largest) {
  const MeasuredWork* pinned = find(rows, largest, "to the GPU, pinned");
  if (!pinned) return host_copy_lesson(rows, smallest, largest);
  const MeasuredWork* pageable = find(rows, largest, "to the GPU, pageable");
  const MeasuredWork* small = find(rows, smallest, "to the GPU, pinned");
  if (!pageable || !small) return {};
  return fmt::format(
      "{} to the GPU takes {} times as long from pageable as from pinned memory: the driver copies "
      "pageable memory to a pinned buffer of its own first. {} takes {}, almost all of "
      "which is the cost of a call: few large copies beat many small ones.",
      size_text(largest), text::format_ratio(pageable->seconds().median / pinned->seconds().median),
      size_text(smallest), text::format_duration(small->seconds().median));
}

std::string allocation_lesson(const std::vector<MeasuredWork>& rows, std::size_t largest) {
  const MeasuredWork* fresh = find(rows, largest, "pageable, written once");
  const MeasuredWork* again = find(rows, largest, "nothing: pageable memory is written again");
  const MeasuredWork* pinned = find(rows, largest, "pinned");
  if (!fresh || !again) return {};
  std::string lesson = fmt::format(
      "Writing {} takes {} times as long if the memory is new, because the system must give it "
      "pages first.",
      size_text(largest), text::format_ratio(fresh->seconds().median / again->seconds().median));
  if (pinned)
    lesson += fmt::format(" Pinned memory takes {} to be allocated and freed.",
                          text::format_duration(pinned->seconds().median));
  return lesson + " Allocate memory once, and use it again.";
}

Table copy_table(const Devices& devices, const ExperimentOptions& options,
                 const std::vector<std::size_t>& sizes_in_bytes) {
  const std::vector<MeasuredWork> rows = measure(
      "copies", sizes_in_bytes, options, [&](std::size_t size) { return copies(devices, size); });
  Table table = make_table("copies", "Copies", rows);
  table.notes = {
      std::string(
          "Times are from the call until the data has arrived, by the clock of the host. ") +
          kIntervalNote,
      "Rates count copied bytes once; each is read and written. With both directions, the bytes of "
      "both count. Copies of pageable memory do not overlap."};
  if (devices.gpu)
    table.notes.emplace_back(
        "A copy to the GPU and back was compared with the original before it was measured.");
  else
    table.notes.push_back(without_gpu_note(
        "copies to and from it, its memory, and kernels that use memory of the host",
        devices.no_gpu_reason));
  table.lesson = copy_lesson(rows, sizes_in_bytes.front(), sizes_in_bytes.back());
  using Style = html::PlotSeries::Style;
  html::Plot plot =
      logarithmic_plot("Copies", "MiB", "GB/s",
                       {series(rows, "to the GPU, pinned", "c1", Style::line),
                        series(rows, "from the GPU, pinned", "c1", Style::dashed),
                        series(rows, "both at once, pinned", "c1", Style::dotted),
                        series(rows, "to the GPU, pageable", "c2", Style::line),
                        series(rows, "from the GPU, pageable", "c2", Style::dashed),
                        series(rows, "in memory of the host, 1 core", "c3", Style::line)});
  if (!plot.series.empty()) table.plots.push_back(std::move(plot));
  return table;
}

Table allocation_table(const Devices& devices, const ExperimentOptions& options,
                       const std::vector<std::size_t>& sizes_in_bytes) {
  const std::vector<MeasuredWork> rows =
      measure("allocations", sizes_in_bytes, options,
              [&](std::size_t size) { return allocations(devices, size); });
  Table table = make_table("allocations", "Allocating and freeing memory", rows);
  table.lesson = allocation_lesson(rows, sizes_in_bytes.back());
  return table;
}

Table host_vector_table(const Devices& devices, const ExperimentOptions& options,
                        const std::vector<std::size_t>& sizes_in_bytes) {
  const std::vector<MeasuredWork> rows = measure(
      "sums", sizes_in_bytes, options, [&](std::size_t size) { return additions(devices, size); });
  Table table = make_table("host_vectors",
                           "Sum of two vectors in pinned memory, back to pinned memory", rows);
  const std::size_t largest = sizes_in_bytes.back();
  const MeasuredWork* with_copies = find(rows, largest, "copied to the GPU and back");
  const MeasuredWork* in_place = find(rows, largest, "read and written by the kernel");
  if (with_copies && in_place)
    table.lesson = fmt::format(
        "A kernel that uses memory of the host in place takes {} times the time with copies at {}. "
        "It reads and writes at the same time, but each element crosses the bus each time it is "
        "used: this can pay for data that is used once.",
        text::format_ratio(in_place->seconds().median / with_copies->seconds().median),
        size_text(largest));
  return table;
}

}  // namespace

ExperimentResult bench_transfer(const Devices& devices, const ExperimentOptions& options) {
  std::vector<std::size_t> sizes_in_bytes =
      sizes<std::size_t>(options, {4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB, 256 * kMiB, 1024 * kMiB},
                         {4 * kKiB, kMiB, 64 * kMiB}, {4 * kKiB, kMiB});
  constexpr std::size_t kBuffers = 20;
  const auto memory = std::size_t(machine::usable_memory_bytes());
  std::erase_if(sizes_in_bytes, [&](std::size_t size) { return kBuffers * size > memory; });
  ExperimentResult result;
  result.tables.push_back(copy_table(devices, options, sizes_in_bytes));
  result.tables.push_back(allocation_table(devices, options, sizes_in_bytes));
  if (devices.gpu) result.tables.push_back(host_vector_table(devices, options, sizes_in_bytes));
  return result;
}

}  // namespace eckart::bench
