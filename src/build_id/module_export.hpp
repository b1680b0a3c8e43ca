#pragma once

/// Declares a function that a module exports; load_function() finds it.
#define ECKART_MODULE_EXPORT extern "C" __attribute__((visibility("default")))
