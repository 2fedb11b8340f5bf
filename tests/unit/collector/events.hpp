// Records for tests that replay them without a journal.
#pragma once

#include "model/records.hpp"

namespace gpumem {

inline EventRecord alloc(std::uint64_t block, std::uint64_t bytes, std::uint64_t address, std::uint64_t stack = 1) {
  EventRecord event;
  event.op = "alloc";
  event.ns = block * 10;
  event.tid = 7;
  event.block = block;
  event.kind = "device";
  event.bytes = bytes;
  event.address = address;
  event.device = 0;
  event.context = 1;
  event.stack = stack;
  return event;
}

inline EventRecord alloc_of_kind(const char* kind, std::uint64_t block, std::uint64_t bytes, std::uint64_t address) {
  EventRecord event = alloc(block, bytes, address);
  event.kind = kind;
  return event;
}

inline EventRecord free_of(std::uint64_t block, std::uint64_t ns = 1000) {
  EventRecord event;
  event.op = "free";
  event.ns = ns;
  event.tid = 7;
  event.block = block;
  return event;
}

}  // namespace gpumem
