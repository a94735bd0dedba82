from privatree.audit.pairs._all_pairs import chosen_pairs as chosen_pairs
from privatree.audit.pairs._file_readers import SOURCE_READERS as SOURCE_READERS
from privatree.audit.pairs._file_readers import chosen_reader as chosen_reader
