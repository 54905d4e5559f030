// How the content of an object comes: whole and compared before it is read, while it is read, or in
// parts.

#include "filesystem.h"
#include "log.h"

namespace objectstore {
namespace {

// No key has a newline that would make two of these the same: the ETag comes first, in quotes.
std::string KeyOf(const Name& name, const Version& version) {
  return version.etag + "\n" + name.bucket + "/" + name.key;
}

}  // namespace

std::shared_ptr<Spool> Filesystem::NewSpool() {
  return std::make_shared<Spool>(config.cache_dir, [this](const char* why) {
    static Event full;
    if (!cache.Evict()) return false;
    full.Tell(config.plugin, TF_WARNING, std::string("what cache_dir keeps gives way: ") + why);
    return true;
  });
}

Checksum Filesystem::Expected(const Version& version) const {
  const bool is_etag = version.checksum.sum == Sum::kMd5;
  const bool compare =
      config.verify == Verify::kAll || (config.verify == Verify::kChecksum && !is_etag);
  return compare ? version.checksum : Checksum();
}

Content Filesystem::Fetch(const Name& name, const Version& version) {
  if (version.size < config.whole_object_below || version.size == 0) {
    return FetchAtOnce(name, version);
  }
  // Whoever reads it meanwhile shares the transfer.
  if (Content known = cache.Find(KeyOf(name, version))) return known;
  const auto stream = Stream(name, version);
  return stream != nullptr ? stream->Whole() : FetchAtOnce(name, version);
}

std::shared_ptr<const Readable> Filesystem::Open(const Name& name, const Version& version) {
  if (version.size < config.whole_object_below || version.size == 0) {
    return FetchAtOnce(name, version);
  }
  if (Content known = cache.Find(KeyOf(name, version))) return known;
  if (config.read_ahead > 0) {
    return std::make_shared<Ranges>(
        version.size, config.read_ahead, [this, name, version](uint64_t first, uint64_t length) {
          return FetchPart(name, version, {first, length, version.size});
        });
  }
  if (auto stream = Stream(name, version)) return stream;
  return FetchAtOnce(name, version);
}

void Filesystem::GetInto(const Name& name, const Version& version, Sink* into) {
  if (version.etag.empty()) {
    throw Failure(TF_INTERNAL, "the store gives no ETag, so versions cannot be told apart");
  }
  if (version.size == 0) return;
  try {
    transport->Get(name, version, into);
  } catch (const Changed&) {
    metadata.Forget(name);
    throw;
  }
}

Content Filesystem::FetchAtOnce(const Name& name, const Version& version) {
  return cache.Get(KeyOf(name, version), [&] {
    const auto room = cache.Reserve(version.size);
    auto spool = NewSpool();
    Sink sink(spool.get(), {0, version.size, version.size}, Expected(version));
    GetInto(name, version, &sink);
    return spool;
  });
}

Content Filesystem::FetchPart(const Name& name, const Version& version, const Span& span) {
  if (span.is_all()) return FetchAtOnce(name, version);
  return cache.Get(std::to_string(span.first) + "+" + KeyOf(name, version), [&] {
    const auto room = cache.Reserve(span.length);
    auto spool = NewSpool();
    Sink sink(spool.get(), span, {});
    GetInto(name, version, &sink);
    return spool;
  });
}

std::shared_ptr<const Growing> Filesystem::Stream(const Name& name, const Version& version) {
  const std::string key = KeyOf(name, version);
  const uint64_t cleared = cache.cleared();
  return streams.Get(key, [&] {
    return std::make_shared<Growing>(
        NewSpool(), version.size, Expected(version),
        [this, name, version, key](Sink* into) {
          try {
            GetInto(name, version, into);
          } catch (const Altered&) {
            streams.Distrust(key);
            throw;
          }
        },
        [this, key, cleared, room = cache.Reserve(version.size)](Content content) mutable {
          room.reset();
          cache.Put(key, std::move(content), cleared);
        });
  });
}

}  // namespace objectstore
