// A diagnosis as text: the verdict, what it rests on, what remains possible, what is ruled out, and what to do.
#pragma once

#include "diagnose/diagnosis.hpp"
#include "render/text_page.hpp"

namespace gpumem {

inline constexpr std::size_t diagnosis_label_width = 9;

// `names_lines`: tells of each piece of evidence where it was read.
void add_diagnosis(TextPage& page, const Diagnosis& why, bool names_lines);

}  // namespace gpumem
