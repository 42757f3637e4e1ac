// Objects as bytes: what keep() names is written and read in the same order. A number over all bytes comes last: bytes
// that nobody wrote, or that were damaged since, are no objects.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "arrays.hpp"

namespace reluscope {

// Fowler, Noll and Vo's hash.
inline std::uint64_t number_of(std::string_view bytes) {
    std::uint64_t number = 0xCBF29CE484222325;
    for (const char byte : bytes) number = (number ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
    return number;
}

struct Writer;
template <class T> concept Kept = requires(T& object, Writer& archive) { object.keep(archive); };

struct Writer {
    std::string bytes;

    template <class... Parts> void operator()(Parts&... parts) { (put(parts), ...); }
    // All that was written.
    std::string seal() {
        std::uint64_t number = number_of(bytes);
        put(number);
        return std::move(bytes);
    }

private:
    void put_bytes(const void* data, std::size_t number) { bytes.append(static_cast<const char*>(data), number); }
    template <class T> void put(T& part) {
        if constexpr (Kept<T>)
            part.keep(*this);
        else
            put_bytes(&part, sizeof part);
    }
    template <class T, class Memory> void put(std::vector<T, Memory>& part) {
        std::size_t number = part.size();
        put(number);
        if constexpr (Kept<T>)
            for (T& one : part) put(one);
        else
            put_bytes(part.data(), number * sizeof(T));
    }
    template <class T> void put(Table<T>& part) {
        std::size_t number = part.size(), width = part.width();
        (*this)(number, width, part.entries());
    }
};

struct Reader {
    explicit Reader(std::string_view sealed) {
        std::uint64_t number = 0;
        if (sealed.size() < sizeof number) throw std::invalid_argument("these bytes end too early");
        bytes = sealed.substr(0, sealed.size() - sizeof number);
        std::memcpy(&number, bytes.data() + bytes.size(), sizeof number);
        if (number != number_of(bytes)) throw std::invalid_argument("these bytes are not as they were written");
    }
    std::string_view bytes;

    template <class... Parts> void operator()(Parts&... parts) { (get(parts), ...); }
    // After the last part.
    void end() const {
        if (!bytes.empty()) throw std::invalid_argument("these bytes go on after their end");
    }

private:
    // Any byte is written where a truth is read; no other value of it exists.
    void get(bool& part) {
        std::uint8_t byte = 0;
        get_bytes(&byte, 1);
        if (byte > 1) throw std::invalid_argument("these bytes are no truth value");
        part = byte == 1;
    }
    void get_bytes(void* data, std::size_t number) {
        if (number > bytes.size()) throw std::invalid_argument("these bytes end too early");
        if (number) std::memcpy(data, bytes.data(), number);
        bytes.remove_prefix(number);
    }
    template <class T> void get(T& part) {
        if constexpr (Kept<T>)
            part.keep(*this);
        else
            get_bytes(&part, sizeof part);
    }
    template <class T, class Memory> void get(std::vector<T, Memory>& part) {
        std::size_t number = 0;
        get(number);
        if (number > bytes.size()) throw std::invalid_argument("these bytes end too early");
        part.resize(number);
        if constexpr (Kept<T>)
            for (T& one : part) get(one);
        else
            get_bytes(part.data(), number * sizeof(T));
    }
    template <class T> void get(Table<T>& part) {
        std::size_t number = 0, width = 0;
        Vector<T> entries;
        (*this)(number, width, entries);
        if (width && number != entries.size() / width) throw std::invalid_argument("these bytes are no table");
        part = Table<T>(number, width);
        if (entries.size() != part.entries().size()) throw std::invalid_argument("these bytes are no table");
        part.entries() = std::move(entries);
    }
};

}  // namespace reluscope
