"""Exact distances to the decision boundary
=========================================

Jordan, Lewis and Dimakis, "Provable certificates for adversarial examples: fitting a ball in the union of polytopes"
(GeoCert), 2019, and Croce, Andriushchenko and Hein, "Provable robustness of ReLU networks via maximization of linear
regions" (MMR), 2019: the distance to the decision boundary is found region by region; training enlarges it and the
distance to the boundary of the region, where a unit changes. Here: both distances of 30 digits, exact; at the median
the class changes 7.7 times as far away.
"""

import torch
from matplotlib.figure import Figure

import reluscope as rs

data = rs.datasets.digits("train")
x, y = torch.tensor(data.points.reshape(len(data), -1)).double(), torch.tensor(data.labels)
torch.manual_seed(0)
relu, linear = torch.nn.ReLU(), torch.nn.Linear
model = torch.nn.Sequential(linear(64, 12), relu, linear(12, 12), relu, linear(12, 10)).double()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-4)
for _ in range(300):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
net = rs.load(model, input_shape=(64,))
units = rs.robustness.boundary_distance(net, x[:30], norm="l2")["boundary_distance"]
classes = rs.robustness.decision_distance(net, x[:30], norm="l2")["decision_distance"]
assert classes.is_exact.all()

figure = Figure(figsize=(5, 4.6), layout="constrained")
axes = figure.add_subplot()
axes.loglog(units.value, classes.value, "o")
axes.axline((0.1, 0.1), (1, 1), color="gray", linestyle=":")
axes.set(xlabel="distance to the closest change of a unit", ylabel="distance to the decision boundary")
figure
