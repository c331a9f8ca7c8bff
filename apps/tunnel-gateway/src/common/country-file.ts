import { readFileSync, statSync } from 'node:fs';
import { openCountryDatabase, readBundledCountryFile, type CountryLookup } from '@gatehouse/geo';

/**
 * The country database for address rules: the operator's file, or the bundled one. It is read when a rule first needs
 * it, and again when the file changes. If that fails, the previous one stays in use.
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

  /** Undefined without a database; null for an unknown address. */
  readonly countryOf = (address: string): string | null | undefined => (this.lookup ? this.lookup(address) : undefined);

  /** Whether a database is loaded. */
  get isThere(): boolean {
    return this.lookup !== null;
  }

  /** Reads the file if it has changed. True: lookups may have other results now. */
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
      const consequence = this.lookup ? 'the previous one stays in use' : 'rules about countries match nothing';
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
