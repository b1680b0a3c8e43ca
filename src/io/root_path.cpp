#include "io/root_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include "io/open_without_links.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// Returns nothing, with errno, if it is no link.
std::optional<std::string> link_target(int directory, const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(directory, path.c_str(), target.data(), target.size());
  if (length < 0) return std::nullopt;
  return std::string(target.data(), std::size_t(length));
}

}  // namespace

/// Follows the links of a path, component by component, as the kernel does.
class RootPath::Expansion {
 public:
  void add(const fs::path& path) {
    for (const fs::path& name : path) {
      if (name.empty()) continue;  // after a slash at the end
      const fs::path next = real_ / name;
      const auto target = links_ < kMaxLinks ? link_target(AT_FDCWD, next.native()) : std::nullopt;
      if (target) {
        ++links_;
        end_step();
        steps_.push_back({name.native(), *target});
        add(*target);
      } else {
        step_ /= name;
        real_ = next;
      }
    }
  }

  std::vector<Step> take_steps() && {
    end_step();
    return std::move(steps_);
  }
  fs::path real_path() const { return real_.lexically_normal(); }

 private:
  static constexpr int kMaxLinks = 40;  // the limit of Linux

  void end_step() {
    if (!step_.empty()) steps_.push_back({step_.native()});
    step_.clear();
  }

  int links_ = 0;
  fs::path real_, step_;
  std::vector<Step> steps_;
};

RootPath::RootPath(fs::path path) : path_(std::move(path)) {
  Expansion expansion;
  expansion.add(path_);
  real_path_ = expansion.real_path();
  steps_ = std::move(expansion).take_steps();
}

RootPath RootPath::without_links(fs::path path) {
  RootPath root;
  root.steps_.push_back({path.native()});
  root.real_path_ = path.lexically_normal();
  root.path_ = std::move(path);
  return root;
}

RootPath RootPath::child(const std::string& name) const {
  RootPath child = *this;
  child.path_ /= name;
  child.real_path_ /= name;
  child.steps_.push_back({name});
  return child;
}

bool RootPath::has_links() const {
  return std::ranges::any_of(steps_, [](const Step& step) { return !step.target.empty(); });
}

files::FileDescriptor RootPath::open() const {
  files::FileDescriptor opened;
  for (const Step& step : steps_) {
    const int from = opened ? opened.get() : AT_FDCWD;
    if (!step.target.empty()) {
      const auto target = link_target(from, step.path);
      if (target == step.target) continue;
      if (target || errno == EINVAL) errno = ELOOP;  // another link, or none
      return files::FileDescriptor();
    }
    files::FileDescriptor next = open_without_links(from, step.path);
    if (!next) return next;
    opened = std::move(next);
  }
  return opened;
}

}  // namespace eckart::io
