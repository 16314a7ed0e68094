"""Choose lags, degree and number of terms of a model by its free run on episodes that it was not fitted to."""

import numpy as np
import pandas as pd
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold

from sandlot.surrogates.narmax import Narmax

rng = np.random.default_rng(0)
episode = np.repeat(np.arange(6), 150)  # six drives of 150 samples, each from a speed of its own
table = pd.DataFrame({"u": rng.uniform(-2.0, 2.0, 900), "t": rng.normal(293.0, 2.0, 900)})  # voltage, temperature [K]
voltage, warmth = table["u"].to_numpy(), table["t"].to_numpy() - 293.0
speed = rng.uniform(-3.0, 3.0, 900)
for k in range(2, 900):
    if episode[k] == episode[k - 2]:
        drive = voltage[k - 1] - 0.1 * voltage[k - 1] * warmth[k - 1]  # a warm motor is weaker
        speed[k] = 0.9 * speed[k - 1] - 0.2 * speed[k - 2] + 0.5 * drive + 0.02 * rng.normal()

grid = {
    "degree": [1, 2, 3],
    "input_lags": [(1,), {"u": (1,)}, {"u": (1, 2), "t": (1,)}],
    "output_lags": [(1,), (1, 2)],
    "n_terms": [3, 4, "bic"],
}
with sklearn.config_context(enable_metadata_routing=True):
    model = Narmax(steps_ahead=None).set_fit_request(segments=True).set_score_request(segments=True)
    search = GridSearchCV(model, grid, cv=GroupKFold(3)).fit(table, speed, segments=episode, groups=episode)

print(f"R squared of free runs: {search.best_score_:.3f}")
print(search.best_params_)
print(search.best_estimator_)
