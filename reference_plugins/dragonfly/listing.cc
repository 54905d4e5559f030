// Many keys at once: listings, and deleting what they name.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "answers.h"
#include "digest.h"
#include "documents.h"
#include "objects.h"

namespace dragonfly {
namespace {

// Whether XML can say this.
bool IsText(const std::string& key) {
  return std::all_of(key.begin(), key.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' '; });
}

}  // namespace

Page Objects::List(const std::string& bucket, const Range& range) const {
  Call call = {"GET", {bucket, ""}};
  call.query = {{"list-type", "2"},
                {"encoding-type", "url"},
                {"prefix", range.prefix},
                {"max-keys", std::to_string(range.most)}};
  if (range.one_level) call.query["delimiter"] = "/";
  if (!range.token.empty()) call.query["continuation-token"] = range.token;
  const Response response = s3_.Send(call);
  if (response.status != 200) throw Refusal(response, false);
  return ReadPage(response.body);
}

std::vector<std::pair<std::string, Failure>> Objects::DeleteAll(
    const std::string& bucket, const std::vector<std::string>& keys) const {
  constexpr size_t kMost = 1000;  // in one request
  std::vector<std::pair<std::string, Failure>> left;
  std::vector<std::string> together;
  for (const std::string& key : keys) {
    if (IsText(key)) {
      together.push_back(key);
      continue;
    }
    try {
      Delete({bucket, key});
    } catch (const Failure& failure) {
      left.emplace_back(key, failure);
    }
  }
  for (size_t first = 0; first < together.size(); first += kMost) {
    const std::vector<std::string> some(
        together.begin() + static_cast<std::ptrdiff_t>(first),
        together.begin() + static_cast<std::ptrdiff_t>(std::min(first + kMost, together.size())));
    try {
      Call call = {"POST", {bucket, ""}, {{"delete", ""}}};
      call.body.text = DeleteList(some);
      call.headers["content-md5"] = Md5InBase64(call.body.text);
      const Response response = s3_.Send(call);
      if (response.status != 200) throw Refusal(response, false);
      for (const auto& [key, code] : ReadDeleteErrors(response.body)) {
        if (code == "NoSuchKey") continue;
        const TF_Code meaning = code == "AccessDenied" ? TF_PERMISSION_DENIED : TF_INTERNAL;
        left.emplace_back(key, Failure(meaning, "the store keeps an object: " + code));
      }
    } catch (const Failure& failure) {
      for (const std::string& key : some) left.emplace_back(key, failure);
    }
  }
  return left;
}

int64_t TimeOf(const std::string& text) {
  constexpr int64_t kNanosecondsInSecond = 1000000000;
  constexpr char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  std::tm parts = {};
  char month[4] = "";
  int milliseconds = 0;
  if (std::sscanf(text.c_str(), "%*3s, %d %3s %d %d:%d:%d", &parts.tm_mday, month, &parts.tm_year,
                  &parts.tm_hour, &parts.tm_min, &parts.tm_sec) == 6) {
    const char* found = std::strstr(kMonths, month);
    if (found == nullptr) return 0;
    parts.tm_mon = static_cast<int>(found - kMonths) / 3;
  } else if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d.%3d", &parts.tm_year, &parts.tm_mon,
                         &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec,
                         &milliseconds) >= 6) {
    --parts.tm_mon;
  } else {
    return 0;
  }
  parts.tm_year -= 1900;
  return timegm(&parts) * kNanosecondsInSecond + milliseconds * int64_t{1000000};
}

}  // namespace dragonfly
