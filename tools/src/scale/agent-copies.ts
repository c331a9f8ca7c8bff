import type { NewTunnelClientView } from '@gatehouse/contracts';
import { AgentProcess } from '../tour/agent-process.js';
import { GRACE_MS } from './environments.js';

const COPIES = 2;
const OPTIONS = ['--replica', '--grace-seconds', String(GRACE_MS / 1_000)];

export interface ServedClient extends Pick<NewTunnelClientView, 'command' | 'key'> {
  /** A folder that its tunnels may share. */
  folder: string;
}

/** Two agents that serve one client together. */
export class AgentCopies {
  private readonly copies: AgentProcess[];

  constructor(
    private readonly client: ServedClient,
    root: string,
  ) {
    this.copies = Array.from({ length: COPIES }, () => this.spawn(root));
  }

  get indexes(): number[] {
    return [...this.copies.keys()];
  }

  /** Ends one of them as an orchestrator does; its exit code. */
  async end(index: number): Promise<number | null> {
    return (await this.copies[index]?.stop(GRACE_MS + 10_000)) ?? null;
  }

  /** Ends one of them at once. */
  async kill(index: number): Promise<void> {
    await this.copies[index]?.kill();
  }

  /** Starts it again, from a build. */
  start(index: number, root: string): void {
    this.copies[index] = this.spawn(root);
  }

  requireRunning(): void {
    for (const copy of this.copies) copy.requireRunning();
  }

  async stop(): Promise<void> {
    await Promise.all(this.copies.map((copy) => copy.stop()));
  }

  private spawn(root: string): AgentProcess {
    return AgentProcess.start(this.client, [...OPTIONS, '--allow-file-root', this.client.folder], root);
  }
}
