import torch
from torch import nn

from wikisum.models.bench import parameter_count
from wikisum.models.hierarchical_decoder.parallel import AttentionPooling, ParallelSettings

KINDS = ("pht", "vht")


def test_dropout_is_on_sublayers_alone(make_source):
    settings = ParallelSettings(
        vocab_size=50, width=16, feedforward=32, heads=4, dropout=0.5, feedforward_dropout=False
    )
    pooling = AttentionPooling(settings)
    nn.init.normal_(pooling.score)
    assert pooling.feedforward[2].p == 0
    given = torch.randn(13, 16), make_source([5, 3, 1], [4])
    assert not torch.equal(pooling(*given), pooling(*given))
    pooling.eval()
    assert torch.equal(pooling(*given), pooling(*given))


def test_parallel_attention_has_two_layers_of_pooling_more(make_model):
    """PHT has the pooling and a paragraph attention of the same size as VHT's."""
    one, other = (make_model(kind) for kind in KINDS)
    pooling = one.encoder.pooling
    assert parameter_count(one) - parameter_count(other) == parameter_count(pooling)
