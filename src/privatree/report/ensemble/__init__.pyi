from privatree.report.ensemble._ensemble_card import ensemble_card as ensemble_card
from privatree.report.ensemble._ensemble_page import ensemble_page as ensemble_page
