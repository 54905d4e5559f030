// What comes out of an op instead of an answer.
#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <typeinfo>

#include "host.h"

namespace tffs {
namespace {

std::string Demangled(const char* name) {
  int status;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string demangled = text != nullptr ? text : name;
  std::free(text);
  return demangled;
}

Reply Threw(const char* what) {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return Reply("threw").Bytes(type != nullptr ? Demangled(type->name()) : "?").Bytes(what);
}

}  // namespace

Reply Host::PerformGuarded(std::string_view command, Request& request) {
  try {
    return Perform(command, request);
  } catch (const BadRequest& error) {
    return Reply("bad").Bytes(error.what());
  } catch (const Absent&) {
    return Reply("absent");
  } catch (const Skipped&) {
    return Reply("skipped");
  } catch (const std::exception& error) {
    return Threw(error.what());
  } catch (const abi::__forced_unwind&) {
    throw;  // A thread that is cancelled or leaves by pthread_exit must not be stopped on its way.
  } catch (...) {
    return Threw("");
  }
}

}  // namespace tffs
