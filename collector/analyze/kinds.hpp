// What each kind of memory or object is called, what its numbers count, and how it is given back.
//
// The list is data (kinds.cpp), one row for each row of schema::kinds. A kind that it does not hold comes from a newer
// shim: it is shown by the name that the journal has for it, and is in no sum.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyze/usage.hpp"
#include "schema.hpp"

namespace gpumem {

using schema::Counts;

struct KindTexts {
  std::string_view kind;
  std::string_view text;           // "linear device memory"; of objects one of them: "stream"
  std::string_view given_back_by;  // names of functions, and how they belong together
  std::string_view besides = {};   // what has to happen too
};

// In the order in which an address is looked for that may be of any kind.
std::span<const KindTexts> all_kinds();

const KindTexts* find_kind(std::string_view kind);

// "cudaFree or cuMemFree"; empty for an unknown kind
std::string given_back_text(std::string_view kind);
std::optional<Counts> counts_of(std::string_view kind);

// Numbers of this kind count objects, not bytes.
bool is_object(std::string_view kind);

// Bytes that lie in the memory of a device or of this machine because this process asked for them.
bool is_memory(std::string_view kind);

// Whether the function, in any of its versions, is the right one for this kind; true for an unknown kind.
bool is_given_back_by(std::string_view kind, std::string_view api);

// Kinds of one space never have live blocks at the same address; each space is named by one of its kinds.
std::string_view address_space(std::string_view kind);

// Amounts by what they count, each a sum of kinds that count the same.
using Sums = std::map<Counts, Usage>;
void add_to(Sums& sums, std::string_view kind, const Usage& amount);
Usage sum_of(const Sums& sums, Counts counts);

}  // namespace gpumem
