import { describe, expect, it } from 'vitest';
import { AgentArrivals } from './agent-arrivals.js';

describe('agents that are expected', () => {
  it('are waited for once, until they arrive', async () => {
    const arrivals = new AgentArrivals(Date.now, 60_000);
    expect(arrivals.expects(1)).toBe(false);
    arrivals.begin();
    expect(arrivals.expects(1)).toBe(true);
    const [one, two] = [arrivals.wait(1), arrivals.wait(1)];
    arrivals.arrived(2);
    arrivals.arrived(1);
    await Promise.all([one, two]);
    expect(arrivals.expects(1)).toBe(false);
    expect(arrivals.expects(3)).toBe(true);
    // An agent that was here and left is not expected.
    await arrivals.wait(1);
  });

  it('are not waited for after the deadline', async () => {
    const arrivals = new AgentArrivals(Date.now, 20);
    arrivals.begin();
    await arrivals.wait(1);
    expect(arrivals.expects(1)).toBe(false);
  });
});
