import { ROOT } from '../../bootstrap/layout.mjs';
import { SERVICES } from '../supervisor/service-list.js';
import { nestProjectFolder } from './nest-projects.js';
import { compiledAt, projectsBehind } from './project-references.js';

export interface RestartOnChangeOptions {
  /** Rejects when the service does not start. */
  restart: (service: string) => Promise<void>;
  notify: (line: string) => void;
  root?: string;
}

/** Restarts the services whose compiled code is newer than at the last look, one look at a time. */
export class RestartOnChange {
  private readonly options: RestartOnChangeOptions;
  private readonly root: string;
  private readonly projects: ReadonlyMap<string, ReadonlySet<string>>;
  private seen: Map<string, number>;
  private looking: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(options: RestartOnChangeOptions) {
    this.options = options;
    this.root = options.root ?? ROOT;
    this.projects = new Map(
      SERVICES.map(({ name }) => [name, projectsBehind(nestProjectFolder(name, this.root), this.root)]),
    );
    this.seen = this.compiled();
  }

  /** Resolves when the services that changed are up again, or have failed. Never rejects. */
  look(): Promise<void> {
    this.looking = this.looking.then(() => this.restartChanged());
    return this.looking;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.looking;
  }

  private async restartChanged(): Promise<void> {
    if (this.stopped) return;
    const now = this.compiled();
    const changed = new Set(
      [...now].filter(([project, at]) => at !== this.seen.get(project)).map(([project]) => project),
    );
    this.seen = now;
    const services = [...this.projects]
      .filter(([, projects]) => [...changed].some((project) => projects.has(project)))
      .map(([name]) => name);
    await Promise.all(services.map((name) => this.restart(name)));
  }

  private async restart(name: string): Promise<void> {
    const started = performance.now();
    try {
      await this.options.restart(name);
      this.options.notify(`[${name}] restarted in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    } catch (error) {
      const { message, tail = [] } = error as Error & { tail?: string[] };
      [message, ...tail, `${name} is down until its code is compiled again.`].forEach((line) =>
        this.options.notify(line),
      );
    }
  }

  private compiled(): Map<string, number> {
    return compiledAt(new Set([...this.projects.values()].flatMap((projects) => [...projects])), this.root);
  }
}
