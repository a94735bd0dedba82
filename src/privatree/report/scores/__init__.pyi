from privatree.report.scores._card import scores_card as scores_card
from privatree.report.scores._section import scores_section as scores_section
