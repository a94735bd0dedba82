from privatree.report.tree._tree_card import tree_card as tree_card
from privatree.report.tree._tree_page import tree_page as tree_page
