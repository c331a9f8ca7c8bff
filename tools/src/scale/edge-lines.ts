import { Carrier } from '../replicas/carrier.js';
import type { Places } from './places.js';

/** A network that can be down: nothing is carried, and nobody hears of it. */
interface Line {
  freeze(): void;
  thaw(): void;
}

/** The lines of an edge that can be cut: to its database, and to its agents. Visitors and other edges come another way. */
export class EdgeLines implements AsyncDisposable {
  private readonly carriers: Carrier[] = [];

  private constructor(private readonly direct: string) {}

  static async start(places: Places, index: number, databaseUrl: string): Promise<EdgeLines> {
    const lines = new EdgeLines(databaseUrl);
    const { hostname: host, port } = new URL(databaseUrl);
    const edge = places.address('edge', index);
    const { agents, agentWays } = places.ports;
    lines.carriers.push(
      await Carrier.start({ host, port: Number(port) }),
      // By haproxy, and as the edge names itself to agents.
      await Carrier.start({ host: edge, port: agents }, undefined, { host: edge, port: agentWays }),
      await Carrier.start({ host: edge, port: agents }, undefined, { host: places.agentWay(index), port: agents }),
    );
    return lines;
  }

  get databaseUrl(): string {
    const url = new URL(this.direct);
    url.hostname = '127.0.0.1';
    url.port = String(this.carriers[0]?.port);
    return url.href;
  }

  get database(): Line {
    return together(this.carriers.slice(0, 1));
  }

  get agents(): Line {
    return together(this.carriers.slice(1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.carriers.map((carrier) => carrier[Symbol.asyncDispose]()));
  }
}

const together = (carriers: readonly Carrier[]): Line => ({
  freeze: () => carriers.forEach((carrier) => carrier.freeze()),
  thaw: () => carriers.forEach((carrier) => carrier.thaw()),
});
