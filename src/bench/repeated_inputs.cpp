#include "bench/repeated_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/input_file.hpp"
#include "io/open_archive.hpp"
#include "io/read_file.hpp"
#include "io/source.hpp"
#include "text/path_list.hpp"
#include "text/printable.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> evenly_spaced(const std::vector<fs::path>& files, std::size_t count) {
  std::vector<fs::path> chosen;
  chosen.reserve(count);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(files[i * files.size() / count]);
  return chosen;
}

std::uintmax_t total_bytes(const std::vector<fs::path>& files) {
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files) {
    try {
      bytes += std::uintmax_t(io::state_of(file).size);
    } catch (const ItemError&) {  // who reads it reports the error
    }
  }
  return bytes;
}

void copy_input(const fs::path& file, const fs::path& copy, std::error_code& error) {
  if (!io::parse_member_path(file)) {
    fs::copy_file(file, copy, error);
    return;
  }
  const io::InputFile member(file);
  std::vector<std::byte> bytes(std::size_t(member.size()));
  bytes.resize(member.read_at(0, bytes));
  std::ofstream out(copy, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  out.close();
  if (!out) error = std::make_error_code(std::errc::io_error);
}

}  // namespace

std::vector<fs::path> list_images(const std::vector<fs::path>& inputs) {
  std::vector<fs::path> files;
  for (const fs::path& input : inputs) {
    const auto source = io::make_source(input);
    while (const auto arrival = source->next({})) {
      if (!arrival->outcome.ok())
        throw FatalError(arrival->outcome.reason == FailureReason::not_found
                             ? ExitCode::no_input
                             : ExitCode::nothing_readable,
                         text::printable(arrival->file.native()) + ": " + arrival->outcome.detail);
      files.push_back(fs::absolute(arrival->file));
    }
  }
  if (files.empty())
    throw FatalError(ExitCode::nothing_readable, "no images in " + text::path_list(inputs));
  return files;
}

std::vector<fs::path> choose_sample(const std::vector<fs::path>& files, std::size_t max_files,
                                    std::uintmax_t max_bytes) {
  std::vector<fs::path> sample = evenly_spaced(files, std::min(files.size(), max_files));
  const std::uintmax_t bytes = total_bytes(sample);
  if (bytes <= max_bytes) return sample;
  const double share = double(max_bytes) / double(bytes);
  return evenly_spaced(sample,
                       std::max<std::size_t>(1, std::size_t(share * double(sample.size()))));
}

RepeatedInputs::RepeatedInputs(fs::path root, std::vector<fs::path> files, Kind kind)
    : root_(std::move(root)), files_(std::move(files)), kind_(kind) {}

void RepeatedInputs::grow(std::size_t count, const std::stop_token& stop) {
  while (paths_.size() < count && !stop.stop_requested()) {
    const std::size_t file = paths_.size() % files_.size();
    const fs::path folder = root_ / std::to_string(paths_.size() / files_.size());
    if (file == 0) fs::create_directories(folder);
    fs::path path = folder / (std::to_string(file) + files_[file].extension().string());
    make(path, file);
    paths_.push_back(std::move(path));
  }
}

void RepeatedInputs::shrink(std::size_t count) {
  for (; paths_.size() > count; paths_.pop_back()) fs::remove(paths_.back());
}

void RepeatedInputs::make(const fs::path& path, std::size_t file) const {
  if (kind_ == Kind::links && !io::parse_member_path(files_[file]))
    return fs::create_symlink(files_[file], path);
  std::error_code error;
  if (paths_.size() >= files_.size()) fs::create_hard_link(paths_[file], path, error);
  if (paths_.size() >= files_.size() && !error) return;
  error.clear();  // the first copy; or there are too many links or none
  copy_input(files_[file], path, error);
  if (error)
    throw FatalError(ExitCode::io_error,
                     text::printable(files_[file].native()) + ": cannot be copied to " +
                         text::printable(root_.native()) + ": " + error.message());
}

std::string RepeatedInputs::with_original_path(std::string message) const {
  const std::string inputs = text::printable((root_ / "").native());
  const std::size_t begin = message.find(inputs);
  const std::size_t slash =
      begin == message.npos ? begin : message.find('/', begin + inputs.size());
  if (slash == message.npos) return message;
  std::size_t index = 0;
  const char* const first = message.data() + slash + 1;
  const auto [rest, error] = std::from_chars(first, message.data() + message.size(), index);
  if (error != std::errc{} || index >= files_.size()) return message;
  const fs::path& file = files_[index];
  const std::size_t end =
      std::size_t(rest - message.data()) + text::printable(file.extension().native()).size();
  return message.replace(begin, end - begin, text::printable(file.native()));
}

}  // namespace eckart::bench
