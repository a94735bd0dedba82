from privatree.robustness.attacks._attacks import PAPER_PIXELS as PAPER_PIXELS
