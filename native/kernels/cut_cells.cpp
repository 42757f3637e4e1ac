#include "cut_cells.hpp"

#include <atomic>
#include <memory>

#include "simple_cells.hpp"
#include "threads.hpp"

namespace reluscope {
namespace {

// How many rows there are in the tables of `CutCells`, or how many of each come before a row.
struct Extent {
    std::size_t parts = 0, vertices = 0, facets = 0, flat_units = 0, corners = 0, corner_ids = 0;

    static Extent of(const CutCells& made) {
        return {made.parents.size(), made.cells.vertices.size(), made.cells.slots.size(), made.flat_units.size(),
                made.corners.size(), made.corner_ids.size()};
    }
    Extent after(const Extent& begin, const Extent& end) const {
        return {parts + end.parts - begin.parts, vertices + end.vertices - begin.vertices,
                facets + end.facets - begin.facets, flat_units + end.flat_units - begin.flat_units,
                corners + end.corners - begin.corners, corner_ids + end.corner_ids - begin.corner_ids};
    }
};

// What a cell has become: which rows, of the tables of which thread.
struct Made {
    std::size_t thread = 0, num_vertices = 0, num_undecided = 0;
    Extent begin, end;
    std::size_t num_parts() const { return end.parts - begin.parts; }
};

// What a thread cuts with, and what it has made.
struct Cutter {
    CellCutter general;
    SimpleCells simple;
    CutCells made;

    Cutter(const PolytopesView& cells, const CuttingUnits& units)
        : general(units, cells.vertices.width(), cells.tight.width()),
          simple(units, cells.vertices.width()),
          made(cells.vertices.width(), cells.tight.width(), units.number) {}

    void cut(const PolytopesView& cells, std::size_t cell) {
        if (!simple.cut(cells, cell, made)) general.cut(cells, cell, made);
    }
};

using Cutters = std::vector<std::unique_ptr<Cutter>>;

template <class T>
void copy_rows(const Table<T>& from, std::size_t begin, std::size_t end, Table<T>& to, std::size_t target) {
    if (end > begin && from.width() > 0) std::copy_n(from[begin], (end - begin) * from.width(), to[target]);
}
template <class T>
void copy_rows(const Vector<T>& from, std::size_t begin, std::size_t end, Vector<T>& to, std::size_t target) {
    std::copy(from.begin() + begin, from.begin() + end, to.begin() + target);
}

void copy(const CutCells& from, const Made& made, CutCells& to, const Extent& target) {
    const Extent &begin = made.begin, &end = made.end;
    const auto& cells = from.cells;
    auto& out = to.cells;
    copy_rows(cells.vertices, begin.vertices, end.vertices, out.vertices, target.vertices);
    copy_rows(cells.errors, begin.vertices, end.vertices, out.errors, target.vertices);
    copy_rows(cells.tight, begin.vertices, end.vertices, out.tight, target.vertices);
    copy_rows(cells.slots, begin.facets, end.facets, out.slots, target.facets);
    copy_rows(cells.kinds, begin.facets, end.facets, out.kinds, target.facets);
    copy_rows(cells.keys, begin.facets, end.facets, out.keys, target.facets);
    copy_rows(cells.flat, begin.parts, end.parts, out.flat, target.parts);
    copy_rows(from.parents, begin.parts, end.parts, to.parents, target.parts);
    copy_rows(from.next_units, begin.parts, end.parts, to.next_units, target.parts);
    copy_rows(from.pieces, begin.parts, end.parts, to.pieces, target.parts);
    copy_rows(from.hashes, begin.parts, end.parts, to.hashes, target.parts);
    if (from.middles.size() > 0) {
        copy_rows(from.middles, begin.parts, end.parts, to.middles, target.parts);
        copy_rows(from.is_bounded, begin.parts, end.parts, to.is_bounded, target.parts);
        copy_rows(from.corners, begin.corners, end.corners, to.corners, target.corners);
        copy_rows(from.corner_ids, begin.corner_ids, end.corner_ids, to.corner_ids, target.corner_ids);
    }
    copy_rows(from.flat_units, begin.flat_units, end.flat_units, to.flat_units, target.flat_units);
    const auto step = [](std::size_t before, std::size_t after) { return static_cast<std::int64_t>(after - before); };
    // Rows are named by their places, which are others now.
    for (std::size_t part = begin.parts; part < end.parts; ++part) {
        const std::size_t place = target.parts + part - begin.parts;
        out.vertex_offsets[place + 1] = cells.vertex_offsets[part + 1] + step(begin.vertices, target.vertices);
        out.facet_offsets[place + 1] = cells.facet_offsets[part + 1] + step(begin.facets, target.facets);
        if (from.middles.size() > 0)
            to.corner_offsets[place + 1] = from.corner_offsets[part + 1] + step(begin.corner_ids, target.corner_ids);
    }
    const auto shift = static_cast<std::int32_t>(step(begin.corners, target.corners));
    for (std::size_t row = begin.corner_ids; row < end.corner_ids; ++row)
        to.corner_ids[target.corner_ids + row - begin.corner_ids] += shift;
    for (std::size_t row = begin.flat_units; row < end.flat_units; ++row)
        to.flat_units[target.flat_units + row - begin.flat_units][0] += step(begin.parts, target.parts);
}

// The parts of some cells, in the order of the cells.
CutCells joined(const Cutters& cutters, const std::vector<Made>& cells, bool has_middles) {
    Vector<Extent> targets(cells.size() + 1);
    targets[0] = {};
    std::size_t num_words = 0, num_undecided = 0;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        targets[cell + 1] = targets[cell].after(cells[cell].begin, cells[cell].end);
        num_undecided += cells[cell].num_undecided;
    }
    for (const auto& cutter : cutters) num_words = std::max(num_words, cutter->made.cells.tight.width());
    for (const auto& cutter : cutters) cutter->made.cells.widen(num_words);
    const auto& any = cutters.front()->made;
    CutCells all(any.cells.vertices.width(), num_words, any.pieces.width());
    const Extent& end = targets.back();
    all.resize(end.parts, end.vertices, end.facets);
    all.corners.resize(end.corners);
    all.corner_ids.resize(end.corner_ids);
    all.flat_units.resize(end.flat_units);
    if (has_middles) {
        all.middles.resize(end.parts);
        all.is_bounded.resize(end.parts);
        all.corner_offsets.resize(end.parts + 1);
    }
    all.num_undecided = num_undecided;
    share_out(cells.size(), cutters.size(), [&](std::size_t, std::size_t cell) {
        copy(cutters[cells[cell].thread]->made, cells[cell], all, targets[cell]);
        return true;
    });
    return all;
}

}  // namespace

TakenCells cut_cells(const PolytopesView& cells, const CuttingUnits& units, std::size_t num_threads) {
    Cutters cutters;
    for (std::size_t thread = 0; thread < num_threads; ++thread)
        cutters.push_back(std::make_unique<Cutter>(cells, units));
    std::vector<Made> made(cells.size());
    std::atomic<std::size_t> num_parts{0}, num_vertices{0};
    share_out(cells.size(), num_threads, [&](std::size_t thread, std::size_t cell) {
        Cutter& cutter = *cutters[thread];
        const Extent begin = Extent::of(cutter.made);
        const std::size_t vertices_before = cutter.made.num_vertices, undecided_before = cutter.made.num_undecided;
        cutter.cut(cells, cell);
        made[cell] = {thread, cutter.made.num_vertices - vertices_before,
                      cutter.made.num_undecided - undecided_before, begin, Extent::of(cutter.made)};
        num_parts += made[cell].num_parts();
        num_vertices += made[cell].num_vertices;
        return !units.room.is_full(num_parts, num_vertices);
    });
    // Threads have gone on with the next cells meanwhile: only the first of them that leave no room are taken.
    std::size_t num_taken = 0;
    num_parts = num_vertices = 0;
    while (num_taken < cells.size() && (num_taken == 0 || !units.room.is_full(num_parts, num_vertices))) {
        num_parts += made[num_taken].num_parts();
        num_vertices += made[num_taken].num_vertices;
        ++num_taken;
    }
    made.resize(num_taken);
    CutCells all = num_threads == 1 ? std::move(cutters.front()->made) : joined(cutters, made, units.is_last);
    for (std::size_t cell = 0; cell < num_taken; ++cell)
        if (made[cell].num_undecided > 0) all.doubtful.push_back(static_cast<std::int64_t>(cell));
    return {std::move(all), num_taken};
}

}  // namespace reluscope
