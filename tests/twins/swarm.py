"""The swarm, object by object."""

from collections import deque

import numpy as np

from twins.randomness import Stream

MOVES = [(0, 0), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]


class TwinAgent:
    def __init__(self, record):
        self.x, self.y = int(record["x"]), int(record["y"])
        self.carrying = False
        self.memory = deque(maxlen=8)
        self.stream = Stream(record["stream"])
        self.height = self.average = None


class TwinSwarm:
    """Starts from a `Swarm`, and steps by itself."""

    def __init__(self, swarm):
        self.heights = np.array(swarm.heights, int)
        self.agents = [TwinAgent(record) for record in swarm.agents]
        self.moved = 0

    def sense(self, agent, sensing):
        agent.height = self.heights[agent.y, agent.x]
        if agent.stream.uniform() < sensing:
            agent.memory.append(agent.height)
        agent.average = np.mean(agent.memory) if agent.memory else float(agent.height)

    def sense_all(self, sensing):
        for agent in self.agents:
            self.sense(agent, sensing)

    def step(self, hands, moves, sensing):
        for agent, hand, move in zip(self.agents, hands, moves, strict=True):
            here = self.heights[agent.y, agent.x]
            if hand == 1 and not agent.carrying and here > 0:
                self.heights[agent.y, agent.x] -= 1
                agent.carrying = True
            elif hand == 2 and agent.carrying and here < 4095:
                self.heights[agent.y, agent.x] += 1
                agent.carrying = False
                self.moved += 1
            dx, dy = MOVES[move]
            to = (agent.x + dx, agent.y + dy)
            inside = 0 <= to[0] < self.heights.shape[1] and 0 <= to[1] < self.heights.shape[0]
            if inside and to not in [(other.x, other.y) for other in self.agents]:
                agent.x, agent.y = to
            self.sense(agent, sensing)

    def steep(self, slope):
        gx = np.diff(self.heights, axis=1, append=self.heights[:, -1:])
        gy = np.diff(self.heights, axis=0, append=self.heights[-1:, :])
        return int((np.hypot(gx, gy) > slope + 1e-12).sum())
