// SPDX-License-Identifier: Apache-2.0
// Catch2 version 3 or version 2, whichever is installed.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif
