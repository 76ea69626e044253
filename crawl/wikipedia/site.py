"""What differs between the wikis: language, namespaces, page kinds.

A dump names its namespaces in its `siteinfo`. Dumps that were cut or rebuilt often lack them or
carry those of another wiki, so the names of the larger wikis are known here as well. Namespaces,
numbers and the common templates of the English, German, French, Japanese and Russian Wikipedias
were checked on articles of theirs; for the other languages the names come from MediaWiki's
documentation and were not checked on articles.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

_HIDDEN_KEYS = (-2, -1, 6, 8, 10, 14, 100, 828)
_CATEGORY_KEY = 14
_FILE_NAMES = (
    "file; image; media; datei; bild; medium; fichier; média; archivo; imagen; medio; immagine; "
    "ficheiro; imagem; arquivo; bestand; afbeelding; plik; grafika; файл; изображение; медиа; "
    "зображення; выява; ファイル; 画像; メディア; 文件; 檔案; 档案; 图像; 圖像; 媒体; 파일; "
    "그림; 미디어; ملف; صورة; ميديا; קובץ; תמונה; מדיה; پرونده; تصویر; fil; bilde; billede; "
    "tiedosto; kuva; soubor; obrázek; súbor; obrázok; fájl; kép; fișier; fişier; imagine; dosya; "
    "resim; αρχείο; εικόνα; картинка; датотека; слика; datoteka; slika; pilt; attēls; vaizdas; "
    "fitxer; imatge; fitxategi; irudi; imaxe; dosiero; berkas; gambar; fail; imej; hình; ไฟล์; "
    "ภาพ; चित्र; চিত্র; படிமம்; ფაილი; სურათი; պատկեր; şəkil; fayl; сурет; tập tin"
)
_CATEGORY_NAMES = (
    "category; kategorie; catégorie; categoría; categoria; categorie; kategoria; категория; "
    "категорія; катэгорыя; カテゴリ; 分类; 分類; 분류; تصنيف; קטגוריה; رده; kategori; luokka; "
    "kategória; kategori̇; κατηγορία; категорија; kategorija; kategooria; kategorio; หมวดหมู่; "
    "श्रेणी; বিষয়শ্রেণী; பகுப்பு; კატეგორია; կատեգորիա; kateqoriya; санат; thể loại"
)
_OTHER_NAMES = "special; mediawiki; template; module; portal"
_FILES = _FILE_NAMES.split("; ")
_CATEGORIES = _CATEGORY_NAMES.split("; ")


class Site(NamedTuple):
    """The language code of a wiki and its namespaces in lower case.

    Links into `hidden` namespaces show no text; those into `categories` name a category.
    """

    language: str
    hidden: tuple[str, ...]
    categories: tuple[str, ...]


def site_of(language: str, namespaces: Mapping[int, str] | None = None) -> Site:
    """Return the site of a dump by the language and the namespaces that its head declares."""
    names = {key: name.lower().replace("_", " ") for key, name in (namespaces or {}).items()}
    hidden = {*_FILES, *_CATEGORIES, *_OTHER_NAMES.split("; ")}
    hidden |= {names[key] for key in _HIDDEN_KEYS if names.get(key)}
    categories = {*_CATEGORIES, *filter(None, [names.get(_CATEGORY_KEY, "")])}
    return Site(language, tuple(sorted(hidden)), tuple(sorted(categories)))


ENGLISH = site_of("en")
FILE_PATTERN = "|".join(map(re.escape, sorted({*_FILES, *_CATEGORIES})))


@lru_cache(maxsize=8)
def hidden_link(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of link targets in one of these namespaces; group 1 is the rest."""
    return re.compile(rf":?\s*(?:{'|'.join(map(re.escape, names))})\s*:\s*(.*)", re.I | re.S)
