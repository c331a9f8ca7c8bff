import type { NewTunnelClientView } from '@gatehouse/contracts';
import { AgentProcess } from '../tour/agent-process.js';
import { GRACE_MS } from './environments.js';

const COPIES = 2;
const OPTIONS = ['--replica', '--grace-seconds', String(GRACE_MS / 1_000)];

/** Two agents that serve one client together. */
export class AgentCopies {
  private readonly copies: AgentProcess[];

  constructor(
    private readonly client: Pick<NewTunnelClientView, 'command' | 'key'>,
    root: string,
  ) {
    this.copies = Array.from({ length: COPIES }, () => AgentProcess.start(client, OPTIONS, root));
  }

  get indexes(): number[] {
    return [...this.copies.keys()];
  }

  /** Ends one of them as an orchestrator does; its exit code. */
  async end(index: number): Promise<number | null> {
    return (await this.copies[index]?.stop(GRACE_MS + 10_000)) ?? null;
  }

  /** Starts it again, from a build. */
  start(index: number, root: string): void {
    this.copies[index] = AgentProcess.start(this.client, OPTIONS, root);
  }

  requireRunning(): void {
    for (const copy of this.copies) copy.requireRunning();
  }

  async stop(): Promise<void> {
    await Promise.all(this.copies.map((copy) => copy.stop()));
  }
}
