#include "io/output_tree.hpp"

#include <functional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/real_path.hpp"
#include "io/temporary_file.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// Puts what `value_of` gives for a field's name in the place of each {field}.
std::string expand(std::string_view name,
                   const std::function<std::string(std::string_view)>& value_of) {
  std::string result;
  for (;;) {
    const std::size_t open = name.find('{');
    result += name.substr(0, open);
    if (open == name.npos) return result;
    const std::size_t close = name.find('}', open);
    if (close == name.npos) throw std::invalid_argument("an output name has a '{' without its '}'");
    result += value_of(name.substr(open + 1, close - open - 1));
    name.remove_prefix(close + 1);
  }
}

void check_name(const std::string& name, std::size_t ranks) {
  if (name.empty() || name == "." || name == "..") {
    throw std::invalid_argument("'" + name + "' cannot be an output name");
  }
  if (name.find('/') != name.npos || name.find('\0') != name.npos) {
    throw std::invalid_argument("the output name '" + name +
                                "' has a slash or a null byte; it names a file, not a folder");
  }
  bool has_rank = false;
  expand(name, [&](std::string_view field) -> std::string {
    if (field == "rank") has_rank = true;
    if (field == "stem" || field == "name" || field == "ext" || field == "rank") return {};
    throw std::invalid_argument("the output name '" + name + "' has {" + std::string(field) +
                                "}; there are {stem}, {name}, {ext} and {rank}");
  });
  if (ranks > 1 && !has_rank) {
    throw std::invalid_argument("the output name '" + name +
                                "' needs {rank}, since there are several ranks");
  }
}

[[noreturn]] void fail_cannot_create(const fs::path& root, const std::error_code& why) {
  const bool forbidden =
      why == std::errc::permission_denied || why == std::errc::operation_not_permitted;
  throw FatalError(
      forbidden ? ExitCode::no_permission : ExitCode::cannot_create,
      "cannot create files in the output folder " + root.string() + ": " + why.message());
}

}  // namespace

OutputTree::OutputTree(fs::path root, std::string name, const Codec& codec,
                       std::vector<RankPolicy> ranks)
    : root_(std::move(root)), name_(std::move(name)), codec_(codec), ranks_(std::move(ranks)) {
  check_name(name_, ranks_.size());
}

std::string OutputTree::default_name(std::size_t ranks) {
  return ranks > 1 ? "{stem}.k{rank}.{ext}" : "{stem}.{ext}";
}

std::vector<fs::path> OutputTree::claim(const fs::path& relative) {
  std::vector<fs::path> paths;
  std::vector<std::uint64_t> hashes;
  for (const RankPolicy& rank : ranks_) {
    const std::string file = expand(name_, [&](std::string_view field) -> std::string {
      if (field == "stem") return relative.stem().native();
      if (field == "name") return relative.filename().native();
      if (field == "ext") return std::string(codec_.extension);
      return to_string(rank);
    });
    const fs::path place = relative.parent_path() / file;
    paths.push_back(root_ / place);
    hashes.push_back(std::hash<std::string>{}(place.native()));
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (!claimed_.contains(hashes[i])) continue;
    throw ItemError(Reason::output_collision,
                    "its output " + paths[i].string() +
                        " belongs to an earlier input: the same name in two folders, or the same "
                        "input twice, or, told apart by {name} in output.name, a.jpg and a.png");
  }
  claimed_.insert(hashes.begin(), hashes.end());
  return paths;
}

void check_outside(const fs::path& root, const std::vector<fs::path>& inputs) {
  for (const fs::path& input : inputs) {
    if (!is_or_is_below(root, input)) continue;
    std::error_code error;
    const bool same = fs::equivalent(root, input, error);
    throw FatalError(ExitCode::usage, "the output folder " + root.string() +
                                          (same ? " is" : " lies in") + " the input " +
                                          input.string());
  }
}

void prepare_output_root(const fs::path& root, const std::vector<fs::path>& inputs) {
  check_outside(root, inputs);
  try {
    fs::create_directories(root);
    const TemporaryFile probe(root, "probe");
  } catch (const std::system_error& error) {
    fail_cannot_create(root, error.code());
  }
}

}  // namespace eckart::io
