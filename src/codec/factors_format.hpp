#pragma once

#include <cstdint>
#include <vector>

#include "core/enum_names.hpp"
#include "core/image.hpp"

/// What the writer and the reader of files of factors share. docs/reference/output-files.md
/// describes the arrays.
namespace eckart::codec::factors_format {

constexpr std::int32_t kVersion = 1;
constexpr const char* kVersionName = "eckart_factors";

using Shape = std::vector<std::int64_t>;

template <class T>
constexpr const char* kDtype = nullptr;
template <>
inline constexpr const char* kDtype<std::int32_t> = "<i4";
template <>
inline constexpr const char* kDtype<float> = "<f4";
template <>
inline constexpr const char* kDtype<double> = "<f8";
template <>
inline constexpr const char* kDtype<std::uint16_t> = "<f2";  // the bits of half floats

constexpr auto kDepthNames = std::to_array<EnumName<Depth>>(
    {{Depth::u8, "uint8"}, {Depth::u16, "uint16"}, {Depth::f32, "float32"}});

}  // namespace eckart::codec::factors_format
