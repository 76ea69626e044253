import torch
from torch import nn

from wikisum.models.hierarchical_decoder.vertical import StepwiseAttention
from wikisum.models.network.settings import LayerSettings


@torch.no_grad()
def test_moved_projections_are_those_of_plain_attention():
    """Keys of each query's own, against torch's attention with one query at a time."""
    torch.manual_seed(0)
    own = StepwiseAttention(LayerSettings(width=16, heads=4)).double()
    theirs = nn.MultiheadAttention(16, 4, batch_first=True).double()
    for part in (own.query, own.key, own.value, own.output):
        nn.init.normal_(part.bias)
    parts = own.query, own.key, own.value
    theirs.in_proj_weight.copy_(torch.cat([p.weight for p in parts]))
    theirs.in_proj_bias.copy_(torch.cat([p.bias for p in parts]))
    theirs.out_proj.load_state_dict(own.output.state_dict())
    x, keys = torch.randn(2, 3, 16).double(), torch.randn(2, 5, 3, 16).double()
    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    found, weights = own.attend_own(x, keys, mask)
    for s in range(3):
        query, mine = x[:, s : s + 1], keys[:, :, s]
        expected, share = theirs(query, mine, mine, key_padding_mask=~mask)
        torch.testing.assert_close(found[:, s : s + 1], expected)
        torch.testing.assert_close(weights[:, :, s].mean(1), share[:, 0])
