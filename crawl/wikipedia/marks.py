"""Control characters that stand in a text while its markup is taken apart.

XML forbids them, so no dump contains them. `clean` resolves them.
"""

SPLIT = "\x02"  # ends a paragraph
ITEM = "\x03"  # begins a list item or an indented line, which ends with its source line
HOLE = "\x04"  # a template or file that shows no text stood here
APOSTROPHE = "\x05"  # a literal apostrophe, which is never a mark of italics or bold
NOTHING = "\x06"  # an empty <nowiki/>, which separates apostrophes
