#include "app/quarantine_list.hpp"

#include <cstddef>
#include <optional>

#include "io/quarantine.hpp"
#include "io/quarantine_record.hpp"
#include "io/read_small_file.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRecordBytes = 1 << 20;

}  // namespace

std::vector<QuarantineEntry> list_quarantine(const fs::path& folder) {
  std::vector<QuarantineEntry> all;
  for (const fs::path& file : io::quarantine_records(folder)) {
    QuarantineEntry& entry =
        all.emplace_back(QuarantineEntry{file, io::file_of_record(file), {}, {}, {}});
    const auto record = io::read_small_file(file, kMaxRecordBytes);
    const auto from = record ? io::parse_quarantined_input(*record) : std::nullopt;
    if (!from) continue;
    entry.input = from->input;
    entry.root = from->root;
    entry.real_root = from->real_root;
  }
  return all;
}

std::set<std::string> quarantined_inputs(const fs::path& output) {
  std::set<std::string> inputs;
  for (const QuarantineEntry& entry : list_quarantine(io::quarantine_folder(output))) {
    if (entry.input && !io::is_kept_record(entry.record_file)) inputs.insert(entry.input->native());
  }
  return inputs;
}

}  // namespace eckart::app
