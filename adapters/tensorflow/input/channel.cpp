// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/input/channel.h"

#include <pthread.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <thread>

namespace npu::tensorflow {
namespace {

/// The channels whose provider runs. Never destroyed: providers may outlive main().
struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::shared_ptr<Channel>> channels;
  bool closed = false;
};

Running& running() {
  static auto* const all = new Running;
  return *all;
}

}  // namespace

std::shared_ptr<Channel> Channel::open(size_t depth, Pull pull) {
  std::shared_ptr<Channel> channel(new Channel(std::max<size_t>(depth, 1), std::move(pull)));
  const std::lock_guard lock(running().mutex);
  if (running().closed) return nullptr;
  try {
    std::thread([channel] { channel->provide(); }).detach();
  } catch (const std::system_error&) {
    return nullptr;
  }
  running().channels.insert(channel);
  return channel;
}

void Channel::provide() {
  pthread_setname_np(pthread_self(), "hdc_provider");  // as debuggers and top show it
  std::unique_lock lock(mutex_);
  while (!stopped_ && !ended_) {
    if (queue_.size() >= std::min(window_, depth_)) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    Element element = pull_();
    lock.lock();
    if (abandoned_) {  // those before it are dropped, so it would come out of turn
      lock.unlock();
      element = {};
      lock.lock();
      break;
    }
    ended_ = element.last;
    queue_.push_back(std::move(element));
    changed_.notify_all();
  }
  ended_ = true;
  Pull done = std::exchange(pull_, nullptr);
  changed_.notify_all();
  lock.unlock();
  done = nullptr;  // the iterator goes with it
  const std::lock_guard all(running().mutex);
  running().channels.erase(shared_from_this());
  running().changed.notify_all();
}

std::optional<Element> Channel::take() {
  std::unique_lock lock(mutex_);
  if (queue_.empty() && !ended_) {
    window_ = std::min(2 * window_, depth_);
    changed_.wait(lock, [&] { return !queue_.empty() || ended_; });
  }
  if (queue_.empty()) return std::nullopt;
  Element element = std::move(queue_.front());
  queue_.pop_front();
  changed_.notify_all();
  return element;
}

size_t Channel::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return ended_; });
  return queue_.size();
}

void Channel::abandon() {
  std::deque<Element> dropped;
  const std::lock_guard lock(mutex_);
  stopped_ = abandoned_ = true;
  queue_.swap(dropped);
  changed_.notify_all();
}

bool Channel::close_all(std::chrono::milliseconds patience, bool for_good) {
  Running& all = running();
  std::unique_lock lock(all.mutex);
  all.closed = all.closed || for_good;
  const auto channels = all.channels;
  lock.unlock();
  for (const auto& channel : channels) channel->abandon();
  lock.lock();
  return all.changed.wait_for(lock, patience, [&] { return all.channels.empty(); });
}

}  // namespace npu::tensorflow
