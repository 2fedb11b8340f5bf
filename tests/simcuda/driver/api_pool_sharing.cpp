// SPDX-License-Identifier: Apache-2.0
// Pools of other processes. An imported pool hands out nothing of its own; its pointers are those of the exporter.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr int posix_descriptor = 1;

/// What the descriptor of a pool leads to.
struct pool_export {
  char mark[16] = "simcuda pool";
  uuid owner{};
};

}  // namespace

status cuMemPoolExportToShareableHandle(void* out, memory_pool* pool, int type, unsigned long long flags) {
  const locked_machine sim;
  const bool exportable = sim->is_pool(pool) && pool->handle_types & posix_descriptor && !pool->is_imported;
  if (!out || flags || type != posix_descriptor || !exportable) return status::invalid_value;
  pool_export what;
  std::ranges::copy(pool->owner.description().uuid, what.owner.bytes);
  const shared_file file = shared_file::create("simcuda-pool", sizeof what);
  if (!file.is_open() || pwrite(file.descriptor(), &what, sizeof what, 0) != sizeof what) {
    return status::operating_system;
  }
  const int descriptor = fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return status::operating_system;
  std::memcpy(out, &descriptor, sizeof descriptor);
  return status::success;
}

status cuMemPoolImportFromShareableHandle(memory_pool** out, void* os_handle, int type, unsigned long long flags) {
  if (!out || flags || type != posix_descriptor) return status::invalid_value;
  pool_export what;
  const auto descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle));
  if (pread(descriptor, &what, sizeof what, 0) != sizeof what) return status::invalid_value;
  if (std::memcmp(what.mark, pool_export{}.mark, sizeof what.mark) != 0) return status::invalid_value;
  const locked_machine sim;
  device* owner = sim->find_device(what.owner);
  if (!owner) return status::invalid_device;
  *out = sim->pools.create(*owner, 0);
  (*out)->is_imported = true;
  owner->add_pool(*out);
  return status::success;
}

status cuMemPoolExportPointer(ipc_handle* out, device_ptr address) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  const block* found = sim->blocks.starting_at(address);
  const bool exportable =
      found && found->kind == block_kind::stream_ordered && found->pool->handle_types & posix_descriptor;
  memory_export what;
  if (!exportable || !describe_export(*found, what)) return status::invalid_value;
  *out = {};
  std::memcpy(out->bytes, &what, sizeof what);
  return status::success;
}

status cuMemPoolImportPointer(device_ptr* out, memory_pool* pool, ipc_handle* from) {
  const locked_machine sim;
  if (!out || !from || !sim->is_pool(pool) || !pool->is_imported) return status::invalid_value;
  memory_export wanted;
  std::memcpy(&wanted, from->bytes, sizeof wanted);
  if (std::memcmp(wanted.mark, memory_export{}.mark, sizeof wanted.mark) != 0) return status::invalid_value;
  const block* made = nullptr;
  const status result =
      map_foreign(sim->blocks, shared_file::open_of(wanted.process, wanted.descriptor), wanted.offset,
                  {.bytes = wanted.bytes, .kind = block_kind::external, .owner = &pool->owner, .pool = pool}, made);
  if (result == status::success) *out = made->address;
  return result;
}

}  // namespace simcuda::api
