// What comes out of an op instead of an answer.
#include <exception>

#include "host.h"

namespace tffs {

Reply Host::PerformGuarded(std::string_view command, Request& request) {
  try {
    return Perform(command, request);
  } catch (const std::exception& error) {
    return Reply("bad").Bytes(error.what());  // BadRequest, or what the host itself lacks
  } catch (const Absent&) {
    return Reply("absent");
  } catch (const Skipped&) {
    return Reply("skipped");
  } catch (const Thrown& thrown) {
    return Reply("threw").Bytes(thrown.type).Bytes(thrown.what);
  }
}

}  // namespace tffs
