// Tasks that are shared out to threads, which are there only as long as these take: nothing waits, and nothing is left
// in a process that is copied.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace reluscope {

// Does task(thread, index) for indices 0, 1, ... on threads 0, 1, ..., this one among them: each takes the next index,
// until they have come to the end, or a task has returned false or thrown. Those that were begun are the first ones, and
// have ended. What a task throws is thrown here.
template <class Task> void share_out(std::size_t num_tasks, std::size_t num_threads, Task task) {
    num_threads = std::max<std::size_t>(1, std::min(num_threads, num_tasks));
    std::vector<std::exception_ptr> thrown(num_threads);
    std::vector<std::thread> others;
    others.reserve(num_threads);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> is_over{false};
    const auto work = [&](std::size_t thread) noexcept {
        try {
            while (!is_over) {
                const std::size_t index = next++;
                if (index >= num_tasks) return;
                if (!task(thread, index)) is_over = true;
            }
        } catch (...) {
            thrown[thread] = std::current_exception();
            is_over = true;
        }
    };
    try {
        for (std::size_t thread = 1; thread < num_threads; ++thread) others.emplace_back(work, thread);
    } catch (...) {
        // The system gives no more threads: those that there are do it all.
    }
    work(0);
    for (auto& other : others) other.join();
    for (const auto& error : thrown)
        if (error) std::rethrow_exception(error);
}

}  // namespace reluscope
