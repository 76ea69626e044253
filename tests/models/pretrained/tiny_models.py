"""Tiny tokenizers and configurations of models that transformers builds."""

import pyarrow.parquet as pq
import torch
import transformers
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import BartConfig, GPT2Config, LEDConfig, LlamaConfig, PegasusConfig, T5Config

from wikisum.ranker.data.shards import split_shards

SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<doc-sep>"]
PAD, BOS, EOS, UNK, SEP = range(5)
ENCODER_DECODERS = ("bart", "t5", "pegasus", "led")
DECODERS = ("gpt2", "llama")
ALL = (*ENCODER_DECODERS, *DECODERS)
BART_LIKE = {
    "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "pad_token_id": PAD,
    "bos_token_id": BOS, "eos_token_id": EOS, "decoder_start_token_id": EOS, "dropout": 0.1,
}  # fmt: skip


def texts_of(data):
    """The texts of the training split."""
    for shard in split_shards(str(data), "train"):
        for row in pq.read_table(str(shard.path)).to_pylist():
            yield from (row["title"], row["lead"], *(p["text"] for p in row["paragraphs"]))


def byte_tokenizer(data):
    """Byte pairs with the special tokens of BART around texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator(texts_of(data), trainer)
    return tokenizer


def unigram_tokenizer(data):
    """SentencePiece's unigrams, as T5 has them."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(texts_of(data), trainer)
    return tokenizer


def framed(tokenizer, template):
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[("<s>", BOS), ("</s>", EOS)]
    )
    return tokenizer


def config_of(kind, size):
    if kind == "t5":
        return T5Config(
            vocab_size=size, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2,
            pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=PAD, dropout_rate=0.1,
        )  # fmt: skip
    if kind == "led":
        return LEDConfig(
            vocab_size=size, **BART_LIKE, attention_window=[8, 8],
            max_encoder_position_embeddings=256, max_decoder_position_embeddings=64,
        )  # fmt: skip
    if kind == "gpt2":
        return GPT2Config(
            vocab_size=size, n_embd=16, n_layer=2, n_head=2, n_positions=320, bos_token_id=EOS,
            eos_token_id=EOS,
        )  # fmt: skip
    if kind == "llama":
        return LlamaConfig(
            vocab_size=size, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=320,
            bos_token_id=BOS, eos_token_id=EOS,
        )  # fmt: skip
    own = PegasusConfig if kind == "pegasus" else BartConfig
    return own(vocab_size=size, **BART_LIKE, max_position_embeddings=256)


TEMPLATES = {
    "bart": "<s> $A </s>", "led": "<s> $A </s>", "t5": "$A </s>", "pegasus": "$A </s>",
    "gpt2": "$A", "llama": "<s> $A",
}  # fmt: skip


def save_tiny(kind, data, folder):
    """Save a tiny model with random weights, far from uniform so that errors show."""
    tokenizer = (unigram_tokenizer if kind in ("t5", "pegasus") else byte_tokenizer)(data)
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=framed(tokenizer, TEMPLATES[kind]), pad_token="<pad>",
        bos_token="<s>", eos_token="</s>", unk_token="<unk>",
    )  # fmt: skip
    wrapped.save_pretrained(folder)
    is_pair = kind in ENCODER_DECODERS
    auto = transformers.AutoModelForSeq2SeqLM if is_pair else transformers.AutoModelForCausalLM
    torch.manual_seed(0)
    network = auto.from_config(config_of(kind, len(wrapped) + 3))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1.0 if kind == "t5" else 4.0)
    network.save_pretrained(folder)
