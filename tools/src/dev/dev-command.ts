import { join } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { Platform, StartedPlatform } from '../supervisor/platform.js';
import { SERVICES, type ServiceEntry } from '../supervisor/service-list.js';
import { runPlatform, say, type Companion } from '../supervisor/up-command.js';
import { table } from '../table.js';
import { CompilerWatch } from './compiler-watch.js';
import { serveConsoles, type ConsoleServer } from './console-servers.js';
import { RestartOnChange } from './restart-on-change.js';

/** The debugger's port of the first service; each has the next one. */
const FIRST_DEBUG_PORT = 9230;

function debugPort(entry: ServiceEntry): number {
  return FIRST_DEBUG_PORT + SERVICES.indexOf(entry);
}

/** Opens the debugger of the service and of none of the processes that it starts. */
function debuggerFlags(entry: ServiceEntry): string[] {
  const module = new URL('./open-inspector.js', import.meta.url);
  module.searchParams.set('main', join(ROOT, entry.main));
  module.searchParams.set('port', String(debugPort(entry)));
  return ['--enable-source-maps', '--import', module.href];
}

/** What a developer has beside the platform: the compiler, restarts, and the consoles from their sources. */
class DevelopmentTools implements Companion {
  private consoles: ConsoleServer[] = [];
  private readonly compiler: CompilerWatch;
  private readonly restarts: RestartOnChange;

  constructor(platform: Platform) {
    this.restarts = new RestartOnChange({ restart: (name) => platform.restart(name), notify: say });
    this.compiler = new CompilerWatch({ folder: ROOT, notify: say, onCompiled: () => void this.restarts.look() });
  }

  async start({ services }: StartedPlatform): Promise<void> {
    this.consoles = await serveConsoles(services);
    this.compiler.start();
    const [proxy, tunnel] = this.consoles;
    const rows = [
      ['while you edit', 'address', 'what'],
      ['proxy console', proxy?.url ?? '', 'from its sources; changes show at once'],
      ['tunnel console', tunnel?.url ?? '', ''],
      ...SERVICES.map((entry) => [
        entry.name,
        `127.0.0.1:${debugPort(entry)}`,
        'debugger (chrome://inspect, or your editor)',
      ]),
    ];
    process.stdout.write(`${table(rows)}\n\nA service restarts when what it is made of has been compiled.\n`);
  }

  async stop(): Promise<void> {
    this.compiler.stop();
    await this.restarts.stop();
    await Promise.all(this.consoles.map((server) => server.close()));
  }
}

/** `npm run dev`: the platform of `npm start` for people who change it. */
export async function devCommand(args: string[]): Promise<number> {
  if (args.length > 0) throw new PlainFailure(`npm run dev takes no arguments (${args.join(' ')}).`);
  return runPlatform({ nodeFlags: debuggerFlags, isUnbundled: true }, (platform) => new DevelopmentTools(platform));
}
