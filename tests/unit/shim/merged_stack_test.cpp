#include "stack/merged_stack.hpp"

#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace gpumem;

namespace {

// A native stack of frames at 0x10, 0x20, … that end at 100, 200, …, and Python places a, b, c, …
struct Stacks {
  std::vector<void*> frames;
  std::vector<std::uintptr_t> tops;
  PythonStack python{};
  std::vector<std::unique_ptr<CodePlace>> places;
  PythonState state = PythonState::read;
  MemoryRange loop;
  bool cut = false;

  explicit Stacks(unsigned native) {
    for (std::uintptr_t i = 1; i <= native; ++i) {
      frames.push_back(reinterpret_cast<void*>(i * 16));
      tops.push_back(i * 100);
    }
  }

  Stacks& group(std::uintptr_t anchor, unsigned count) {
    python.groups[python.group_count++] = {anchor, static_cast<std::uint16_t>(python.count),
                                           static_cast<std::uint16_t>(count)};
    for (; count > 0; --count) {
      places.push_back(std::make_unique<CodePlace>());
      python.places[python.count++] = places.back().get();
    }
    return *this;
  }

  std::string merged(bool with_tops = true) const {
    std::vector<void*> words(frames.size() + python.count + extra_words);
    const unsigned count =
        merge_stacks({frames.data(), with_tops ? tops.data() : nullptr, static_cast<unsigned>(frames.size()), cut},
                     {state, python.count != 0 ? &python : nullptr}, loop, words.data());
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      if (const CodePlace* place = place_in_word(words[i])) {
        for (std::size_t j = 0; j < places.size(); ++j)
          if (places[j].get() == place) text += static_cast<char>('a' + j);
      } else if (const PythonState missing = state_in_word(words[i]); missing != PythonState::absent) {
        text += '!' + std::to_string(static_cast<int>(missing));
      } else {
        text += std::to_string(reinterpret_cast<std::uintptr_t>(words[i]) / 16);
      }
    }
    return text;
  }
};

}  // namespace

TEST_CASE("Python frames stand before the native frame that their anchor lies in") {
  CHECK(Stacks(4).group(150, 2).group(399, 1).merged() == "1ab23c4");
  CHECK(Stacks(4).group(100, 1).group(101, 1).merged() == "1ab234");
}

TEST_CASE("Python frames whose native frame is not known follow the others, in order") {
  CHECK(Stacks(3).group(150, 1).group(301, 1).group(0, 1).merged() == "1a23bc");
  CHECK(Stacks(3).group(301, 1).group(150, 1).merged() == "123ab");
  CHECK(Stacks(3).group(150, 1).group(250, 1).merged(false) == "123ab");
}

TEST_CASE("without anchors, each frame of the interpreter's loop has one Python frame") {
  Stacks stacks(4);
  stacks.loop = {0x1f, 0x30};  // return addresses 0x20 and 0x30
  stacks.group(0, 1).group(0, 1);
  CHECK(stacks.merged() == "1a2b34");
  stacks.group(0, 1);
  CHECK(stacks.merged() == "1234abc");
  stacks.cut = true;
  CHECK(stacks.merged() == "1a2b34c");
}

TEST_CASE("a state that lacks frames is a word, and others are none") {
  Stacks stacks(2);
  stacks.state = PythonState::refused;
  CHECK(stacks.merged() == "12!5");
  stacks.state = PythonState::none;
  CHECK(stacks.merged() == "12");
  stacks.group(50, 1).state = PythonState::cut;
  CHECK(stacks.merged() == "a12!3");
}
