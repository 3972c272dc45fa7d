#include "runtime/agent/subscribers.h"

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/agent/event.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

std::shared_ptr<const AgentEvent> Event(int64_t sequence, size_t size = 0) {
  auto event = std::make_shared<AgentEvent>();
  event->sequence = sequence;
  event->raw = std::string(size, 'x');
  return event;
}

constexpr int kEvents = 2000;

bool Readable(const EventHub::Subscription& subscription) {
  return WaitFd(subscription.fd(), POLLIN, absl::InfinitePast(), "look").ok();
}

TEST(EventHub, GivesEverySubscriberEveryEventInOrder) {
  EventHub hub({});
  auto first = *hub.Subscribe(0), second = *hub.Subscribe(0);
  EXPECT_FALSE(Readable(*first));
  for (int i = 1; i <= 10; ++i) hub.Publish(Event(i));
  for (EventHub::Subscription* subscription : {first.get(), second.get()}) {
    EXPECT_TRUE(Readable(*subscription));
    for (int i = 1; i <= 10; ++i) EXPECT_EQ(subscription->Next()->event->sequence, i);
    EXPECT_FALSE(subscription->Next().has_value());
    EXPECT_FALSE(Readable(*subscription));
  }
}

TEST(EventHub, TellsASlowSubscriberWhatItMissed) {
  EventHub hub({.max_events = 4});
  auto slow = *hub.Subscribe(0);
  for (int i = 1; i <= 10; ++i) hub.Publish(Event(i));
  const std::optional<EventHub::Item> gap = slow->Next();
  ASSERT_TRUE(gap.has_value());
  EXPECT_EQ(gap->event, nullptr);
  EXPECT_EQ(gap->missed_first, 1);
  EXPECT_EQ(gap->missed_last, 6);
  for (int i = 7; i <= 10; ++i) EXPECT_EQ(slow->Next()->event->sequence, i);
  EXPECT_FALSE(slow->Next().has_value());
}

TEST(EventHub, HoldsNoMoreBytesThanItMayButAlwaysTheLastEvent) {
  EventHub hub({.max_bytes = 10'000});
  auto slow = *hub.Subscribe(0);
  for (int i = 1; i <= 5; ++i) hub.Publish(Event(i, 100'000));
  EXPECT_EQ(slow->Next()->missed_last, 4);
  EXPECT_EQ(slow->Next()->event->sequence, 5);
}

TEST(EventHub, StartsALateSubscriberWhereItWants) {
  EventHub hub({});
  for (int i = 1; i <= 5; ++i) hub.Publish(Event(i));
  auto late = *hub.Subscribe(3), now = *hub.Subscribe(0);
  EXPECT_TRUE(Readable(*late));
  EXPECT_EQ(late->Next()->event->sequence, 3);
  EXPECT_FALSE(now->Next().has_value());
}

TEST(EventHub, EndsItsSubscriptionsAndMayGoBeforeThem) {
  auto hub = std::make_unique<EventHub>(EventHub::Options{});
  auto subscription = *hub->Subscribe(0);
  hub->Publish(Event(1));
  hub.reset();
  EXPECT_FALSE(subscription->ended());
  EXPECT_EQ(subscription->Next()->event->sequence, 1);
  EXPECT_FALSE(subscription->Next().has_value());
  EXPECT_TRUE(subscription->ended());
  EXPECT_TRUE(Readable(*subscription)) << "so that whoever polls comes to know";
}

TEST(EventHub, WakesSubscribersInOtherThreads) {
  EventHub hub({.max_events = 100});
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([subscription = *hub.Subscribe(0)] {
      int64_t seen = 0;
      while (!subscription->ended()) {
        ASSERT_THAT(WaitFd(subscription->fd(), POLLIN, absl::Now() + absl::Seconds(60), "event"),
                    IsOk());
        while (std::optional<EventHub::Item> item = subscription->Next()) {
          if (item->event != nullptr) {
            EXPECT_EQ(item->event->sequence, ++seen);
          } else {
            EXPECT_EQ(item->missed_first, seen + 1);
            seen = item->missed_last;
          }
        }
      }
      EXPECT_EQ(seen, kEvents);
    });
  }
  for (int i = 1; i <= kEvents; ++i) hub.Publish(Event(i));
  hub.Close();
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace berth
