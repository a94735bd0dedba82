from privatree.sources.csv._files import CsvFile as CsvFile
from privatree.sources.csv._files import open_csv as open_csv
from privatree.sources.csv._files import reading_assumptions as reading_assumptions
from privatree.sources.csv._held_files import STANDARD_INPUT as STANDARD_INPUT
from privatree.sources.csv._held_files import ExcelFile as ExcelFile
from privatree.sources.csv._held_files import StandardInput as StandardInput
from privatree.sources.csv._raw_files import opened_text as opened_text
from privatree.sources.csv._rows import is_utf8 as is_utf8
