#include "bench/file_rates.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "files/file_descriptor.hpp"
#include "files/throw_errno.hpp"
#include "flow/workers.hpp"
#include "io/input_file.hpp"
#include "io/publication.hpp"
#include "io/source.hpp"
#include "ledger/ledger.hpp"
#include "machine/machine_info.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;

std::string file_name(std::int64_t number) { return std::to_string(number) + ".png"; }

std::size_t size_of(const FileLoad& load, std::int64_t number) {
  return load.sizes.empty() ? 0 : load.sizes[std::size_t(number) % load.sizes.size()];
}

/// Bytes for the largest file.
std::vector<std::byte> make_content(const FileLoad& load) {
  const std::size_t size =
      load.sizes.empty() ? 0 : *std::max_element(load.sizes.begin(), load.sizes.end());
  return std::vector<std::byte>(size, std::byte(7));
}

FileRate measure(std::int64_t files, const std::function<void()>& work) {
  const Instant begin = Clock::now();
  const double cpu_before_s = machine::process_usage().cpu_s;
  work();
  return {.files = files,
          .wall_s = std::chrono::duration<double>(Clock::now() - begin).count(),
          .cpu_s = machine::process_usage().cpu_s - cpu_before_s};
}

/// Calls work(first, end) for groups of numbers on all threads. Each thread has consecutive
/// numbers. Rethrows the first exception.
FileRate measure_groups(const FileLoad& load,
                        const std::function<void(std::int64_t first, std::int64_t end)>& work) {
  std::mutex mutex;
  std::exception_ptr error;
  const FileRate rate = measure(load.files, [&] {
    flow::Workers workers(
        "files", load.threads,
        [&](int thread) {
          const std::int64_t end = load.files * (thread + 1) / load.threads;
          for (std::int64_t first = load.files * thread / load.threads; first < end;
               first += load.group)
            work(first, std::min<std::int64_t>(end, first + load.group));
        },
        [&](std::exception_ptr thrown) {
          const std::lock_guard lock(mutex);
          if (!error) error = std::move(thrown);
        });
    workers.join();
  });
  if (error) std::rethrow_exception(error);
  return rate;
}

void write_all(const files::FileDescriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) files::throw_errno("cannot write");
    bytes = bytes.subspan(std::size_t(written));
  }
}

}  // namespace

FileRate measure_plain_writing(const fs::path& folder, const FileLoad& load) {
  const std::vector<std::byte> content = make_content(load);
  return measure_groups(load, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t number = first; number < end; ++number) {
      const std::string name = folder / file_name(number), temporary = name + ".tmp";
      const files::FileDescriptor file(
          ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (!file) files::throw_errno("cannot create a file");
      write_all(file, std::span(content).first(size_of(load, number)));
      if (load.durable && !files::sync_descriptor(file)) files::throw_errno("cannot sync");
      if (::rename(temporary.c_str(), name.c_str()) != 0) files::throw_errno("cannot rename");
    }
  });
}

FileRate measure_publishing(const fs::path& folder, const FileLoad& load) {
  const std::vector<std::byte> content = make_content(load);
  return measure_groups(load, [&](std::int64_t first, std::int64_t end) {
    std::vector<io::Publication> publications(std::size_t(end - first));
    std::vector<io::Publication*> group;
    for (std::int64_t number = first; number < end; ++number) {
      io::Publication& publication = publications[std::size_t(number - first)];
      publication.add(folder / file_name(number), std::span(content).first(size_of(load, number)),
                      {}, io::TemporaryName::late);
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

FileRate measure_reading(const fs::path& folder, const FileLoad& load) {
  constexpr std::int64_t kMaxMebibytes = 1 << 20;
  return measure_groups(load, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t number = first; number < end; ++number) {
      const io::InputFile file(folder / file_name(number));
      if (file.size() > 0) static_cast<void>(file.read_all(kMaxMebibytes));
    }
  });
}

FileRate measure_source(const fs::path& folder) {
  std::int64_t files = 0;
  FileRate rate = measure(0, [&] {
    const std::unique_ptr<io::Source> source = io::make_source(folder);
    while (source->next({})) ++files;
  });
  rate.files = files;
  return rate;
}

FileRate measure_ledger(const fs::path& file, const FileLoad& load, bool random_order) {
  std::vector<std::int64_t> numbers(std::size_t(load.files));
  std::iota(numbers.begin(), numbers.end(), 1000000000);  // of equal length
  if (random_order) std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(1));
  ledger::Ledger ledger(file, {.durable = load.durable});
  return measure_groups(load, [&](std::int64_t first, std::int64_t end) {
    ledger::LedgerChanges intents, results;
    intents.sync = true;
    for (std::int64_t number = first; number < end; ++number) {
      const std::string name = file_name(numbers[std::size_t(number)]);
      ledger::OutputEntry entry{.output = name,
                                .input = "/in/" + name,
                                .settings = 1,
                                .state = {1000, 1700000000123456789, number},
                                .bytes = 1000,
                                .root_length = 4,
                                .output_mtime_ns = 1700000000123456789 + number};
      intents.intents.push_back(entry);
      entry.report = std::string(size_of(load, number), 'r');
      results.done.push_back(std::move(entry));
    }
    ledger.record(intents);
    ledger.record(results);
  });
}

}  // namespace eckart::bench
