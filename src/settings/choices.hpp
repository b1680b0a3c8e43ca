#pragma once

#include <filesystem>
#include <utility>

#include "core/enum_names.hpp"

/// Enums for values of settings that no other component defines.
namespace eckart::settings {

enum class BackendChoice {
  automatic,  ///< cuda if there is a usable GPU, else cpu
  cuda,
  cpu,
  checked,  ///< cuda, compared with cpu
};

constexpr auto enum_names(BackendChoice) {
  return std::to_array<EnumName<BackendChoice>>({{BackendChoice::automatic, "auto"},
                                                 {BackendChoice::cuda, "cuda"},
                                                 {BackendChoice::cpu, "cpu"},
                                                 {BackendChoice::checked, "checked"}});
}

/// The modification times of outputs: those of their inputs, or of writing.
enum class OutputTimes { now, keep };

constexpr auto enum_names(OutputTimes) {
  return std::to_array<EnumName<OutputTimes>>(
      {{OutputTimes::now, "now"}, {OutputTimes::keep, "keep"}});
}

/// Whether the outputs of a shard are files, or in one tar archive.
enum class OutputPack { none, tar };

constexpr auto enum_names(OutputPack) {
  return std::to_array<EnumName<OutputPack>>(
      {{OutputPack::none, "none"}, {OutputPack::tar, "tar"}});
}

/// When outputs are flushed to the disk.
enum class Durability { group, file, none };

constexpr auto enum_names(Durability) {
  return std::to_array<EnumName<Durability>>(
      {{Durability::group, "group"}, {Durability::file, "file"}, {Durability::none, "none"}});
}

/// What is measured of each output, at a cost.
enum class MeasureChoice {
  automatic,  ///< the PSNR of lossy files; with a report, everything
  fast,       ///< only what the decomposition tells
  full,       ///< the PSNR of lossy files, SSIM, relative error and maximum error
};

constexpr auto enum_names(MeasureChoice) {
  return std::to_array<EnumName<MeasureChoice>>({{MeasureChoice::automatic, "auto"},
                                                 {MeasureChoice::fast, "fast"},
                                                 {MeasureChoice::full, "full"}});
}

/// What identifies an input that was moved or copied.
enum class LedgerIdentity { mtime, content };

constexpr auto enum_names(LedgerIdentity) {
  return std::to_array<EnumName<LedgerIdentity>>(
      {{LedgerIdentity::mtime, "mtime"}, {LedgerIdentity::content, "content"}});
}

/// What happens to an input that is done.
enum class DoneInputAction { keep, move, remove };

constexpr auto enum_names(DoneInputAction) {
  return std::to_array<EnumName<DoneInputAction>>({{DoneInputAction::keep, "keep"},
                                                   {DoneInputAction::move, "move"},
                                                   {DoneInputAction::remove, "delete"}});
}

/// What happens to outputs that were made with other settings.
enum class OnChange { keep, reprocess };

constexpr auto enum_names(OnChange) {
  return std::to_array<EnumName<OnChange>>(
      {{OnChange::keep, "keep"}, {OnChange::reprocess, "reprocess"}});
}

/// A file that the program selects, no file, or a named file.
struct FileChoice {
  enum class Kind { automatic, none, file };
  Kind kind = Kind::automatic;
  std::filesystem::path file = {};  ///< for Kind::file

  static FileChoice none() { return {Kind::none, {}}; }
  static FileChoice at(std::filesystem::path path) { return {Kind::file, std::move(path)}; }
  bool is_auto() const { return kind == Kind::automatic; }
  bool is_none() const { return kind == Kind::none; }
  friend bool operator==(const FileChoice&, const FileChoice&) = default;
};

}  // namespace eckart::settings
