#include "bench/file_rates.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "files/file_descriptor.hpp"
#include "files/throw_errno.hpp"
#include "io/input_file.hpp"
#include "io/publication.hpp"
#include "io/source.hpp"
#include "ledger/ledger.hpp"
#include "telemetry/json/measurement_json.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;

std::string file_name(std::int64_t number) { return std::to_string(number) + ".png"; }

fs::path file_path(const fs::path& folder, const FileLoad& load, std::int64_t number) {
  if (load.files_per_folder == 0) return folder / file_name(number);
  return folder / std::to_string(number / load.files_per_folder) / file_name(number);
}

void create_folders(const fs::path& folder, const FileLoad& load) {
  if (load.files_per_folder == 0) return;
  for (std::int64_t first = 0; first < load.files; first += load.files_per_folder)
    fs::create_directories(file_path(folder, load, first).parent_path());
}

std::size_t size_of(const FileLoad& load, std::int64_t number) {
  return load.sizes.empty() ? 0 : load.sizes[std::size_t(number) % load.sizes.size()];
}

/// Bytes for the largest file.
std::vector<std::byte> make_content(const FileLoad& load) {
  const std::size_t size =
      load.sizes.empty() ? 0 : *std::max_element(load.sizes.begin(), load.sizes.end());
  return std::vector<std::byte>(size, std::byte(7));
}

/// Calls work(first, end) for groups of numbers on one of the threads of the load. Each thread has
/// consecutive numbers.
void for_each_group(const FileLoad& load, int thread,
                    const std::function<void(std::int64_t first, std::int64_t end)>& work) {
  const std::int64_t end = load.files * (thread + 1) / load.threads;
  for (std::int64_t first = load.files * thread / load.threads;
       first < end && !load.stop.stop_requested(); first += load.group)
    work(first, std::min<std::int64_t>(end, first + load.group));
}

Rate measure_groups(const FileLoad& load,
                    const std::function<void(std::int64_t first, std::int64_t end)>& work) {
  return measure_on_threads(load.threads, load.files,
                            [&](int thread) { for_each_group(load, thread, work); });
}

void write_all(const files::FileDescriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) files::throw_errno("cannot write");
    bytes = bytes.subspan(std::size_t(written));
  }
}

void write_file(const std::string& name, std::span<const std::byte> content, bool durable) {
  const std::string temporary = name + ".tmp";
  const files::FileDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) files::throw_errno("cannot create a file");
  write_all(file, content);
  if (durable && !files::sync_descriptor(file)) files::throw_errno("cannot sync");
  if (::rename(temporary.c_str(), name.c_str()) != 0) files::throw_errno("cannot rename");
}

/// Writes the files of a load by plain system calls.
class PlainWriter {
 public:
  PlainWriter(const fs::path& folder, const FileLoad& load)
      : folder_(folder), load_(load), content_(make_content(load)) {
    create_folders(folder, load);
  }
  void operator()(std::int64_t first, std::int64_t end) const {
    for (std::int64_t number = first; number < end; ++number)
      write_file(file_path(folder_, load_, number),
                 std::span(content_).first(size_of(load_, number)), load_.durable);
  }

 private:
  const fs::path& folder_;
  const FileLoad& load_;
  const std::vector<std::byte> content_;
};

void read_file(const fs::path& path) {
  constexpr std::int64_t kMaxMebibytes = 1 << 20;
  const io::InputFile file(path);
  if (file.size() > 0) static_cast<void>(file.read_all(kMaxMebibytes));
}

/// Reads files on any number of threads.
class Reader {
 public:
  Reader(std::span<const fs::path> files, const std::stop_token& stop)
      : files_(files), stop_(stop) {}
  void read() {
    for (std::size_t i = next_++; i < files_.size() && !stop_.stop_requested(); i = next_++)
      read_file(files_[i]);
  }

 private:
  const std::span<const fs::path> files_;
  const std::stop_token& stop_;
  std::atomic<std::size_t> next_{0};
};

/// Of a gray image: its numbers have as many digits as those of a run.
telemetry::OutputMeasurement make_measurement() {
  telemetry::OutputMeasurement output;
  output.rows = 208, output.cols = 176, output.channels = 1, output.bits = 8;
  output.color = "gray";
  output.rank_spec = "20";
  output.rank = 20;
  output.channel_ranks = {20};
  output.energy = {0.9950221180915833};
  output.sigma1 = {12845.2744140625};
  output.sigma_threshold = {123.45678901234567};
  output.solvers = {"subspace"};
  output.peak = 255;
  output.psnr_before_rounding_db = output.psnr_db = output.file_psnr_db = 32.20416259765625;
  output.rmse = output.file_rmse = 6.255434989929199;
  output.loss_estimate_db = 0.00012345678901234567;
  output.raw_bytes = 36608;
  output.source_bytes = 5012;
  output.factor_bytes = 30800;
  output.written_bytes = 9123;
  output.load_ms = output.wait_ms = output.compute_ms = output.write_ms = 0.12345678901234567;
  return output;
}

}  // namespace

Rate measure_plain_writing(const fs::path& folder, const FileLoad& load) {
  return measure_groups(load, PlainWriter(folder, load));
}

Rate measure_publishing(const fs::path& folder, const FileLoad& load) {
  const std::vector<std::byte> content = make_content(load);
  create_folders(folder, load);
  return measure_groups(load, [&](std::int64_t first, std::int64_t end) {
    std::vector<io::Publication> publications(std::size_t(end - first));
    std::vector<io::Publication*> group;
    for (std::int64_t number = first; number < end; ++number) {
      io::Publication& publication = publications[std::size_t(number - first)];
      publication.add(file_path(folder, load, number),
                      std::span(content).first(size_of(load, number)), {}, io::TemporaryName::late);
      group.push_back(&publication);
    }
    const auto refuse_to_replace = [](std::size_t, const fs::path&,
                                      const fs::path&) -> io::CollisionAction {
      throw ItemError(FailureReason::output_collision, "a file exists");
    };
    io::publish(group, {.durable = load.durable, .resolve_collision = refuse_to_replace},
                [](std::size_t, const ItemError& error) { throw error; });
  });
}

Rate measure_reading(std::span<const fs::path> files, int threads, const std::stop_token& stop) {
  Reader reader(files, stop);
  return measure_on_threads(threads, std::int64_t(files.size()), [&](int) { reader.read(); });
}

Rate measure_reading_and_writing(std::span<const fs::path> files, int read_threads,
                                 const fs::path& folder, const FileLoad& load) {
  Reader reader(files, load.stop);
  const PlainWriter writer(folder, load);
  return measure_on_threads(read_threads + load.threads, std::int64_t(files.size()),
                            [&](int thread) {
                              if (thread < read_threads)
                                reader.read();
                              else
                                for_each_group(load, thread - read_threads, writer);
                            });
}

Rate measure_listing(const fs::path& folder, const std::stop_token& stop) {
  std::int64_t files = 0;
  Rate rate = measure_work([&] {
    const std::unique_ptr<io::Source> source = io::make_source(folder);
    while (source->next(stop)) ++files;
  });
  rate.count = files;
  return rate;
}

Rate measure_ledger(const fs::path& file, const FileLoad& load, bool random_order) {
  std::vector<std::int64_t> numbers(std::size_t(load.files));
  std::iota(numbers.begin(), numbers.end(), 1000000000);  // of equal length
  if (random_order) std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(1));
  const std::string report = telemetry::json_values(make_measurement());
  ledger::Ledger ledger(file, {.durable = load.durable});
  // The results of a group are recorded with the intents of the next.
  const auto record_group = [&](ledger::LedgerChanges& changes, std::int64_t first,
                                std::int64_t end) {
    ledger::LedgerChanges results;
    changes.sync = true;
    for (std::int64_t number = first; number < end; ++number) {
      const std::string name = file_name(numbers[std::size_t(number)]);
      ledger::OutputEntry entry{.output = name,
                                .input = "/in/" + name,
                                .settings = 1,
                                .state = {1000, 1700000000123456789, number},
                                .bytes = 1000,
                                .root_length = 4,
                                .output_mtime_ns = 1700000000123456789 + number};
      changes.intents.push_back(entry);
      entry.report = report;
      entry.report_keys = telemetry::json_keys();
      results.done.push_back(std::move(entry));
    }
    ledger.record(changes);
    changes = std::move(results);
  };
  return measure_on_threads(load.threads, load.files, [&](int thread) {
    ledger::LedgerChanges changes;
    for_each_group(load, thread, [&](std::int64_t first, std::int64_t end) {
      record_group(changes, first, end);
    });
    ledger.record(changes);
  });
}

}  // namespace eckart::bench
