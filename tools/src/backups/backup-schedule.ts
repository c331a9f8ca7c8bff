import { localized } from '../../bootstrap/language.mjs';
import { BackupFolder } from './backup-folder.js';
import type { BackupSettings } from './backup-settings.js';

const RETRY_MS = 10 * 60_000;
const SOON_MS = 60_000;
/** Longer than this a timer of Node cannot wait; it looks again then. */
const LONGEST_WAIT_MS = 6 * 3_600_000;

export interface BackupScheduleOptions {
  settings: BackupSettings;
  /** Writes one backup to a file that appears when it is complete. */
  write: (file: string, signal: AbortSignal) => Promise<void>;
  /** One line for the person who runs it. */
  notify: (line: string) => void;
  now?: () => Date;
}

/**
 * Writes backups again and again: the next one is due `everyMs` after the newest in the folder, so that a restart
 * neither skips one nor makes one too many. A failure is said and tried again.
 */
export class BackupSchedule {
  private readonly folder: BackupFolder;
  private readonly options: Required<BackupScheduleOptions>;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(options: BackupScheduleOptions) {
    this.options = { now: () => new Date(), ...options };
    this.folder = new BackupFolder(options.settings.folder);
  }

  async start(): Promise<void> {
    // A backup in the first minute would slow the start down.
    this.wait(Math.max(await this.untilDue(), SOON_MS));
  }

  /** Ends a backup that is under way; its draft is of no use. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.running;
  }

  /** Writes one now, whatever is due. Rejects when it fails. */
  async writeOne(): Promise<string> {
    const { settings, write, now } = this.options;
    const file = await this.folder.fileFor(now());
    await write(file, this.stopping.signal);
    await this.folder.tidy(settings.keep, now());
    return file;
  }

  private wait(ms: number): void {
    if (this.stopping.signal.aborted) return;
    this.timer = setTimeout(
      () => {
        this.running = this.look();
      },
      Math.min(ms, LONGEST_WAIT_MS),
    );
  }

  private async look(): Promise<void> {
    const { settings, notify } = this.options;
    let next = Math.min(RETRY_MS, settings.everyMs);
    try {
      if ((await this.untilDue()) <= 0) await this.writeOne();
      next = await this.untilDue();
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      const minutes = Math.round(next / 60_000);
      notify(
        localized(
          `The backup to ${settings.folder} failed, next try in ${minutes} min: ${String(error)}`,
          `备份到 ${settings.folder} 失败，${minutes} 分钟后重试：${String(error)}`,
        ),
      );
    }
    this.wait(next);
  }

  /** Milliseconds; a clock that was set back waits no longer than one interval. */
  private async untilDue(): Promise<number> {
    const { settings, now } = this.options;
    const [newest] = await this.folder.list();
    if (newest === undefined) return 0;
    return Math.min(newest.at.getTime() + settings.everyMs - now().getTime(), settings.everyMs);
  }
}
