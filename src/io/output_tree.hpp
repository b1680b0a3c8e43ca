#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/rank_policy.hpp"
#include "io/codec.hpp"

namespace eckart::io {

/// Names the outputs: the tree of the inputs, mirrored under a root. Thread-safe.
class OutputTree {
 public:
  /// `name` is a pattern of core/output_name. Throws std::invalid_argument if it is none, and when
  /// several ranks have no {rank}.
  OutputTree(std::filesystem::path root, std::string name, const Codec& codec,
             std::vector<RankPolicy> ranks);

  /// {stem}.{ext}, and {stem}.k{rank}.{ext} where there are several ranks.
  static std::string default_name(std::size_t ranks);

  /// Two inputs, a.jpg and a.png, may have one usual name for their outputs, a.png. The full name
  /// has the input's whole name in it, a.png.png, and is the same in every run.
  enum class Naming { usual, full };

  /// One path a rank for the input at `relative`, and from now on nobody else's: the usual names
  /// or, where an input of another name has these already, the full ones; with Naming::full only
  /// these. Throws ItemError(output_collision) if the names are another input's as well, or if they
  /// are in .eckart. Remembers each name by hashes: some 50 bytes.
  std::vector<std::filesystem::path> reserve(const std::filesystem::path& relative,
                                             Naming naming = Naming::usual);

  /// Its outputs may be another's again.
  void cancel_reservation(const std::filesystem::path& relative);
  /// What reserve() would return, without a reservation.
  std::vector<std::filesystem::path> outputs_of(const std::filesystem::path& relative,
                                                Naming naming = Naming::usual) const;

  /// Whether names that differ in the case of letters alone (of ASCII) are one name. From the first
  /// reserve() on it must stay.
  void set_case_insensitive(bool fold) { is_case_insensitive_ = fold; }

  const Codec& codec() const { return codec_; }

 private:
  std::filesystem::path output_path_of(const std::filesystem::path& relative,
                                       const RankPolicy& rank, Naming naming) const;
  std::uint64_t hash_of(const std::filesystem::path& place) const;
  std::vector<std::uint64_t> hashes_of(const std::filesystem::path& relative, Naming naming) const;

  const std::filesystem::path root_;
  const std::string name_, full_name_;
  const Codec& codec_;
  const std::vector<RankPolicy> ranks_;
  bool is_case_insensitive_ = false;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> reserved_;  // hashes of a name, and whose it is
};

/// Makes the output folder if it is missing and shows that files can be made in it. Returns whether
/// names there that differ in case alone are one file, as on vfat. Throws FatalError (cannot_create
/// or no_permission), or EnvironmentError where the disk is full or broken.
bool prepare_output_root(const std::filesystem::path& root);

}  // namespace eckart::io
