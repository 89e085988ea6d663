"""One call that tells whether two samples of numbers come from the same distribution."""

import numpy as np

from btests import btest

rng = np.random.default_rng(0)
x = rng.normal(size=(2000, 3))  # rows are observations, columns are coordinates
y = rng.normal(size=(2000, 3))
correlated = y @ np.linalg.cholesky([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]]).T

print("The same distribution:")
print(btest(x, y, seed=1))

# Each column on its own has the same law as before: only a test of the joint distribution can see this.
print("\nThe same columns, but two of them correlated:")
result = btest(x, correlated, seed=1)
print(result)

low, high = result.confidence_interval()
print(f"\nreject at 0.01: {result.rejects(0.01)}, MMD^2 between {low:.4f} and {high:.4f}")
