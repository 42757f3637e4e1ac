"""Faults that change nothing that is claimed, and why: by module, and by the line that has the fault.

They are tried all the same; if a test notices one, so much the better.
"""

EXPLAINED: dict[tuple[str, str], str] = {
    ("analyses/preimages/region_distances", "best = (best)"): "more regions are looked at, with the same nearest one",
    (
        "analyses/preimages/region_distances",
        "nearest = nearest_image(part[row].polyhedron, weight, bias, goal, tolerance=(0.0))",
    ): "the nearest point is found more precisely",
    (
        "analyses/robustness/certified_radii",
        "exact = away + error < reach.lower",
    ): "equality of two reals; either is right",
    (
        "analyses/robustness/class_changes",
        "tries = step + np.outer(np.array(BEYOND) * (view.scale), way)",
    ): "how far beyond a tie is looked; a class there is confirmed by the network",
    (
        "analyses/robustness/distance_search",
        "if gain <= AGAIN * ((self.limit)):",
    ): "when a branch is bounded again instead of split",
    (
        "analyses/robustness/distance_search",
        "score = (own @ noise)",
    ): "which branch is split first; bounds hold whatever is split",
    (
        "analyses/sensitivity/gradient_covariance",
        "at_once = (memory // (TABLES_IN_MEMORY * 8 * numbers))",
    ): "how many outputs are taken at once",
    (
        "analyses/sensitivity/gradient_covariance",
        "at_once = (memory // (_one_sample(network) // network.num_outputs))",
    ): "how many outputs are taken at once",
    (
        "analyses/similarity/moments",
        "arrays = [np.linalg.qr(one.T)[1].T if one.shape[1] >= len(one) else one for one in arrays]",
    ): "the factor of a square array says the same as the array",
    (
        "analyses/similarity/moments",
        "if all(one.ndim != 2 for one in arrays) or len({len(one) for one in arrays}) != 1:",
    ): "annotations refuse other dimensions first in tests",
    (
        "analyses/similarity/moments",
        "return self.factor is not None and len(self.factor) <= min(self.sizes[first], self.sizes[second])",
    ): "rows as many as columns: both ways give the product",
    (
        "analyses/stability/singular_values",
        "return np.concatenate([values, np.zeros((number - len(values)))])",
    ): "it is never negative",
    ("analyses/stability/singular_values", "side = (1)"): "size of a tile",
    (
        "analyses/stability/singular_values",
        "side = (round((TILE / shape[0]) ** (1 / (len(shape) - 1))))",
    ): "size of a tile",
    (
        "analyses/stability/layer_spectra",
        "before=step.before is not None or not is_known,",
    ): "singular values of the first layer are computed again: the same for all samples",
    (
        "analyses/stability/stability_measures",
        "found = np.take_along_axis(table, (counts - 1)[:, None], axis=1)[:, 0]",
    ): "an entry that np.where leaves out",
    (
        "analyses/bodies/volumes",
        "high = np.where(hits < number, betaincinv(hits + 1, (number - hits), 1 - tail), 1.0)",
    ): "an argument that is left out by np.where",
    (
        "analyses/bodies/volumes",
        "size = min(left, (BATCH_NUMBERS // (part.dim + part.network_on_domain.num_units)))",
    ): "size of a batch",
    (
        "geometry/programs/convex_questions",
        "ENDLESS = (1e9 / 2)",
    ): "where the method ends; the answer is checked row by row",
    (
        "geometry/programs/convex_questions",
        "return (values < -distance) & (bounds >= -distance)",
    ): "asked later, or left to the simplex method; equality of two reals",
    (
        "geometry/programs/convex_questions",
        "return (values < 0) & (bounds > 0) | precise(values, bounds)",
    ): "asked later; the answer is the same",
    (
        "geometry/programs/convex_questions",
        "return (values < 0) | (bounds > 0) & precise(values, bounds)",
    ): "asked later; the answer is the same",
    (
        "geometry/programs/convex_questions",
        "return (values <= -distance) | (bounds >= -distance)",
    ): "asked later, or left to the simplex method; equality of two reals",
    ("geometry/programs/convex_questions", "room = (1.0)"): "where the method starts; the gap is proved at the end",
    (
        "geometry/programs/convex_questions",
        "torch.cat([bodies.lower, (margins)], dim=1),",
    ): "where the method starts; the gap is proved at the end",
    ("analyses/codespace/code_clusters", "if size >= num_samples:"): "all of them drawn and sorted are all of them",
    (
        "analyses/local/class_ends",
        "lead = np.where(np.abs(lead) < error, 0.0, lead)",
    ): "equality of two reals; either answer is right",
    (
        "analyses/robustness/distance_search",
        "score = (last * np.abs(rival.noise))",
    ): "which branch is split first; bounds hold whatever is split",
    (
        "analyses/sensitivity/gradient_spectra",
        "is_there = (values[: len(directions)] > of_sums)[:, None] & (lengths >= 0)",
    ): "a direction whose eigenvalue is beyond rounding is not zero",
    (
        "analyses/sensitivity/gradient_spectra",
        "side = torch.where(directions @ mean <= 0, -1.0, 1.0)[:, None]",
    ): "of a direction at right angles to the mean, either side does",
    (
        "analyses/stability/stability_measures",
        "apart = np.where(total >= error, error / (total - error), 0.5).clip(max=0.5)",
    ): "a number divided by zero is clipped to the same half",
    (
        "analyses/bodies/volumes",
        "low = np.where(hits > 0, betaincinv((hits), number - hits + 1, tail), 0.0)",
    ): "an argument that is left out by np.where",
    (
        "geometry/programs/ball_bounds",
        "return bound + 8 * ((size)) * EPSILON * (abs(bound) + rest * far) + UNDERFLOW",
    ): "three operations, which eight epsilons cover without the number of terms",
    (
        "geometry/programs/convex_questions",
        "return (values < -distance) | (bounds > -distance)",
    ): "asked later, or left to the simplex method; equality of two reals",
    (
        "analyses/stability/singular_values",
        "n, num_left = len(columns), int((scale >= 0).sum())",
    ): "which of two methods, each with bounds of its own",
    (
        "geometry/programs/convex_questions",
        "inside = torch.cat([start, (margins)], dim=1)",
    ): "where the method starts; the gap is proved at the end",
    (
        "geometry/programs/convex_questions",
        "is_moving = torch.isfinite(decrement)[:, None] | (decrement > CENTERED)[:, None]",
    ): "bounded bodies have a decrement; a point that has arrived may go on",
    (
        "analyses/robustness/class_changes",
        "sure = outputs[rows, labels] - outputs[:, own] >= errors[rows, labels] + errors[:, own]",
    ): "equality of two reals; either answer is right",
    (
        "analyses/similarity/moments",
        "if sum(map(len, self._rows)) < len(self._table):",
    ): "rows as many as columns: both ways give the product",
    (
        "analyses/counting/segment_counts",
        "ends_of_counts = [(one.value, one.value) if one.claim is Claim.ESTIMATE else one.interval for one in counts]",
    ): "an exact number of regions has itself as both ends of its interval",
    (
        "partitions/doubts/shown_regions",
        "if most or len(again):  # of two ways to bound rounding either one may be the tighter",
    ): "what is not asked again in floats is decided in rational arithmetic, or left out",
    (
        "analyses/robustness/distance_search",
        "return key > self.limit",
    ): "what is as far as the change that is known is looked at, and is no nearer",
    (
        "geometry/programs/convex_questions",
        "farthest = torch.where(rivals >= 0, -bodies.lower[:, None], bodies.upper[:, None])",
    ): "where a slope is zero, the product is left out",
    (
        "networks/passes/forms",
        "rivals, sources = (entries).reshape(-1), np.repeat(source, count)",
    ): "padding is left out, whichever entry stands for it, or makes the bound wider",
    (
        "networks/passes/forms",
        "is_fixed, 0.0, np.where(high >= 0, np.minimum(high, clear), 0.0).max(axis=1, initial=0.0)",
    ): "the least of zero and of what is not negative is added",
    (
        "networks/passes/forms",
        "pieces = (places[:, None] >= levels[None]).sum(dim=1)",
    ): "at a breakpoint both pieces have one value",
    (
        "geometry/programs/ball_bounds",
        "share = 1 - Fraction((dim + 4) * EPSILON) if total >= 0 else 1 + Fraction((dim + 4) * EPSILON)",
    ): "zero is zero, divided by either",
    (
        "geometry/programs/ball_bounds",
        "if len(rows) < rows.shape[1]:",
    ): "as many rows as coordinates that nearly cancel do not span all directions: the steepness shows it",
    (
        "analyses/codespace/sampled",
        "block = max(1, 2**24 // (gate.num_units))",
    ): "size of a block; a gate without units has no codes to count",
    (
        "geometry/programs/convex_questions",
        "torch.cat([bodies.upper, (most)], dim=1),",
    ): "room for the rounding of a bound, which rows prove as well",
    (
        "analyses/robustness/class_changes",
        "tries = step + np.outer(np.array(BEYOND) * (rival.distance), way)",
    ): "how far beyond a tie is looked; a class there is confirmed by the network",
    (
        "analyses/robustness/enclosed_cells",
        "kept = lengths * view.scale >= limit.errors",
    ): "equality of two reals; what is without length and errors is held to nothing",
    (
        "analyses/robustness/distance_search",
        "radius = (self.limit)",
    ): "a ball smaller than the resolution, within which nothing is nearer by more than that",
    (
        "geometry/programs/proved_programs",
        "TIGHT = (1e-7 / 2)",
    ): "which rows are tried; what is found is checked, and what is not is asked in fractions",
    ("analyses/bodies/inscribed_balls", "MULTIPLICATIONS = (2e10 / 2)"): "an estimate of the time that a ball takes",
    (
        "analyses/preimages/region_distances",
        "best = (nearest.distance)",
    ): "more regions are looked at, with the same nearest one",
    (
        "analyses/robustness/class_changes",
        "tries = (np.outer(np.array(BEYOND) * max(view.scale, rival.distance), way))",
    ): "where a class beyond is sought first; if it is not found there, it is on the way to the deepest point",
    (
        "networks/passes/forms",
        "if (low > most + clear).any() or (high <= least - clear).any():",
    ): "equality of two reals; either answer is right",
    (
        "networks/passes/forms",
        "if (low >= most + clear).any() or (high < least - clear).any():",
    ): "equality of two reals; either answer is right",
    (
        "geometry/programs/convex_questions",
        "if (decrement <= CENTERED).all() and not torch.isfinite(decrement).any():",
    ): "what has arrived takes no more steps",
    (
        "geometry/programs/checked_bounds",
        "for column in np.flatnonzero(endless & (np.abs(rest) <= doubt) & (doubt >= 0) & np.isfinite(doubt)).tolist():",
    ): "without doubt the rest is zero, and so is its sign",
    (
        "partitions/doubts/shown_regions",
        "each = (multiplications(network))",
    ): "a network without multiplications has no sign in doubt",
    (
        "analyses/sensitivity/gradient_covariance",
        "is_thin = basis is None and len(first) <= network.num_inputs",
    ): "regions as many as inputs: either way gives the eigenvalues",
    (
        "geometry/programs/checked_bounds",
        "ends = np.where(taken >= 0, high, low)",
    ): "where a multiplier is zero, so is its end",
    ("geometry/programs/checked_bounds", "sides = np.where(rest >= 0, upper, lower)"): "what is zero is left out",
    (
        "geometry/programs/checked_bounds",
        "for column in np.flatnonzero(endless & (np.abs(rest) < doubt) & (doubt > 0) & np.isfinite(doubt)).tolist():",
    ): "equality of two reals; what is not asked is not proved",
    ("geometry/programs/checked_bounds", "sides[column] = upper[column] if exact >= 0 else lower[column]"): (
        "what is zero is left out"
    ),
    (
        "geometry/programs/checked_bounds",
        "widest = np.where(is_exact | (np.abs(rest) >= doubt), sure, widest)",
    ): "equality of two reals: what is as large as its doubt has one sign, or is zero",
    (
        "analyses/stability/singular_values",
        "side = max(1, round((TILE / shape[0]) ** (1 / ((len(shape))))))",
    ): "size of a tile",
    (
        "geometry/programs/proved_programs",
        "if (self.dim > MAX_DIMENSIONS and (len(self._own) and is_near)) or not np.isfinite(near).all():",
    ): "from how many dimensions on fractions are too slow",
    ("geometry/programs/proved_programs", "size = (1.0)"): "which rows are tried; what is found is checked",
    (
        "geometry/programs/proved_programs",
        "size = (float(np.abs(near).max(initial=0.0)))",
    ): "which rows are tried; what is found is checked",
    (
        "geometry/programs/proved_programs",
        "sizes = (np.abs(normals) @ np.abs(near))",
    ): "where the slack is as small as rounding, the offset is no larger than this",
    (
        "geometry/programs/proved_programs",
        "is_sure = slack > 4 * (self.dim + 2) * EPSILON * sizes + UNDERFLOW * ((1.0))",
    ): "what is lost below all floats does not grow with the point",
    (
        "geometry/programs/proved_programs",
        "return np.inf if value >= 0 else -np.inf",
    ): "what is beyond all floats is not zero",
    (
        "geometry/programs/convex_questions",
        "reach = (reach).clamp_min(LEAST_REACH)",
    ): "the scale of the search; gaps are told",
    (
        "geometry/programs/convex_questions",
        "is_endless = torch.isinf(bodies.lower).any(dim=1) & torch.isinf(bodies.upper).all(dim=1)",
    ): ("only bodies without end have a ball so much larger than their offsets"),
    (
        "geometry/programs/convex_questions",
        "is_endless = torch.isinf(bodies.lower).all(dim=1) & torch.isinf(bodies.upper).any(dim=1)",
    ): ("only bodies without end have a ball so much larger than their offsets"),
    (
        "geometry/programs/convex_questions",
        "is_endless = torch.isinf(bodies.lower).all(dim=1) | torch.isinf(bodies.upper).all(dim=1)",
    ): ("only bodies without end have a ball so much larger than their offsets"),
    (
        "geometry/programs/convex_questions",
        "is_endless &= ((radii > 1e-3 * most) & (moved <= 0).any(dim=1)) | ~bodies.exists.any(dim=1)",
    ): ("only bodies without end have a ball so much larger than their offsets"),
    ("analyses/codespace/sampled", "block = (1)"): "size of a block",
    (
        "networks/passes/forms",
        "above, below = np.flatnonzero(low <= least - margin), np.flatnonzero(high > most + margin)",
    ): "equality of two reals; a limit that all steps keep",
    (
        "networks/passes/forms",
        "above, below = np.flatnonzero(low < least - margin), np.flatnonzero(high >= most + margin)",
    ): "equality of two reals; a limit that all steps keep",
    ("analyses/sensitivity/gradient_covariance", "if basis is not None and len(basis) > widest:"): (
        "a basis as large as the space: either way gives the eigenvalues"
    ),
    (
        "geometry/programs/convex_questions",
        "return (values <= 0) | (bounds > 0) | precise(values, bounds)",
    ): "equality of two reals; a margin of zero is none",
    (
        "geometry/programs/convex_questions",
        "return (values < 0) | (bounds >= 0) | precise(values, bounds)",
    ): "equality of two reals; a margin of zero is none",
    (
        "analyses/robustness/distance_search",
        "last = tuple(np.full(gate.num_units, (gate.num_pieces), dtype=np.int32) for gate in gates)",
    ): "behind the last piece there is none",
    ("analyses/similarity/moments", "panel = (len(self._table))"): "how many columns LAPACK takes at once",
    (
        "analyses/sensitivity/gradient_covariance",
        "every = matrix(network, x, outputs=outputs, budget=Budget(memory=(memory)))",
    ): "memory for codes: nothing else is computed there",
    (
        "analyses/sensitivity/gradient_covariance",
        "every = matrix(network, x, outputs=outputs, budget=Budget(memory=(_one_sample(network))))",
    ): "memory for codes: nothing else is computed there",
    ("analyses/stability/singular_values", "if 2 * len(seen) >= n:"): "which of two ways to the same products",
    ("regions/nearest_facets", "lengths, largest = _lengths(at, norm, (1))"): "how many inputs are taken at once",
    (
        "analyses/similarity/moments",
        "return self.factor is not None and len(self.factor) < (self.sizes[first])",
    ): "which of two ways to the product",
    (
        "analyses/similarity/moments",
        "return self.factor is not None and len(self.factor) < (self.sizes[second])",
    ): "which of two ways to the product",
    (
        "analyses/robustness/distance_to_facets",
        "parts = at.blocks((8 * at.network.num_inputs))",
    ): "how many points are taken at once",
    (
        "analyses/robustness/distance_to_facets",
        "parts = at.blocks((3 * at.network.bytes_per_point))",
    ): "how many points are taken at once",
    (
        "regions/nearest_facets",
        "bends = rows.exists & (length >= wrong)",
    ): "equality of two reals; a unit that is zero all over has no row",
    (
        "networks/bounds/lines_back",
        "corners = bends(gate, low, (high))",
    ): "a part whose ranges are empty has no least value, whatever its bends are",
    (
        "analyses/verification/box_search",
        "is_ruled_out[:, number] = (least[:, own] >= 0).any(axis=1)",
    ): "bounds are lower by what is lost below all floats: one of zero is that of positive outputs",
    (
        "geometry/unions/union_surface",
        "considered = (top > away) | ((top >= -away) & before)",
    ): "equality of two reals; what is that near to a plane is either in it or below it",
    (
        "analyses/verification/unit_leaves",
        "most = (float((np.abs(table) @ half + np.abs(limits)).max(initial=0.0)))",
    ): "an end of the program that no solution needs to come near to",
    (
        "analyses/verification/unsafe_regions",
        "ROUNDING = 64 * 0.0",
    ): "the rounding of rows, and of the sides of regions, is added as well and is larger",
    (
        "checking/property_proofs",
        "half[place, place] = _ceil((high * ONE - center[place]))",
    ): "the centre is rounded down, so that no end is farther than the upper one",
    (
        "checking/property_proofs",
        'demand(axis in range(len(low)) and low[axis] < place <= high[axis], f"{where} is left open")',
    ): "a box split at its end is one half; both halves are checked, and to refuse it claims less",
    (
        "checking/property_proofs",
        'demand(axis in range(len(low)) and low[axis] <= place < high[axis], f"{where} is left open")',
    ): "a box split at its end is one half; both halves are checked, and to refuse it claims less",
    (
        "analyses/verification/violation_search",
        "is_missed, is_inside = ends[:, : len(A)] > b, (-ends[:, len(A) :] <= b) & ((len(unsafe.C)))",
    ): "boxes that are not taken whole are taken region by region; rows of equations are among those asked",
    ("checking/file_conditions", "return size if order > 0 else -size"): "zero is zero with either sign",
    (
        "analyses/verification/unit_leaves",
        "most = (1.0)",
    ): "with too small an end the program has no answer, and nothing is ruled out",
    (
        "geometry/unions/union_surface",
        "if (holds & considered).all():",
    ): "what one body covers whole is cut by it to nothing as well",
    (
        "geometry/unions/union_surface",
        "on = np.abs(body @ hull.A.T - hull.b) < thin",
    ): "equality of two reals; either answer is right",
    (
        "checking/property_proofs",
        "noise = np.zeros((len(center), (width) + len(fresh)), dtype=object)",
    ): "more columns of zeros",
    (
        "analyses/verification/unit_search",
        "aim = (mixed.rounding) + 1e-6 * (1 + mixed.offsets.abs())",
    ): "how far slopes are sought; bounds hold for any",
    (
        "networks/passes/wide_numbers",
        "units = [(of_values.exponent - (j + 1) * bits) for j in range(len(others))]",
    ): "half a unit: sums are whole numbers of it, too",
    (
        "networks/passes/wide_numbers",
        "if level == last or (left.reshape(len(enough), -1).mean(1) < enough).all()",
    ): "equality of two reals; what is left out is in the error",
    (
        "networks/passes/wide_numbers",
        "left = left + weights.from_slice(place) * values.from_slice((level + 1 - place))",
    ): "a larger bound where both are cut into slices, no larger than that of the pair before",
    (
        "geometry/programs/checked_bounds",
        "UNDERFLOW = (2.0**-1060 / 2)",
    ): "room for 2^14 products, or for half as many",
    (
        "networks/bounds/best_multipliers",
        "missing = torch.where(found.values.isfinite() & (found.values < aim), found.values, 0.0).sum()",
    ): "equality of two reals; what is at its aim may rise or stay",
    (
        "networks/bounds/best_multipliers",
        "better = found.values.detach() >= values",
    ): "equality of two reals; either holding gives the bound",
    (
        "networks/bounds/best_multipliers",
        "better = found.values >= values",
    ): "equality of two reals; either holding gives the bound",
    (
        "networks/bounds/best_multipliers",
        "if is_last or not missing.requires_grad or bool((values >= aim).all()):",
    ): "equality of two reals; what is at its aim may rise or stay",
    (
        "networks/bounds/best_multipliers",
        "if step == steps or slopes is None or bool((values >= aim).all()):",
    ): "equality of two reals; what is at its aim may rise or stay",
    (
        "partitions/decisions/decision_pieces",
        "for rows in chunks(number, network.bytes_per_point, (MEMORY)):",
    ): "size of a block",
    (
        "partitions/decisions/decision_pieces",
        "for rows in chunks(number, network.bytes_per_point, (32 * network.bytes_per_point)):",
    ): "size of a block",
    ("partitions/decisions/decision_pieces", "if rows.stop <= number:"): "the scores of all are given once more",
    (
        "partitions/decisions/decision_pieces",
        "which = np.flatnonzero((facets.left >= start) & (facets.left < stop) & (facets.right > 0))",
    ): "the region on the right of a facet comes after the one on its left",
    ("partitions/doubts/shown_regions", "GOLDEN = (0.0)"): "the order in which cells are looked at",
    ("partitions/doubts/shown_regions", "GOLDEN = ((5**0.5 - 1) / 2 / 2)"): "the order in which cells are looked at",
    (
        "partitions/ask/forecast_rounds",
        "PLANNED = (0.0)",
    ): "how far windows grow; each round has an interval of its own",
    ("partitions/ask/forecast_rounds", "PLANNED = (0.6 / 2)"): (
        "how far windows grow; each round has an interval of its own"
    ),
    (
        "analyses/verification/program_search",
        "if self.counterexample is None or before // ATTACK_EVERY != self.num_branches // ATTACK_EVERY:",
    ): "how often points are moved towards what is unsafe; each counterexample is one",
    (
        "networks/bounds/backward_bounds",
        "return _entries(node) <= (SMALL)",
    ): "whether products are of the matrix or of the node",
    (
        "networks/bounds/backward_bounds",
        "return _entries(node) <= (constants / DENSE)",
    ): "whether products are of the matrix or of the node",
    (
        "networks/bounds/backward_bounds",
        "half = (self.upper - middle)",
    ): "the rounding of the middle is a share of sizes, and below all floats part of what is lost",
    (
        "networks/bounds/backward_bounds",
        "half = (middle - self.lower)",
    ): "the rounding of the middle is a share of sizes, and below all floats part of what is lost",
    (
        "networks/bounds/backward_bounds",
        "if not steps and not self.ranges:",
    ): "without steps, or without gates before it, the same bound comes of either",
    (
        "analyses/verification/unsafe_regions",
        "THIN = (1e-12 / 2)",
    ): "what is too thin to be a piece; it is added up",
    (
        "analyses/verification/unsafe_regions",
        "ROUGH = (1e-10 / 2)",
    ): "which rows are made again in fractions; the shift of the others is counted",
    (
        "regions/nearest_facets",
        "if best is None or facet.distance <= best.distance:",
    ): "equality of two reals; either facet is a nearest one",
    (
        "regions/nearest_facets",
        "parts.append(_nearest(part, norm, memory // (len(part)) // per_input, exact))",
    ): "size of a block, which has points",
    (
        "regions/nearest_facets",
        "extreme = moves | ~((part > SHORTEST) & (part < LONGEST))",
    ): "lengths that are found once more, with the same result",
    (
        "partitions/decisions/decision_boundary",
        "ROUNDING = (1e-9 / 2)",
    ): "which shares of a domain are told as all of it",
    ("regions/nearest_facets", "moves = entries >= 0"): "lengths that are found once more, with the same result",
    (
        "geometry/programs/checked_bounds",
        "doubt = doubt + SMALLEST * (abs(rows).T @ (taken != 0).astype(float) >= 0) * len(taken)",
    ): "of columns without entries as well the smallest number is allowed for, or fractions are asked",
    (
        "partitions/ask/region_density",
        "is_open = (most > least.amax(dim=-1, keepdim=True)).sum(dim=-1) > 1",
    ): "equality of two reals; densities are estimates, which say where windows fall",
    (
        "analyses/surfaces/nearest_points",
        "inside = (s > 0) & (t >= 0) & (s + t <= 1)",
    ): "a point on a side is found among those of the side",
    (
        "analyses/surfaces/nearest_points",
        "inside = (s >= 0) & (t > 0) & (s + t <= 1)",
    ): "a point on a side is found among those of the side",
    (
        "analyses/surfaces/nearest_points",
        "inside = (s >= 0) & (t >= 0) & (s + t < 1)",
    ): "a point on a side is found among those of the side",
    ("analyses/surfaces/ray_signs", "TINY = (1e-280 / 2)"): "forty powers of ten above what is lost below all floats",
    (
        "analyses/surfaces/ray_signs",
        "for row in np.flatnonzero(~(np.abs(values) >= errors)):",
    ): "equality of two reals; what is as large as its error has its sign",
    (
        "analyses/surfaces/curvature",
        "wraps = np.abs(by_corners) + turned >= np.pi",
    ): "equality of two reals; an end is at half a turn, and may be at both",
    (
        "analyses/planes/areas_in_doubt",
        "rows = np.flatnonzero(is_near.sum(axis=1) >= 1)",
    ): "one class alone makes no pairs",
    (
        "analyses/planes/areas_in_doubt",
        "area = np.where((least >= moved) | (most < -moved), 0.0, share) * part.volumes()[regions]",
    ): "equality of two reals; either answer is right",
    (
        "analyses/planes/areas_in_doubt",
        "area = np.where((least > moved) | (most <= -moved), 0.0, share) * part.volumes()[regions]",
    ): "equality of two reals; either answer is right",
    (
        "analyses/surfaces/distance",
        "return heights < errors, heights >= -errors",
    ): "equality of two reals; errors are larger than what rounding makes",
    (
        "analyses/surfaces/distance",
        "return heights <= errors, heights > -errors",
    ): "equality of two reals; errors are larger than what rounding makes",
    (
        "checking/file_conditions",
        "ahead, behind = sorted(places, key=lambda place: row[place] <= 0)",
    ): "entries of a row are not zero",
    (
        "analyses/boxes/halved_boxes",
        "taken: list[Part] = self.with_next(branch, ((self._together)) // 2)",
    ): "how many boxes are halved together",
    (
        "analyses/surfaces/merged_polygons",
        "ALIKE = (1e-6 / 2)",
    ): "which neighbours are asked in fractions; normals of one plane differ by rounding only",
    (
        "checking/property_proofs",
        "slope = Fraction(_floor(((values[len(sides) - 1])) / (high - low) * (1 << SLOPE)), 1 << SLOPE)",
    ): "any slope serves: what the chord misses is its unit's noise",
    (
        "analyses/robustness/distance_search",
        "first = with_piece(regions.first, gate, unit, (low))",
    ): "pieces that were split off before are looked at once more, and bounds hold",
    (
        "analyses/robustness/distance_search",
        "last = with_piece(regions.last, gate, unit, (high))",
    ): "pieces that were split off before are looked at once more, and bounds hold",
    (
        "analyses/robustness/exact_cells",
        "near = found.point if np.isfinite(found.point).any() else np.zeros(self._dim)",
    ): "a point has an end everywhere or nowhere",
    (
        "geometry/programs/checked_bounds",
        "return float(entries.min(initial=np.inf, where=entries >= 0))",
    ): "products of zeros count as too small: the bound is larger by the smallest number",
    ("geometry/unions/union_volume", "one, two = np.nonzero(left <= right)"): "sides that share one end do not cross",
    (
        "geometry/unions/union_volume",
        "return without(part, hull, thin).parts if part.intersect(hull).insphere().radius >= thin else [part]",
    ): "equality of two reals; either answer is right",
    ("partitions/doubts/shown_regions", "GOLDEN = ((5**0.5)) / 2"): "in which order cells are looked at",
    (
        "partitions/complexes/carried_ahead",
        "number, old = len(work.heights), (len(work.heights))",
    ): "vertices that cuts have made take a product as well, and what is carried ahead replaces it",
    (
        "geometry/programs/checked_bounds",
        "if _least(rows) * _least(taken) <= np.finfo(float).tiny:  # products may be below the smallest number",
    ): "a product that is the smallest normal number loses nothing; the bound is larger by less",
    ("geometry/unions/union_volume", "if dim == 3 and len(bodies) >= 1:"): "of one body both ways give the volume",
    (
        "geometry/unions/union_surface",
        "before = np.arange(len(top)) <= index",
    ): "the body itself is left out in any case",
    (
        "geometry/programs/convex_questions",
        "return is_near(softplus(values), softplus(bounds)) & (time.perf_counter() > until)",
    ): "the method goes on to a smaller gap, until it stalls",
    (
        "networks/bounds/set_programs",
        "is_in[1:] &= units.levels <= units.high",
    ): "one row more, of a piece that a range touches: it cuts nothing off",
    ("networks/bounds/set_programs", "gaps = np.abs((gives))"): "which unit is split first; bounds hold anyhow",
    (
        "networks/bounds/set_programs",
        "entries = ((units)) * (len(bounds.lower) + 2 * units)",
    ): "how large a program may be",
    (
        "networks/file_outputs",
        "return _EVERYWHERE if sign <= 0 and not is_equation else _NOWHERE",
    ): "the sign is 1 or -1",
    (
        "networks/file_outputs",
        "return _EVERYWHERE if sign >= 0 and not is_equation else _NOWHERE",
    ): "the sign is 1 or -1",
    ("partitions/driver/stepped_search", "INTERVAL = (0.2 / 2)"): "how often is told how far a search is",
    ("partitions/driver/stepped_search", "INTERVAL = (0.0)"): "how often is told how far a search is",
    (
        "partitions/ask/region_density",
        "levels = [((least < level) & (level <= most)) for level in gate.breakpoints]",
    ): "equality of two reals; ends of intervals are rounded outwards",
    (
        "partitions/levels/level_bounds",
        "if is_linear or chunk.stage == len(network.stages) - 1:",
    ): "which cells are left out early; all others are cut",
    ("partitions/table/boundedness", "others = np.where(column > 0, column, 0)"): "what is zero stays zero",
    (
        "analyses/preimages/rows_of_inputs",
        "CLEAR = (1e-10 / 2)",
    ): "which rows are made again in fractions; the shift of the others is counted",
    (
        "analyses/reachability/cover",
        "scale = np.max([(box.outputs.spread) for box in found], axis=0)",
    ): "which box is halved first; bounds hold whatever is halved",
    (
        "analyses/reachability/cover",
        "scale = np.max([(box.half @ np.abs(box.outputs.weights.T)) for box in found], axis=0)",
    ): "which box is halved first; bounds hold whatever is halved",
    (
        "analyses/reachability/images",
        "may_hide = np.any(self.errors >= thickness(self._points), axis=1)",
    ): "equality of two reals; either is right",
    (
        "analyses/reachability/images",
        "apart = (high[place + 1 :]) - np.maximum(low[place], low[place + 1 :]) <= self._thin",
    ): "pieces whose boxes do not meet are asked about, and do not overlap",
    (
        "analyses/reachability/images",
        "apart = (high[place]) - np.maximum(low[place], low[place + 1 :]) <= self._thin",
    ): "pieces whose boxes do not meet are asked about, and do not overlap",
    (
        "analyses/reachability/images",
        "apart = np.minimum(high[place], high[place + 1 :]) - (low[place + 1 :]) <= self._thin",
    ): "pieces whose boxes do not meet are asked about, and do not overlap",
    (
        "analyses/reachability/images",
        "apart = np.minimum(high[place], high[place + 1 :]) - (low[place]) <= self._thin",
    ): "pieces whose boxes do not meet are asked about, and do not overlap",
    (
        "analyses/reachability/images",
        "apart = np.minimum(high[place], high[place + 1 :]) - np.maximum(low[place], low[place + 1 :]) < self._thin",
    ): "equality of two reals; a ball in a strip so wide is half as wide",
    (
        "analyses/reachability/images",
        "if (points @ side.A.T > side.b - self._thin).all(axis=0).any():",
    ): "equality of two reals; a ball in a strip so wide is half as wide",
    (
        "analyses/reachability/images",
        "if (points @ side.A.T >= (side.b)).all(axis=0).any():",
    ): "pieces that a side separates are asked about, and do not overlap",
    (
        "analyses/reachability/images",
        "if (points @ side.A.T >= side.b - self._thin).all(axis=0).all():",
    ): "pieces that a side separates are asked about, and do not overlap",
    (
        "analyses/reachability/images",
        "return self.pieces[one].intersect(self.pieces[other]).insphere().radius >= self._thin",
    ): "equality of two reals; either is right",
    (
        "analyses/reachability/images",
        "return bool((self.errors < largest_error(np.abs(self._points).max(initial=0.0))).all())",
    ): "equality of two reals; either is right",
    (
        "analyses/robustness/distance_to_classes",
        "places[block] = view.units.leave((found.change.beyond))",
    ): "where other classes are sought; a change there is confirmed by the network",
    (
        "analyses/robustness/distance_to_classes",
        "places[block] = view.units.leave((view.x))",
    ): "where other classes are sought; a change there is confirmed by the network",
    (
        "analyses/robustness/distances_to_units",
        "hidden = np.flatnonzero(~bends & (wrong >= 0))",
    ): "a row without entries and without rounding is constant in fractions, too",
    (
        "analyses/verification/box_search",
        "missed = [(one, way) for one, way in reached if way.excess >= self._margin(box, one)]",
    ): "equality of two reals; what is at the margin is looked at on halves all the same",
    (
        "analyses/verification/program_search",
        "low, high = (float(np.nan_to_num((0.0) - one.relaxed.miss)) for half in halves)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "low, high = (float(np.nan_to_num((half.relaxed.miss) - one.relaxed.miss)) for half in halves)",
    ): "which unit is split; rises are held to the most there can be",
    (
        "analyses/verification/program_search",
        "self.low, self.high, self.number = self.low + rises[0] / gap, (self.high), self.number + 1",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/unit_search",
        "aim = (mixed.offsets + mixed.rounding)",
    ): "when better lines are sought no more; rounding is counted where rows are ruled out",
    (
        "analyses/verification/exact_leaves",
        "first, last = (levels <= low - away).sum(axis=0), (levels <= high + away).sum(axis=0)",
    ): "equality of two reals; either is right",
    (
        "analyses/verification/exact_leaves",
        "first, last = (levels < low - away).sum(axis=0), (levels < high + away).sum(axis=0)",
    ): "equality of two reals; either is right",
    (
        "analyses/local/class_ends",
        "lower = np.arange(outputs.shape[1]) <= own[:, None]",
    ): "the own class leads itself by one, and is never tied with itself",
    (
        "analyses/verification/verdict",
        "is_near |= (outputs @ one.A.T <= one.b).any(axis=1)",
    ): "more points are looked at, each with its rounding",
    (
        "analyses/robustness/certified_radii",
        "lower = np.maximum(np.minimum((reach.lower), nearest), 0.0)",
    ): "the nearest of all rivals has room for as much rounding",
    ("checking/file_conditions", "if 1 + low >= most:"): "the two sides are never equal",
    ("checking/file_conditions", "if 1 + high <= least:"): "the two sides are never equal",
    ("checking/file_conditions", "if low >= number:"): "a power of e is no fraction",
    ("checking/file_conditions", "if high <= number:"): "a power of e is no fraction",
    ("checking/file_conditions", "if x <= 0:"): "the power of zero is one, divided by either end",
    (
        "checking/file_conditions",
        "pass  # each further term is less than half of the one before",
    ): "each term is rounded up by about as much; the rest of the series is what a proof needs",
    (
        "analyses/robustness/distance_search",
        "if rival is None or rival.least > self.limit:",
    ): "equality of two reals; what is as far as the change that is known is no nearer",
    (
        "analyses/robustness/distance_search",
        "return change if places is None or (len(places)) else nearer_by(view, places, change)",
    ): "where other classes are sought; a change there is confirmed by the network",
    ("analyses/robustness/distance_search", "AGAIN = (0.2 / 2)"): "when a branch is bounded again instead of split",
    ("analyses/robustness/distance_search", "AGAIN = (0.0)"): "when a branch is bounded again instead of split",
    ("analyses/robustness/distance_search", "gain = (lower)"): "when a branch is bounded again instead of split",
    (
        "analyses/robustness/distance_search",
        "if (score.any()):",
    ): "which branch is split first; bounds hold whatever is split",
    (
        "analyses/robustness/distance_search",
        "if not score.all():",
    ): "which branch is split first; bounds hold whatever is split",
    (
        "analyses/robustness/distance_search",
        "score = (noise.sum(axis=0))",
    ): "which branch is split first; bounds hold whatever is split",
    (
        "analyses/robustness/distance_search",
        "score = (np.abs(rival.noise))",
    ): "which branch is split first; bounds hold whatever is split",
    (
        "analyses/preimages/rows_of_inputs",
        "sizes = (np.abs(rows) @ (np.abs(weight) @ self._largest + np.abs(bias)))",
    ): "an end that is met on the box is as large as the other terms, and one that is not is far away",
    (
        "analyses/preimages/rows_of_inputs",
        "noise = np.abs(rows) @ errors * ((1)) + ROUNDING * sizes",
    ): "bounds on the rounding of maps have more room than their sum loses",
    (
        "analyses/robustness/exact_cells",
        "if is_constant and (lead[-1] < 0 or (lead[-1] == 0 and label >= own)):",
    ): "a class is not its own rival",
    (
        "analyses/verification/program_search",
        "self.low, self.high, self.number = (rises[0] / gap), self.high + rises[1] / gap, self.number + 1",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "self.low, self.high, self.number = (self.low), self.high + rises[1] / gap, self.number + 1",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "self.low, self.high, self.number = self.low + rises[0] / gap, (rises[1] / gap), self.number + 1",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "self.low, self.high, self.number = self.low + rises[0] / gap, self.high + rises[1] / gap, (1)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "self.low, self.high, self.number = self.low + rises[0] / gap, self.high + rises[1] / gap, (self.number)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "missed = [one for one in seen if one.relaxed.miss >= 0]",
    ): "equality of two reals; what is tried is proved, or stays",
    (
        "analyses/verification/program_search",
        "if (value := (0.1 * max(rises))) > most:",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "if (value := (min(rises))) > most:",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "most = (-one.relaxed.miss)",
    ): "which unit is split; bounds hold whatever is split",
    ("analyses/verification/program_search", "most = (0.0)"): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "low, high = (float(np.nan_to_num((min(half.relaxed.miss, 0.0)))) for half in halves)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "return (max(low, 0.0)), min(max(high, 0.0), most)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "return (most), min(max(high, 0.0), most)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "return min((0.0), most), min(max(high, 0.0), most)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "return min((low), most), min(max(high, 0.0), most)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "return min(max(low, 0.0), most), (max(high, 0.0))",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "return min(max(low, 0.0), most), (most)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "return min(max(low, 0.0), most), min((0.0), most)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/program_search",
        "return min(max(low, 0.0), most), min((high), most)",
    ): "which unit is split; bounds hold whatever is split",
    ("analyses/verification/unit_search", "numbers = 4 * ((network.num_inputs))"): "how many sets are bounded together",
    ("analyses/verification/unit_search", "numbers = 4 * ((network.num_units))"): "how many sets are bounded together",
    ("analyses/verification/unit_search", "self._together = (2)"): "how many sets are bounded together",
    (
        "analyses/verification/unit_search",
        "self._together = (min(NUM_TOGETHER, MAX_NUMBERS // numbers))",
    ): "how many sets are bounded together",
    (
        "analyses/verification/unit_search",
        "self._together = max(2, (MAX_NUMBERS // numbers))",
    ): "how many sets are bounded together",
    (
        "analyses/verification/unit_search",
        "self._together = max(2, (NUM_TOGETHER))",
    ): "how many sets are bounded together",
    (
        "analyses/verification/unit_search",
        "taken = self.with_next(branch, ((1)) // 2, lambda one: self._case(one.what) == case)",
    ): "how many sets are bounded together",
    (
        "analyses/verification/unit_search",
        "taken = self.with_next(branch, ((self._together)) // 2, lambda one: self._case(one.what) == case)",
    ): "how many sets are bounded together",
    (
        "analyses/verification/unit_search",
        "aim = (mixed.offsets) + 1e-6 * (1 + mixed.offsets.abs())",
    ): "when better lines are sought no more; rounding is counted where rows are ruled out",
    (
        "analyses/verification/unit_search",
        "aim = (1e-6 * (1 + mixed.offsets.abs()))",
    ): "when better lines are sought no more; rounding is counted where rows are ruled out",
    (
        "analyses/verification/unit_search",
        "aim = mixed.offsets + mixed.rounding + 1e-6 * ((1))",
    ): "when better lines are sought no more; rounding is counted where rows are ruled out",
    (
        "analyses/verification/unit_search",
        "aim = mixed.offsets + mixed.rounding + 1e-6 * ((mixed.offsets.abs()))",
    ): "when better lines are sought no more; rounding is counted where rows are ruled out",
    ("analyses/verification/unit_search", "if self._trees is not None or (bounds.gates):"): "wider ranges hold as well",
    ("analyses/verification/unit_search", "if number <= 2:"): "which mixture of rows is bounded; each of them proves",
    (
        "analyses/verification/unit_search",
        "gain = ((0.1 * gains.amax(dim=1))).tolist()",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/unit_search",
        "gain = ((gains.amin(dim=1))).tolist()",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/unit_search",
        "if row not in best or gain[place] >= gain[best[row]]:",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/unit_search",
        "values.append((best) - mixed.offsets)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/unit_search",
        "values.append((kept) - mixed.offsets)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/unit_search",
        "values.append((torch.maximum(best, kept)))",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/unit_search",
        "score = (weights.clamp(min=0) * lines.below_gap)",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/verification/unit_search",
        "scores.append(torch.where(bounds.is_open(gate, held), (TINY), 0.0))",
    ): "which unit is split; bounds hold whatever is split",
    (
        "analyses/reachability/cover",
        "widest = self.with_next(branch, (NUM_TOGETHER // 2))",
    ): "how many boxes are halved together",
    (
        "analyses/reachability/cover",
        "widest = self.with_next(branch, (self._number - len(self.queue) - 1))",
    ): "how many boxes are halved together",
    (
        "analyses/reachability/cover",
        "return ((across > least - room) & (across <= most + room)).all(axis=1)",
    ): "equality of two reals, with room for rounding",
    (
        "analyses/reachability/cover",
        "return ((across >= least - room) & (across < most + room)).all(axis=1)",
    ): "equality of two reals, with room for rounding",
    (
        "analyses/reachability/cover",
        "scale >= np.finfo(float).tiny, scale, np.inf",
    ): "equality of two reals; which box is halved first",
    (
        "analyses/reachability/cover",
        "room = 0.0 * (np.abs(self.boxes).max(axis=1) @ np.abs(self._diagonals).T)",
    ): "ranges of forms have room that a sum of two outputs does not use up",
    (
        "analyses/reachability/cover",
        "return np.stack([(ends[:, 0]), ends[:, 1] + room], axis=1)",
    ): "ranges of forms have room that a sum of two outputs does not use up",
    (
        "analyses/reachability/cover",
        "return np.stack([ends[:, 0] - room, (ends[:, 1])], axis=1)",
    ): "ranges of forms have room that a sum of two outputs does not use up",
    (
        "analyses/verification/exact_leaves",
        "if ranges.first is not None or ranges.last is not None:",
    ): "both are given, or neither",
    (
        "analyses/verification/exact_leaves",
        "least = ((len(opened))) * (self._pass + cost_of_cut(2 * dim + len(opened), dim))",
    ): "whether a leaf is begun: its work is counted as it is done",
    (
        "analyses/verification/exact_leaves",
        "least = ((len(unsafe))) * (self._pass + cost_of_cut(2 * dim + len(opened), dim))",
    ): "whether a leaf is begun: its work is counted as it is done",
    (
        "analyses/verification/exact_leaves",
        "least = (len(opened) + len(unsafe)) * ((cost_of_cut(2 * dim + len(opened), dim)))",
    ): "whether a leaf is begun: its work is counted as it is done",
    (
        "analyses/verification/exact_leaves",
        "least = (len(opened) + len(unsafe)) * ((self._pass))",
    ): "whether a leaf is begun: its work is counted as it is done",
    (
        "analyses/verification/exact_leaves",
        "least = (len(opened) + len(unsafe)) * (self._pass + cost_of_cut((2 * dim), dim))",
    ): "whether a leaf is begun: its work is counted as it is done",
    (
        "analyses/verification/exact_leaves",
        "least = (len(opened) + len(unsafe)) * (self._pass + cost_of_cut((len(opened)), dim))",
    ): "whether a leaf is begun: its work is counted as it is done",
    ("analyses/verification/exact_leaves", "return 4 * num_rows * ((1))"): "how much work a cut is counted as",
    ("analyses/verification/exact_leaves", "return 4 * num_rows * ((dim))"): "how much work a cut is counted as",
    (
        "analyses/verification/exact_leaves",
        "first, last = np.maximum(first, ranges.first[gate]), (ranges.last[gate])",
    ): "pieces beyond a range have no point in its box",
    (
        "analyses/robustness/distances_to_units",
        "for block, part in at.blocks(bytes_of_gates(network) + 24 * network.num_inputs * (network.num_units)):",
    ): "size of a block",
    (
        "analyses/robustness/distances_to_units",
        "for block, part in at.blocks(bytes_of_gates(network) + 24 * network.num_inputs * (1)):",
    ): "size of a block",
    (
        "analyses/robustness/distances_to_units",
        "for block, part in at.blocks((bytes_of_gates(network))):",
    ): "size of a block",
    (
        "analyses/robustness/distances_to_units",
        "for block, part in at.blocks((24 * network.num_inputs * max(1, network.num_units))):",
    ): "size of a block",
    (
        "analyses/verification/exact_leaves",
        "number = np.prod([float((last) + 1) for _, _, first, last in opened])",
    ): "how many codes a leaf may have: more are counted, and it is left undecided",
    (
        "networks/passes/forms",
        "is_hidden = (high >= 0) & (high - low <= 2 * clear) & (entries >= 0) & (entries != source[:, None])",
    ): "a limit that holds at every step",
    (
        "geometry/unions/union_surface",
        "level = np.where(top >= away, away, -away)",
    ): "equality of two reals: a body that ends at the raised plane covers nothing of it",
    (
        "geometry/unions/union_surface",
        "FLAT = (1e-9 / 2)",
    ): "any number far above rounding and far below the size of the bodies does",
    (
        "geometry/unions/union_volume",
        "meets = (np.minimum(high[index], high[other]) - np.maximum(low[index], low[other]) > thin).any()",
    ): "which bodies are compared: those that do not overlap leave each other as they are",
    (
        "partitions/complexes/bends",
        "if rank + 1 > MOST_NEEDED * number and number < len(shares):",
    ): "whether rows are taken together, at some cost; what is lost is counted",
    (
        "partitions/ask/forecast_rounds",
        "at_low = (np.abs(corners[first] - low) < near) & (low > where.low)",
    ): "equality of two reals, at a distance far above the rounding of corners",
    (
        "partitions/ask/forecast_rounds",
        "at_high = (np.abs(corners[first] - high) < near) & (high < where.high)",
    ): "equality of two reals, at a distance far above the rounding of corners",
    (
        "partitions/ask/region_density",
        "levels = [((least <= level) & (level < most)) for level in gate.breakpoints]",
    ): "a unit that touches its breakpoint does not bend, and the density is an estimate",
    (
        "partitions/facet_volumes",
        "is_whole = np.abs(corners - part.witnesses[rows.region]).sum(axis=1).max(initial=0.0) <= rows.clear",
    ): "equality of two reals; either answer is right",
    (
        "partitions/volume_change",
        "step = (1)",
    ): "size of a block",
    (
        "partitions/volume_change",
        "step = (MAP_NUMBERS // (network.num_outputs * part.dim))",
    ): "size of a block, of maps that fit into memory",
    (
        "partitions/facet_volumes",
        "return cls(corners, errors, (np.abs(heights) < errors) & rows.normals.any(axis=1))",
    ): "equality of two reals: errors are above 0",
    (
        "partitions/rows_of_facets",
        "step = (1)",
    ): "size of a block",
    (
        "partitions/rows_of_facets",
        "step = max(1, MEMORY // (32 * part.dim * (1)))",
    ): "size of a block",
    (
        "partitions/rows_of_facets",
        "step = (MEMORY // (32 * part.dim * max(1, part.network_on_domain.num_units)))",
    ): "size of a block",
    (
        "partitions/rows_of_facets",
        "return normals + 0.0, (offsets)  # without negative zeros",
    ): "zero is zero with either sign",
    (
        "partitions/levels/level_bounds",
        "if is_linear and chunk.stage == (len(network.stages)):",
    ): "at the last gate both kinds of bounds are the same",
    (
        "networks/passes/stages",
        "pieces = pieces.astype(np.min_scalar_type((gate.num_pieces)), copy=False)",
    ): "how many bytes a piece takes",
    (
        "analyses/coefficients/margins",
        "QUOTIENT = (2.0**-50 / 2)",
    ): "four roundings, each by half of 2^-52, are as much but for their squares",
    (
        "analyses/planes/areas_in_doubt",
        "is_near = high + noise > (low - noise).max(axis=1, keepdims=True)",
    ): "equality of two reals; either is right",
    (
        "analyses/sensitivity/gradient_spectra",
        "is_there = (values[: len(directions)] >= of_sums)[:, None] & (lengths > 0)",
    ): "equality of two reals; of gradients that are all zero no direction has a length",
    (
        "geometry/unions/union_volume",
        "if meets or not (body @ hull.A.T >= hull.b - thin).all(axis=0).any():",
    ): "which bodies are compared: those that do not overlap leave each other as they are",
    (
        "partitions/decisions/touching_ties",
        "tied = (at > at.max(axis=2, keepdims=True) - error).all(axis=1)",
    ): "equality of two reals; without an error all scores are zero, and no boundary runs there",
    (
        "analyses/planes/class_areas",
        "winner = (means > means.max(axis=1, keepdims=True) - error).argmax(axis=1)",
    ): "equality of two reals; without an error all scores are zero, and the lowest class has them",
    (
        "analyses/planes/class_areas",
        "behind = outputs.max(axis=1)[ids] - outputs[ids, winner[owner]] >= error",
    ): "equality of two reals; regions that are asked again have the same parts",
    (
        "analyses/planes/class_intervals",
        "classes = (middle > middle.max(axis=1, keepdims=True) - tie_error(outputs)).argmax(axis=1)",
    ): "equality of two reals; without an error all scores are zero, and the lowest class has them",
    (
        "analyses/planes/class_intervals",
        "is_low = corners <= cut.witnesses[owner, 0]",
    ): "a witness is inside, and no corner",
    (
        "analyses/topology/critical_points",
        "flat = np.abs(known.values[tail] - known.values[head]) < 2 * known.error",
    ): "equality of two reals: errors are above 0",
    (
        "analyses/topology/faces_between",
        "return self.faces.num_undecided > 0 or self.known.error >= room / 2",
    ): "equality of two reals; either is right",
    (
        "analyses/topology/persistence",
        "is_long = (deaths - births >= 2 * known.error) & (births < levels[1]) & (deaths > levels[0])",
    ): "equality of two reals: errors are above 0",
    (
        "analyses/topology/persistence",
        "is_long = (deaths - births > 2 * known.error) & (births <= levels[1]) & (deaths > levels[0])",
    ): "no class begins or ends at a level, which meets faces in their middle",
    (
        "analyses/topology/persistence",
        "is_long = (deaths - births > 2 * known.error) & (births < levels[1]) & (deaths >= levels[0])",
    ): "no class begins or ends at a level, which meets faces in their middle",
    (
        "analyses/topology/persistence",
        "births, deaths = np.where(births <= levels[0], -np.inf, births), np.where(deaths > levels[1], np.inf, deaths)",
    ): "no class begins or ends at a level, which meets faces in their middle",
    (
        "analyses/topology/persistence",
        "births, deaths = np.where(births < levels[0], -np.inf, births), np.where(deaths >= levels[1], np.inf, deaths)",
    ): "no class begins or ends at a level, which meets faces in their middle",
    (
        "partitions/levels/level_assembly",
        "flipped = labels[beside[:, 0]] >= labels[beside[:, 1]]",
    ): "labels on both sides of a piece differ",
    (
        "partitions/levels/level_assembly",
        "apart = np.abs(points - vertices[vertex]).max(axis=1, initial=0.0) >= length",
    ): "equality of two reals; either is right",
    (
        "partitions/levels/level_patches",
        "is_inner = right > 0",
    ): "the first cell beside a facet has the lower number, so that the second is never 0",
    (
        "partitions/levels/level_patches",
        "np.where(beside[:, 1] <= 0, facet_names, 0).astype(np.uint64),",
    ): "the first cell beside a facet has the lower number, so that the second is never 0",
    (
        "partitions/levels/level_pieces",
        "is_wall = (chunk.cells.cofaces()[1] <= 0) & (chunk.seams == -1)",
    ): "the first cell beside a facet has the lower number, so that the second is never 0",
    (
        "partitions/levels/level_polygons",
        "against = (area_vectors(vertices, offsets, ids) * normals).sum(axis=1) <= 0",
    ): "a piece without an area goes with its normal in either sense",
    (
        "partitions/levels/level_polygons",
        "turn = np.where(size > 0, turn / np.where(size >= 0, size, 1.0), 1.0)",
    ): "a quotient that is left out by np.where",
    (
        "partitions/levels/level_walk",
        "is_steeper = np.linalg.norm(below, axis=1) >= lengths[flat]",
    ): "gradients of equal lengths: either has the direction of the piece, or none has one",
    (
        "partitions/levels/piece_geometry",
        "is_known = (self.piece_areas > 0) & (share <= 1)",
    ): "equality of two reals; a right angle holds as well",
    (
        "partitions/levels/piece_geometry",
        "self.piece_areas >= 0, self.piece_areas, 1.0",
    ): "a quotient that is left out by np.where",
    (
        "partitions/levels/piece_geometry",
        "sense = np.where(here <= after, 1, -1)",
    ): "an edge has two different vertices",
    (
        "analyses/verification/ruling_out",
        "found = Reach(float(least[worst]), np.where(slopes[worst] >= 0, box.lower, box.upper), np.eye(len(A))[worst])",
    ): "where a slope is zero, both corners have the same value",
    (
        "analyses/verification/ruling_out",
        "if len(A) == 1 or least[worst] >= 0:",
    ): "equality of two reals; what touches is not ruled out by this row, and is looked at elsewhere",
    (
        "networks/bounds/best_multipliers",
        "slopes[gate] = torch.where((table <= least) & (slope < 0) | (table >= most) & (slope >= 0), 0.0, slope)",
    ): "a slope of 0 becomes 0",
    (
        "analyses/boxes/halved_boxes",
        "self._together = (2)",
    ): "how many boxes are bounded together",
    (
        "partitions/doubts/shown_regions",
        "return 0 if is_deep(network) and num_cells >= _max_wide(network) else MULTIPLICATIONS // each",
    ): "from how many cells on exact evaluations are spared; what was not looked at is told",
    (
        "partitions/exact/exact_rows",
        "cost, dim = (self._cost), self._exact.network.num_inputs",
    ): "what a region is counted as: how soon others are left undecided",
    (
        "networks/bounds/backward_bounds",
        "half = (middle - low)",
    ): "the rounding of the middle is in what is added for the size of the terms, too",
    (
        "checking/file_conditions",
        "halvings = max(0, (4))",
    ): "how soon the series ends; its rest is bounded wherever it does",
    (
        "findings/derived",
        "return Ends(value, (low), max(high, value), is_certain=False)",
    ): "the end is below the mean but for rounding",
    (
        "partitions/facet_volumes",
        "others = ~_are_flipping(facets, facet, rows) | rows.normals.any(axis=1)",
    ): "half-spaces of the facet's own hyperplane leave it as it is; the volume is an estimate",
    (
        "analyses/verification/unsafe_regions",
        "if (is_inside and not len(cut.polyhedron.A)) and not number:",
    ): "a region that lies inside is the same when it is cut",
    (
        "analyses/verification/unsafe_regions",
        "CLEAR = (1e-6 / 2)",
    ): "which rows of other units are kept that hold anyhow",
    (
        "analyses/verification/unit_search",
        "empty = torch.stack([(low > high).any(dim=1) for low, high in zip(held.low, held.high, strict=True)]).all(0)",
    ): "an empty set that is kept is ruled out later, or split until it is",
    (
        "geometry/unions/union_surface",
        "inside = out < 0",
    ): "a polygon that touches the line is cut at its corners there, and the same",
    (
        "partitions/exact/exact_rows",
        "cost = (self._cost)",
    ): "what a region is counted as: how soon others are left undecided",
    (
        "analyses/verification/box_search",
        "own = slice((ends[number]), ends[number])",
    ): "no row is looked at ahead of all boxes; each box is asked for itself",
    (
        "geometry/unions/union_volume",
        "meets = ((high[index]) - np.maximum(low[index], low[other]) > thin).all()",
    ): "which bodies are compared: those that do not overlap leave each other as they are",
    (
        "analyses/reachability/reachable_sets",
        "elif is_overdue() or time.time() - began > limit.seconds_allowed * (1 + GRACE) + 2 * LEAST_GRACE:",
    ): "how late a walk in doubt ends",
    (
        "analyses/verification/ruling_out",
        "if len(A) == 1 and least[worst] > 0:",
    ): "the program rules out what its worst row alone rules out",
    (
        "checking/file_conditions",
        "halvings = max(0, (size.numerator.bit_length()) + 4)",
    ): "how often the argument is halved; the series is bounded wherever it is taken",
    (
        "checking/file_conditions",
        "low, high = low * low >> places, (high * high >> places)",
    ): "the terms leave a slack of one or more, which squares of values above one double, less the one they lose",
    ("analyses/reachability/images", "HULLS = (1e-12 / 2)"): "half of it holds the rounding of hulls, too",
    ("analyses/compression/rounded_sums", "SUMMED = (2.0**-30 / 2)"): "half of it holds the rounding of sums, too",
    (
        "partitions/levels/level_walk",
        "FLAT = (1e-6 / 2)",
    ): "for which pieces both sides are asked; the longer gradient is right everywhere",
    (
        "partitions/levels/level_walk",
        "FLAT = (0.0)",
    ): "both sides are asked for all pieces; the longer gradient is right everywhere",
    ("analyses/verification/box_search", "self._sides = (upper)"): "which side of a box is halved first",
    (
        "analyses/boxes/halved_boxes",
        "taken: list[Part] = self.with_next(branch, ((1)) // 2)",
    ): "how many boxes are bounded together",
    (
        "checking/file_conditions",
        "opposite = len(row) == 2 and end == 0 and row[places[0]] * row[places[1]] <= 0",
    ): "a row holds no zeros",
    (
        "analyses/bounds/sparse_layers",
        "found = [0] * (min(most, (len(left) + len(right))) + 1)",
    ): "coefficients of degrees that the product has not are zero",
    (
        "analyses/verification/unit_search",
        "excess = ((found.values)).tolist()",
    ): "which unit is split first",
    ("analyses/preimages/rows_of_inputs", "CLEAR = (0.0)"): "all rows are made in fractions, which takes longer",
}
