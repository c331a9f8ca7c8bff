import { describe, expect, it } from 'vitest';
import { AgentResources } from './agent-resources.js';
import type { AgentTunnel } from '../wire/messages.js';

const wanted = (destination: string) => ({ kind: 'tunnel', id: 7, target: null, destination }) as const;

function tunnel(count: number): AgentTunnel {
  return {
    id: 7,
    mode: 'tcp_range',
    entrance: '',
    targets: [{ host: 'a', port: 80, weight: 1 }],
    proxyProtocol: 0,
    destinations: [],
    file: null,
    ports: { first: 6000, count },
  };
}

describe('a visitor who comes before the configuration', () => {
  it('waits for a port that the range does not have yet', async () => {
    const resources = new AgentResources(() => 0);
    resources.configure({ tunnels: [tunnel(2)], hosts: [] });
    expect(resources.arrival(wanted('6001'))).toBeNull();
    const arrival = resources.arrival(wanted('6002'));
    expect(arrival).not.toBeNull();
    resources.configure({ tunnels: [tunnel(3)], hosts: [] });
    await arrival;
    expect(resources.tunnel(7)?.targets.at('6002')?.order()).toMatchObject([{ port: 82 }]);
  });
});
