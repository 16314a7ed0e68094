"""Fit a NARMAX model to a motor with random voltage, check it, and predict with it.

It prints the model, its validity test, its errors one step ahead and in a free run, and which input matters.
"""

import numpy as np

from sandlot.surrogates import equations
from sandlot.surrogates.narmax import Narmax
from sandlot.surrogates.sensitivity import sobol

rng = np.random.default_rng(0)
voltage, speed, noise = rng.uniform(-2.0, 2.0, (800, 1)), np.zeros(800), 0.02 * rng.normal(size=800)
for k in range(1, 800):  # drag grows with the cube of speed; the noise is correlated over one step
    speed[k] = 0.8 * speed[k - 1] + 0.5 * voltage[k - 1, 0] - 0.1 * speed[k - 1] ** 3 + noise[k] + 0.7 * noise[k - 1]

model = Narmax(3, input_lags=(1, 2), output_lags=(1, 2), noise_lags=(1,), names=("u",))
model.fit(voltage[:600], speed[:600])
print(model)

checks = model.validity(voltage[:600])
print(f"\nCorrelations out of bounds: {100 * checks.attrs['outside']:.1f}%")

ahead = model.predict(voltage[600:], speed[600:])
free = model.free_run(voltage[600:], speed[600 : 600 + model.lag_])
for name, predicted in (("one step ahead", ahead), ("in a free run", free)):
    print(f"Error {name}: {np.sqrt(np.mean((predicted - speed[600:]) ** 2)):.3f}")

print(f"\n{equations.c(model, 'next_speed')}")

places = rng.uniform(-1.0, 1.0, (300, 2))  # without lags: a polynomial of the inputs
static = Narmax(3, names=("x", "y")).fit(places, 2.0 + places[:, 0] - places[:, 0] * places[:, 1] ** 2)
print(sobol(static.predict, [(-1.0, 1.0), (-1.0, 1.0)], static.names)[["first", "total"]].to_dataframe().round(2) + 0.0)
