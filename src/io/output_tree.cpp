#include "io/output_tree.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "codec/factors_file.hpp"
#include "core/error.hpp"
#include "core/rank_spec.hpp"
#include "files/output_name.hpp"
#include "files/state_folder.hpp"
#include "hash/name_hash.hpp"
#include "io/environment_error.hpp"
#include "io/sync_folder.hpp"
#include "io/temporary_file.hpp"
#include "text/ascii.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

void check_ranks_have_names(const std::string& name, std::size_t ranks) {
  if (ranks <= 1 || OutputTree::names_rank(name)) return;
  throw std::invalid_argument("the output name '" + name +
                              "' must contain {rank} or {label} because several ranks are set");
}

/// Extensions of images in formats that eckart does not read.
constexpr auto kOtherExtensions =
    std::to_array<std::string_view>({"gif", "heic", "heif", "avif", "jxl", "jp2"});

/// Returns the image format that the extension stands for, such as "jpeg" or "gif"; otherwise "".
std::string named_format(const std::string& name) {
  if (const auto format = codec::format_of_file_name(name)) return to_string(*format);
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return {};
  const std::string extension = text::to_lower_ascii(name.substr(dot + 1));
  const auto found = std::ranges::find(kOtherExtensions, extension);
  return found == kOtherExtensions.end() ? "" : extension;
}

/// Requires an extension, because other programs would not open the output, and eckart not list it.
void check_extension(const std::string& name, ImageFormat format) {
  constexpr std::string_view kExtension = "{ext}";
  if (name.ends_with("." + std::string(kExtension))) return;
  const std::string subject = "the output name '" + name + "' ";
  if (name.ends_with("{name}"))
    throw std::invalid_argument(
        subject +
        "ends with {name}, which has the extension of the input; end the name with .{ext}");
  const std::string named = named_format(name);
  if (named == to_string(format)) return;
  if (named.empty()) {
    std::string stem = name;
    if (stem.ends_with(kExtension)) stem.resize(stem.size() - kExtension.size());
    throw std::invalid_argument(subject + "lacks the extension of the format; use '" + stem +
                                ".{ext}'");
  }
  const std::string other =
      parse_enum<OutputFormat>(named) ? ", or set output.format to " + named : std::string();
  throw std::invalid_argument(subject + "has the extension of " + named + ", but the format is " +
                              to_string(format) + "; end the name with {ext}" + other);
}

std::string full_name_of(std::string pattern) {
  constexpr std::string_view kStem = "{stem}", kName = "{name}";
  for (std::size_t at = 0; (at = pattern.find(kStem, at)) != pattern.npos; at += kName.size())
    pattern.replace(at, kStem.size(), kName);
  return pattern;
}

}  // namespace

OutputTree::OutputTree(fs::path root, std::string name, const codec::Codec* codec,
                       const std::vector<RankPolicy>& ranks, ExtraOutputs extra)
    : root_((root / "").native()),
      name_(std::move(name)),
      full_name_(full_name_of(name_)),
      codec_(codec),
      extra_(extra) {
  files::validate_output_name(name_);
  if (!codec_) return;
  check_ranks_have_names(name_, ranks.size());
  check_extension(name_, codec_->format);
  for (const RankPolicy& policy : ranks) {
    const bool is_number = policy.kind == RankPolicy::Kind::rank;
    const std::string rank = file_name_label(policy);
    rank_names_.push_back({rank, (is_number ? "k" : "") + rank});
  }
}

std::string OutputTree::default_name(std::size_t ranks) {
  return ranks > 1 ? "{stem}.{label}.{ext}" : "{stem}.{ext}";
}

bool OutputTree::names_rank(const std::string& name) {
  return name.find("{rank}") != name.npos || name.find("{label}") != name.npos;
}

/// Builds text, because a path would be parsed at each step, and each image needs some.
std::string OutputTree::path_of(const std::string& pattern, const fs::path& relative,
                                const RankNames& names, std::string_view extension) const {
  const std::string& input = relative.native();
  const std::size_t name_at = input.rfind('/') + 1;  // 0 if there is no slash
  return root_ + input.substr(0, name_at) +
         files::expand_output_name(pattern, [&](std::string_view field) -> std::string {
           if (field == "stem") return relative.stem().native();
           if (field == "name") return input.substr(name_at);
           if (field == "ext") return std::string(extension);
           return field == "label" ? names.label : names.rank;
         });
}

/// Returns a path with the extension by which inputs are found.
std::string OutputTree::factors_path_of(const std::string& pattern,
                                        const fs::path& relative) const {
  constexpr const char* kLabel = "factors";
  std::string path = path_of(pattern, relative, {kLabel, kLabel}, codec::kFactorsExtension);
  const std::string extension = std::string(".") + codec::kFactorsExtension;
  if (fs::path(path).extension() != extension) path += extension;
  return path;
}

std::vector<fs::path> OutputTree::outputs_of(const fs::path& relative, Naming naming) const {
  std::vector<fs::path> paths;
  for (const RankNames& names : rank_names_)
    paths.emplace_back(path_of(pattern_of(naming), relative, names, codec_->extension));
  if (extra_.residuals) {
    for (std::size_t i = 0; i < rank_names_.size(); ++i) {
      const std::string extension = paths[i].extension().native();
      paths.push_back(fs::path(paths[i]).replace_extension(".residual" + extension));
    }
  }
  if (extra_.factors) paths.emplace_back(factors_path_of(pattern_of(naming), relative));
  return paths;
}

bool OutputTree::have_usual_names(const std::vector<fs::path>& outputs,
                                  const fs::path& relative) const {
  // All outputs have names of the same kind.
  if (rank_names_.empty())
    return outputs.empty() || outputs.front().native() == factors_path_of(name_, relative);
  return !outputs.empty() && outputs.front().native() ==
                                 path_of(name_, relative, rank_names_.front(), codec_->extension);
}

std::string_view OutputTree::below_root(const fs::path& output) const {
  return std::string_view(output.native()).substr(root_.size());
}

std::vector<std::uint64_t> OutputTree::hashes_of(const std::vector<fs::path>& outputs) const {
  std::vector<std::uint64_t> hashes(outputs.size());
  std::ranges::transform(outputs, hashes.begin(), [&](const fs::path& output) {
    const std::string_view name = below_root(output);
    return is_case_insensitive_ ? hash::name_hash(text::to_lower_ascii(std::string(name)))
                                : hash::name_hash(name);
  });
  return hashes;
}

std::vector<fs::path> OutputTree::possible_factors_of(const fs::path& relative) const {
  std::vector<fs::path> paths;
  for (const std::string& pattern : {name_, default_name(1), default_name(2)}) {
    for (const std::string& name : {pattern, full_name_of(pattern)}) {
      fs::path path = factors_path_of(name, relative);
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
    }
  }
  return paths;
}

std::vector<fs::path> OutputTree::reserve(const fs::path& relative, Naming naming) {
  std::vector<fs::path> outputs = outputs_of(relative, naming);
  const auto is_in_state_folder = [&](const fs::path& output) {
    const std::string_view name = below_root(output);
    return name.find(files::kStateFolder) != name.npos &&
           *fs::path(name).lexically_normal().begin() == files::kStateFolder;
  };
  if (std::ranges::any_of(outputs, is_in_state_folder))
    throw ItemError(FailureReason::output_collision, "its output " + outputs.front().string() +
                                                         " would be inside the folder .eckart");
  const std::vector<std::uint64_t> hashes = hashes_of(outputs);
  const std::uint64_t input = hash::name_hash(relative.native());
  if (const auto taken = reserve(hashes, input)) {
    const bool has_other_name = taken->input != input;
    if (!has_other_name || naming == Naming::full || full_name_ == name_)
      throw ItemError(FailureReason::output_collision,
                      "its output " + outputs[taken->index].string() +
                          " is already the output of another input" +
                          (has_other_name ? "" : ", unless this input was given twice") +
                          "; rename one of the inputs or set output.name");
    return reserve(relative, Naming::full);
  }
  return outputs;
}

/// Reserves all of the outputs or none. Returns the first that is reserved already.
std::optional<OutputTree::TakenOutput> OutputTree::reserve(
    const std::vector<std::uint64_t>& outputs, std::uint64_t input) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto [reserved, is_new] = reserved_.try_emplace(outputs[i], input);
    const auto own = outputs.begin() + std::ptrdiff_t(i);
    if (is_new || std::find(outputs.begin(), own, outputs[i]) != own) continue;
    for (std::size_t before = 0; before < i; ++before) reserved_.erase(outputs[before]);
    return TakenOutput{i, reserved->second};
  }
  return std::nullopt;
}

void OutputTree::release(const fs::path& relative) {
  const std::uint64_t input = hash::name_hash(relative.native());
  const std::lock_guard lock(mutex_);
  for (const Naming naming : {Naming::usual, Naming::full}) {
    for (const std::uint64_t hash : hashes_of(outputs_of(relative, naming))) {
      const auto reserved = reserved_.find(hash);
      if (reserved != reserved_.end() && reserved->second == input) reserved_.erase(reserved);
    }
  }
}

bool prepare_output_root(const fs::path& root) {
  try {
    make_folders(root);
    const TemporaryFile probe(root);
    std::string name = probe.path().filename();
    for (char& c : name) c = char(std::toupper(static_cast<unsigned char>(c)));
    return fs::exists(root / name);
  } catch (const std::system_error& error) {
    fail_to_create(error.code().value(), "cannot create files in the output folder " +
                                             root.string() + ": " + error.code().message());
  }
}

}  // namespace eckart::io
