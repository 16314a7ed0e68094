from sandlot.learning.genomes import Genome, flatten


def test_genomes_become_arrays():
    one, other = Genome(1), Genome(2)
    one.nodes, other.nodes = {0: None, 1: None, 9: None, 5: None}, {0: None, 1: None}
    one.connections = {(-1, 9): (1, 0.1), (-4, 0): (2, 0.2), (9, 5): (3, 0.3), (5, 0): (4, 0.4)}
    other.connections = {(-2, 1): (5, 0.5), (1, 1): (6, 0.6)}
    nets = flatten([one, other], 2)
    assert nets.first_node.tolist() == [0, 4, 6]
    assert nets.first_link.tolist() == [0, 2, 2, 3, 4, 4, 6]
    # Inputs are 0 to 3, outputs 4 and 5, then hidden nodes in the order of the genome.
    assert nets.source.tolist() == [3, 7, 0, 6, 1, 5]
    assert nets.weight.tolist() == [0.2, 0.4, 0.1, 0.3, 0.5, 0.6]
