"""Count and bound
===============

How many linear regions does a network have? Small ones are counted, with proof; for all others there are bounds, and
each number says which of the two it is.
"""

import numpy as np

import reluscope as rs

net = rs.load(rs.testing.default_network([2, 16, 16, 1], seed=0))
square, plane = rs.Box(-1, 1, 2), rs.Space(2)
print("on the square:", rs.count(net, square))
print("on the whole plane:", rs.count(net, plane))

# %%
# EXACT means equal to the truth at a resolution that is stated with it. A finding knows more than its number:

rs.count(net, plane)

# %%
# With a proof
# ------------
# ``certify=True`` leaves no resolution: every sign is decided in rational arithmetic, and the result comes with a
# certificate, all regions with their exact vertices. A checker that shares no code with the engine proves from it
# that these are all regions. :doc:`/claims` says why it is worth reading.

part = rs.certify(rs.partition(net, square))
print("found:", part.finding())
print("proved:", rs.testing.check_certificate(part.certificate, net, square))

# %%
# How many could there be?
# ------------------------
# Upper bounds hold for all weights of an architecture. Lower bounds say how many regions *some* weights make, which are
# given in the papers; weights as training starts with stay far below.

print("upper:", rs.bounds.upper(net))
print("reached by some weights:", rs.bounds.lower(net))
print("here:", rs.count(net, plane))

# %%
# The whole table; bounds whose conditions are not met say why.

for row in rs.bounds.table(net):
    print(f"{row.name:18}", row.reason if row.finding is None else row.finding)

# %%
# What counts as one region
# -------------------------
# There are six published definitions. On a generic network all six are one number; here a unit is there twice and
# another is dead, and they part. :doc:`/counting` says what they mean.

weight = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
degenerate = rs.load([(weight, np.array([0.0, 0.0, 0.1, -1.0])), (np.array([[1.0, -1.0, 1.0, 1.0]]), np.zeros(1))])
for definition in rs.counting.DEFINITIONS:
    print(f"{definition:20}", rs.count(degenerate, square, definition=definition))

# %%
# When it is too much
# -------------------
# A budget ends the work. What was found by then is a lower bound; random probes give an estimate of the whole in a
# second.

large = rs.load(rs.testing.default_network([6, 12, 12, 1], seed=0))
box = rs.Box(-1, 1, 6)
print("2,000 regions at most:", rs.count(large, box, budget=rs.Budget(regions=2_000)))
print("probes:", rs.count(large, box, method="probes", budget=rs.Budget(seconds=1)))
print("all of them:", rs.count(large, box))

# %%
# How the number grows
# --------------------
# Counted on random networks of growing width, between bounds that are known beforehand.

widths = [2, 4, 8, 16, 24]
networks = [rs.load(rs.testing.default_network([2, width, width, 1], seed=0)) for width in widths]
counts = [int(rs.count(one, plane)) for one in networks]
lines = {"upper bound": [int(rs.bounds.upper(one)) for one in networks], "counted": counts}

axes = rs.plots.style.canvas(None, (6.0, 3.8))
for index, (name, numbers) in enumerate(lines.items()):
    style = {"color": rs.plots.style.category(index), "linestyle": rs.plots.style.dashes(index)}
    axes.plot(widths, numbers, marker="os"[index], label=name, **style)
axes.set(xlabel="units in each of two layers", ylabel="linear regions of the plane", yscale="log")
axes.legend(frameon=False)
rs.plots.style.bare(axes, "top", "right")
axes.figure
