"""Make ``patients.csv``: 2,000 discharges from a hospital that does not exist.

Was the patient back within 30 days? What drives it here is what a ward would expect: earlier
admissions, an emergency, age together with a long stay, and going home without care. The laboratory
value is missing where nobody took it, two ages are slips of the keyboard, and the number of the
patient says nothing and must not be in a schema.

    python examples/make_patients.py patients.csv
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

N = 2000
SEED = 7


def patients() -> pd.DataFrame:
    """Draw the table, the same one each time."""
    rng = np.random.default_rng(SEED)
    age = np.clip(np.round(rng.normal(64, 17, N)), 18, 101).astype(int)
    emergency = rng.random(N) < np.clip(0.25 + 0.006 * (age - 40), 0.2, 0.7)
    ward = np.where(
        emergency,
        rng.choice(["internal", "cardiology", "surgery"], N, p=[0.55, 0.25, 0.2]),
        rng.choice(["surgery", "orthopaedics", "cardiology"], N, p=[0.5, 0.35, 0.15]),
    )
    days = 1 + rng.poisson(2 + 3 * emergency + 0.04 * np.maximum(age - 60, 0))
    earlier = rng.poisson(0.4 + 0.8 * emergency)
    haemoglobin = np.round(rng.normal(13.2 - 1.4 * emergency, 1.6), 1)
    care = (age > 75) & (rng.random(N) < 0.6)
    discharged_to = np.where(care, rng.choice(["home with care", "nursing home"], N), "home")

    risk = np.full(N, -2.6)
    risk += 2.9 * (earlier >= 2) + 1.5 * emergency
    risk += 2.0 * ((age > 75) & (days > 7)) + 0.9 * (haemoglobin < 10.5)
    risk -= 1.2 * care
    readmitted = rng.random(N) < 1 / (1 + np.exp(-risk))

    table = pd.DataFrame(
        {
            "patient": rng.permutation(N) + 10_000,
            "age": age,
            "sex": rng.choice(["female", "male"], N),
            "admission": np.where(emergency, "emergency", "planned"),
            "ward": ward,
            "days": days,
            "earlier_admissions": earlier,
            "haemoglobin": haemoglobin,
            "discharged_to": discharged_to,
            "readmitted": np.where(readmitted, "yes", "no"),
        }
    )
    table.loc[rng.random(N) < 0.12, "haemoglobin"] = np.nan
    table.loc[rng.random(N) < 0.02, "discharged_to"] = None
    table.loc[rng.choice(N, 2, replace=False), "age"] = 199
    return table


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("patients.csv")
    patients().to_csv(path, index=False)
