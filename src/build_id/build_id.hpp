#pragma once

namespace eckart {

/// 16 hexadecimal digits that identify the sources, the compiler and the options of this build.
/// The program and its CUDA module exchange C++ objects, so both must come from one build.
const char* build_id();

}  // namespace eckart
