"""The leveling rules, written from Algorithms 1 to 4."""

from twins.randomness import Stream

NOTHING, PICK_UP, PUT_DOWN = 0, 1, 2


def draw(stream):
    """A valid chromosome: draw genes one by one, start over as soon as it cannot become valid."""
    while True:
        genes = []
        while len(genes) < 20:
            genes.append(stream.below(10))
            ups, downs = genes.count(8), genes.count(9)
            if downs > ups or (genes[-1] == 8 and downs):
                break
        if len(genes) == 20 and genes.count(8) == genes.count(9) and 9 not in genes[: last(genes, 8)]:
            return genes


def last(genes, action):
    return len(genes) - genes[::-1].index(action) if action in genes else 0


def fitness(genes, changes, executions):
    attempts = executions * (genes.count(8) + genes.count(9))
    return changes / attempts if attempts else 0.0


class TwinRule:
    def __init__(self, rule, streams):
        self.rule = rule
        self.streams = [Stream(state) for state in streams]
        self.headings, self.pools, self.taken = [], [], [0] * len(self.streams)
        for stream in self.streams:
            self.headings.append(1 + stream.below(8))
            self.pools.append([draw(stream) for _ in range({"probabilistic": 0, "memetic": 1, "pool": 5}[rule.kind])])
        self.scores = [[0] * len(pool) for pool in self.pools]
        self.actions = 0

    def decide(self, agents):
        if self.rule.kind == "probabilistic":
            return [self.by_chance(i, agent) for i, agent in enumerate(agents)]
        if self.actions and self.actions % 100 == 0:
            self.judge()
        chromosome = (self.actions // 20) % len(self.pools[0])
        wanted = [self.by_gene(i, agent, chromosome, self.actions % 20) for i, agent in enumerate(agents)]
        self.actions += 1
        return wanted

    def by_chance(self, i, agent):
        stream, h, k = self.streams[i], float(agent.height), self.rule.steepness
        pick_up, put_down = self.rule.pick_up, self.rule.put_down
        if k > 0:
            pick_up, put_down = (h / (k + h)) ** 2, (k / (k + h)) ** 2
        hand = NOTHING
        if not agent.carrying and h > agent.average and stream.uniform() < pick_up:
            hand = PICK_UP
        elif agent.carrying and h < agent.average and stream.uniform() < put_down:
            hand = PUT_DOWN
        if stream.uniform() < 0.75:
            self.headings[i] = 1 + stream.below(8)
        return hand, self.headings[i]

    def by_gene(self, i, agent, chromosome, position):
        gene = self.pools[i][chromosome][position]
        if gene == 8:
            if agent.carrying or not agent.height > agent.average:
                return NOTHING, 0
            self.taken[i] = agent.height - 1
            self.scores[i][chromosome] += 1
            return PICK_UP, 0
        if gene == 9:
            if not agent.carrying or not agent.height < agent.average:
                return NOTHING, 0
            if abs(agent.height + 1 - self.taken[i]) > 1:
                self.scores[i][chromosome] += 1
            return PUT_DOWN, 0
        return NOTHING, 1 + gene

    def judge(self):
        if self.rule.kind == "memetic":
            values = [fitness(pool[0], score[0], 5) for pool, score in zip(self.pools, self.scores, strict=True)]
            best = values.index(max(values))
            for i, stream in enumerate(self.streams):
                if i != best:
                    self.pools[i][0] = draw(stream)
        else:
            for pool, scores, stream in zip(self.pools, self.scores, self.streams, strict=True):
                for c, genes in enumerate(pool):
                    if fitness(genes, scores[c], 1) < 1.0:
                        pool[c] = draw(stream)
        self.scores = [[0] * len(pool) for pool in self.pools]
