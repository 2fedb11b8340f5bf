// SPDX-License-Identifier: Apache-2.0
// Only version 2 needs a main of ours; version 3 brings one as a library.
#if !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
