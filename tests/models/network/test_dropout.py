import pytest
import torch

from wikisum.models.network.dropout import Dropout


def test_drops_its_share_and_keeps_the_mean():
    torch.manual_seed(0)
    x = torch.ones(1_000, 333, requires_grad=True)
    y = Dropout(0.3)(x)
    assert (y == 0).float().mean().item() == pytest.approx(0.3, abs=0.003)
    assert y.unique().tolist() == [0, pytest.approx(1 / 0.7, rel=1e-4)]
    assert y.mean().item() == pytest.approx(1, abs=0.005)
    y.sum().backward()
    assert torch.equal(x.grad, y)


def test_draws_alike_for_all_places():
    torch.manual_seed(0)
    draws = torch.stack([Dropout(0.5)(torch.ones(5, 3)) == 0 for _ in range(4_000)])
    assert draws.float().mean(0).sub(0.5).abs().max() < 0.04
    both = (draws[:, 0, 0] & draws[:, 0, 1]).float().mean().item()
    assert both == pytest.approx(0.25, abs=0.03)


def test_the_seed_decides():
    x = torch.ones(7, 9)

    def drawn(seed):
        torch.manual_seed(seed)
        return Dropout(0.5)(x)

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_does_nothing_where_there_is_nothing_to_do(share):
    x = torch.randn(4, 5)
    layer = Dropout(share)
    if share:
        layer.eval()
    assert layer(x) is x


def test_keeps_half_precision():
    assert Dropout(0.1)(torch.ones(3, dtype=torch.bfloat16)).dtype == torch.bfloat16
