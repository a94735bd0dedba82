from privatree.sources.csv._csv_file import CsvFile as CsvFile
from privatree.sources.csv._csv_file import csv_reading_assumptions as csv_reading_assumptions
from privatree.sources.csv._csv_file import open_csv as open_csv
from privatree.sources.csv._in_memory_files import STANDARD_INPUT as STANDARD_INPUT
from privatree.sources.csv._in_memory_files import ExcelFile as ExcelFile
from privatree.sources.csv._in_memory_files import StandardInput as StandardInput
from privatree.sources.csv._rows import is_utf8 as is_utf8
from privatree.sources.csv._utf8_stream import open_utf8_stream as open_utf8_stream
