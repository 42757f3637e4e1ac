"""Units that are always or never active
========================================

Which units change their piece on the data, which are always on, and which never are.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
sampled = rs.codespace.sample_codes(net, data.points)

figure = rs.plots.unit_usage(rs.codespace.unit_usage(net, sampled))
figure
