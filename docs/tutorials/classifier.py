"""What does my network look like?
===============================

Opens an image classifier: how well it does, which units it uses, what it is near an image, and where its answer
changes. Put your own model in place of the embedded one, and images of yours in place of the digits; nothing below
has to change.
"""

import numpy as np

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
print(net)

# %%
# `rs.load` followed what the model computes, and compared the result with it. A mismatch would have been an error.

print(f"{net.verification.num_points} points compared with {net.verification.reference}")
print("accuracy:", rs.classification.accuracy(net, data.points, data.labels))
wrong = np.flatnonzero(rs.classification.predicted_classes(net, data.points) != data.labels)
print("images it gets wrong:", wrong.tolist())

# %%
# Which units are used
# --------------------
# A code says which piece every unit uses at an image. Units that never change do nothing for these images that an
# affine map could not do.

sampled = rs.codespace.sample_codes(net, data.points)
rs.codespace.unit_usage(net, sampled).summary

# %%
# Every image has a code of its own, and so lies in a linear region of its own.

print(rs.codespace.distinct_codes(sampled).summary.finding("num_distinct_codes"), "codes of", len(data))
rs.plots.codes(sampled.codes, labels=data.labels)

# %%
# The network near an image
# -------------------------
# Within its region the network is one affine map. We look at an image that it gets wrong, within the images whose
# pixels lie between 0 and 1.

image = data.points[wrong[0]].reshape(-1)
box = rs.Box(0, 1, dim=64)
region = rs.region(net, image, domain=box)
print(f"labelled {data.labels[wrong[0]]}, seen as {int(net(image).argmax())}")
print(f"{len(region.polyhedron.facets())} facets, largest ball of radius {region.polyhedron.insphere().radius:.4f}")

# %%
# What it multiplies this image by, for the class of the label and for the class it says:

outputs = [int(data.labels[wrong[0]]), int(net(image).argmax())]
maps = net.linearize(image[None], outputs=outputs)
rs.plots.coefficients(maps, shape=(8, 8), columns=[f"output {one}" for one in outputs])

# %%
# Where the answer changes
# ------------------------
# A plane through three images, cut into all of its linear regions. Nothing is sampled: the number is exact, and so
# are the decision boundary and the shares of the classes.

images = data.points[[9, 3, 8]]  # a 3, a 5 and an 8
part = rs.partition(net, rs.Plane(*images, margin=0.25))
print(part)
boundary = rs.decision_boundary(part)
print(f"decision boundary: {len(boundary)} straight pieces, total length {boundary.length:.4f}")
print(rs.planes.area_shares(part, rs.planes.class_areas(part)))

# %%
figure = rs.plots.partition(part, color="class", samples=images, sample_labels=["a 3", "a 5", "an 8"])
figure

# %%
# How far is the class from changing?
# -----------------------------------
# The plane is one of many. The least change of any pixel, in whatever direction, that changes the class of an image
# is a distance in the maximum norm. Within the region of the image it is exact at once; the whole network is searched
# from region to region, and where time is up the number is a lower bound and says so.

budget = rs.Budget(seconds=3)
found = rs.robustness.decision_distance(net, data.points[:2], norm="linf", domain=box, budget=budget)
for row in range(2):
    print(f"image {row}:", found.finding("decision_distance", row))

# %%
# Next
# ----
# ``reluscope analyze`` puts all of this, and more, into a single page: :doc:`/report`. How many regions there are,
# and how many there could be, is the next tutorial: :doc:`count_and_bound`.
