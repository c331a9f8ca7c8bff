import { readFileSync, statSync } from 'node:fs';
import { openCountryDatabase, readBundledCountryFile, type CountryLookup } from '@gatehouse/geo';

/**
 * The database of countries that address rules ask: a file of the operator's, or the one that came along. Read when the
 * first rule needs it, and again when the file changes; one that cannot be read leaves the one before in its place.
 */
export class CountryFile {
  private readonly path: string | null;
  private readonly onProblem: (message: string) => void;
  private stamp: string | null = null;
  private lookup: CountryLookup | null = null;

  constructor(path: string | null, onProblem: (message: string) => void) {
    this.path = path;
    this.onProblem = onProblem;
  }

  /** Undefined while there is no database; null for an address that it does not know. */
  readonly countryOf = (address: string): string | null | undefined => (this.lookup ? this.lookup(address) : undefined);

  /** Whether it answers anything. */
  get isThere(): boolean {
    return this.lookup !== null;
  }

  /** Reads the file, unless it is the one that was read. True: answers may be others from now on. */
  load(): boolean {
    const stamp = this.stampNow();
    if (stamp === this.stamp) return false;
    this.stamp = stamp;
    try {
      const file = this.path === null ? readBundledCountryFile() : readFileSync(this.path);
      this.lookup = openCountryDatabase(file).lookup;
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const consequence = this.lookup ? 'the one before stays in use' : 'rules about countries match nothing';
      this.onProblem(`the database of countries (GEOIP_FILE) cannot be read, ${consequence}: ${reason}`);
      return false;
    }
  }

  private stampNow(): string {
    if (this.path === null) return 'bundled';
    try {
      const { mtimeMs, size, ino } = statSync(this.path);
      return `${mtimeMs} ${size} ${ino}`;
    } catch {
      return 'none';
    }
  }
}
