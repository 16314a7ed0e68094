from sandlot.learning.individuals import Fitness, Individual


def test_a_fitness_may_have_several_objectives():
    assert not Fitness().valid
    assert Fitness((1.0, -2.0, 3.0)).values == (1.0, -2.0, 3.0)
    assert Fitness((1.0, 2.0)).dominates(Fitness((1.0, 1.0)))


def test_an_individual_without_fitness_is_not_valid():
    one, other = Individual([1.0, 2.0]), Individual([1.0, 2.0])
    one.fitness.values = (3.0,)
    assert one.fitness.valid
    assert not other.fitness.valid
    del one.fitness.values
    assert not one.fitness.valid
