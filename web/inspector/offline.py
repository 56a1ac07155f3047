"""Writes the single file: the page with script and style in it, and a policy that permits exactly these.

Usage: offline.py INDEX SCRIPT STYLE
"""
import base64
import hashlib
import re
import sys

NAVREC = '<script type="application/octet-stream" id="navrec"></script>'


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def permitted(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def replaced(page, pattern, text):
    """The page with the one place that the pattern describes replaced."""
    page, count = re.subn(pattern, lambda _: text, page)
    if count != 1:
        sys.exit(f"offline.py: {count} places like {pattern} in the page")
    return page


def main():
    page, script, style = map(read, sys.argv[1:])
    script, style = script.strip(), style.strip()
    # The parser would end the element there, or begin a comment.
    if re.search(r"</script|<script|<!--", script, re.I) or re.search(r"</style|@import|url\((?!\"?data:)", style, re.I):
        sys.exit("offline.py: the script or the style cannot stand in a page")
    policy = "; ".join((
        "default-src 'none'", f"script-src {permitted(script)}", f"style-src {permitted(style)}", "img-src data:", "connect-src 'none'",
        "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"))
    meta = f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">'
    page = replaced(page, r'<meta charset="utf-8">', meta)
    page = replaced(page, r'<link rel="stylesheet"[^>]*>', f"<style>{style}</style>")
    page = replaced(page, r'<script src="inspector\.js"[^>]*></script>\n?', "")
    page = replaced(page, r"</body>", f"{NAVREC}\n<script>{script}</script>\n</body>")
    if page.count(NAVREC) != 1:
        sys.exit("offline.py: the page has another element for the recording")
    sys.stdout.write(page)


main()
